"""The query function: questions in over HTTP, answers out with their sources attached."""
