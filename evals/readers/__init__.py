"""Readers of the data sets: each checks the folder's form first, and says what is missing."""
