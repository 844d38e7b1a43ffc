"""From a search to passages in order: meaning and words at once, names, a second look at the texts."""
