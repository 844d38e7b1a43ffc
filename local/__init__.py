"""The laptop stack: wire-level emulators, and `python -m local` to run the whole thing without an account or a key."""
