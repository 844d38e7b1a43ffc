"""One module a command: what it reads, what it measures, what it prints."""
