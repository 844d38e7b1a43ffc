"""PDF in, cleaned pages out, bounded in time and memory, with a truthful report of what was found."""
