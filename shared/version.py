"""The version of what is deployed; the same as in pyproject.toml, which a test checks."""

VERSION = "0.1.0"
