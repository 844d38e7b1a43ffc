"""Measurements on public data sets: chunking, rewriting, extraction, telling documents apart. Group `research`."""
