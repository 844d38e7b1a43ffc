"""Reads the providers' API keys from Secrets Manager."""

import json
from typing import TYPE_CHECKING

from shared.adapters.aws import aws_errors
from shared.errors import ConfigurationError

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

OPENAI_API_KEY = "OPENAI_API_KEY"
PINECONE_API_KEY = "PINECONE_API_KEY"
PLACEHOLDER = "replace-me"
"""The template's value for a missing key."""


def read_secret(client: "SecretsManagerClient", secret_id: str, *, required: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the secret's JSON object; its values never appear in an error.

    Raises `ConfigurationError` if it is not a JSON object of strings or a required name is missing, `DependencyError`
    if it cannot be read.
    """
    if not secret_id:
        raise ConfigurationError("RECTO_SECRET_ID is not set: name the secret that holds the provider keys.")
    with aws_errors("secrets"):
        text = client.get_secret_value(SecretId=secret_id).get("SecretString", "")
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ConfigurationError(
            f"Secret {secret_id!r} must hold a JSON object of strings with {OPENAI_API_KEY} and {PINECONE_API_KEY}."
        )
    missing = [name for name in required if values.get(name, "") in {"", PLACEHOLDER}]
    if missing:
        raise ConfigurationError(
            f"Secret {secret_id!r} has no {', '.join(missing)}: add it with `aws secretsmanager put-secret-value`."
        )
    return values
