"""Starts, deploys, checks and stops the laptop stack."""
