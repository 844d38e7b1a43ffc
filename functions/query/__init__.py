"""The query function: questions in over HTTP, answers out with the proof attached."""
