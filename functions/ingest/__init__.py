"""The ingest function: an object in the bucket becomes searchable."""
