"""Whether there is anything to answer from, and how sure an answer is."""
