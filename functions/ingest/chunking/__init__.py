"""Cuts cleaned text into chunks small enough to embed, each with its positions."""
