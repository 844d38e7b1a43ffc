"""Writing: the prompt, the model's claims, and the sources' own sentences where there is no model."""
