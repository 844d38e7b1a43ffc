"""Reports from results: a Markdown page, and an HTML page that needs nothing else."""
