"""The two Lambda functions: `ingest` fills the index, `query` answers from it."""
