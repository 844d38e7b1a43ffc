"""The few forms of the AWS CLI that the documentation uses, by boto3: `python -m tests.support.aws_cli SERVICE …`.

The CLI itself is not among the tools of the checkout. `s3 cp FILE s3://BUCKET/KEY`, and `SERVICE OPERATION --option
value` with `--query` and `--output text`; operations, options and the shorthand `A=b,C=d` are those of botocore's
models, so a mistyped one fails here as it would there. The endpoint is AWS_ENDPOINT_URL.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import boto3
import jmespath
from botocore import xform_name
from botocore.config import Config


def main(arguments: Sequence[str]) -> None:
    """Run one command and print its answer."""
    service, operation, *rest = arguments
    make: Any = boto3.client
    client = make(service, config=Config(s3={"addressing_style": "path"}))
    if (service, operation) == ("s3", "cp"):
        bucket, _, key = rest[1].removeprefix("s3://").partition("/")
        client.put_object(Bucket=bucket, Key=key, Body=Path(rest[0]).read_bytes())
        return
    given = {name.removeprefix("--"): value for name, value in zip(rest[::2], rest[1::2], strict=True)}
    query, output = given.pop("query", "@"), given.pop("output", "json")
    shape = client.meta.service_model.operation_model(operation_name(client, operation)).input_shape
    members = {xform_name(name, "-"): (name, member) for name, member in shape.members.items()}
    request = {members[option][0]: value_of(members[option][1], text) for option, text in given.items()}
    answer = getattr(client, operation.replace("-", "_"))(**request)
    found = jmespath.search(query, answer)
    sys.stdout.write((str(found) if output == "text" else json.dumps(found, default=str)) + "\n")


def operation_name(client: Any, operation: str) -> str:
    """Return the API's name of an operation, for example `PutSecretValue`. Raises `KeyError`."""
    name: str = client.meta.method_to_api_mapping[operation.replace("-", "_")]
    return name


def value_of(shape: Any, text: str) -> Any:
    """Return an option's value: a text, or a map in the shorthand."""
    return dict(pair.split("=", 1) for pair in text.split(",")) if shape.type_name == "map" else text


if __name__ == "__main__":
    main(sys.argv[1:])
