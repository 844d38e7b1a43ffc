"""Checks each claim of an answer against the passages it cites."""
