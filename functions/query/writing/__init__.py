"""The answer: what the model is asked, and the sources' own sentences where there is none."""
