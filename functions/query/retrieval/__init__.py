"""Retrieval: from a question to passages in order, by dense and lexical search, ranking and rescoring."""
