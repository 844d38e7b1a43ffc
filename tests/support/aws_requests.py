"""What the adapters ask of AWS, as readable lines, without what is different in each run."""

import json
import re
from collections.abc import Mapping, Set
from typing import Any

import pytest
from botocore.client import BaseClient

MAX_TEXT = 200
"""Characters of a text that is told whole."""
RANDOM = (
    (r"X-Amz-(?:Signature|Date|Credential)=[\w%-]+", "X-Amz-…"),
    (r'"(?:policy|signature|x-amz-signature|x-amz-date|x-amz-credential)": "[^"]*"', '"…": "…"'),
    (r"rk_[\w-]{43}", "rk_…"),
    (r"KEY#[0-9a-f]{64}", "KEY#…"),
    (r'"sha256": "[0-9a-f]{64}"', '"sha256": "…"'),
    (r"(chatcmpl-|resp_|msg_)[0-9a-f]{32}", r"\1…"),
    (r"(#\d{10}#)[0-9a-f]{8}", r"\1…"),
)
"""Signatures, secrets and random marks."""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


HOW = frozenset((
    "TableName", "ConsistentRead", "ReturnValues", "ReturnValuesOnConditionCheckFailure", "ExpressionAttributeNames",
    "UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
))  # fmt: skip
"""What of a request says how it is done, not what is written or asked for."""


def recorded(patch: pytest.MonkeyPatch, *, without: frozenset[str] = frozenset()) -> list[str]:
    """Return a list that holds each request to AWS from now on, as a line, `without` fields of these names."""
    lines: list[str] = []
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def called(client: BaseClient, operation: str, asked: dict[str, Any]) -> Any:
        lines.append(f"{client.meta.service_model.service_name} {operation} {as_json(_untyped(asked, without))}")
        return call(client, operation, asked)

    patch.setattr(BaseClient, "_make_api_call", called)
    return lines


def as_json(value: Any) -> str:
    """Return a value as JSON without the fields that are null or empty, long texts shortened."""
    return json.dumps(_filled_only(value), ensure_ascii=False, sort_keys=True, default=str)


def plain(text: str) -> str:
    """Return a text without what is different in each run; versions of objects are numbered, floats have 3 digits."""
    text = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}", _masked(text))
    versions: dict[str, int] = {}
    return UUID.sub(lambda found: f"<version {versions.setdefault(found[0], len(versions) + 1)}>", text)


def _masked(text: str) -> str:
    for pattern, name in RANDOM:
        text = re.sub(pattern, name, text)
    return text


def _filled_only(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _filled_only(each) for name, each in value.items() if each not in (None, "", [], {})}
    if isinstance(value, str) and len(value) > MAX_TEXT:
        value = _masked(value)
        return f"{value[:60]}…({len(value)})…{value[-60:]}"
    return [_filled_only(each) for each in value] if isinstance(value, list) else value


def _untyped(value: Any, without: frozenset[str] = frozenset()) -> Any:
    """Return a request without DynamoDB's types around its values; the keys of a batch come in one order."""
    if isinstance(value, Mapping):
        if len(value) == 1 and (name := next(iter(value))) in {"S", "N", "B", "BOOL", "SS", "NULL", "M", "L"}:
            inner = _untyped(value[name], without)
            return float(inner) if name == "N" else sorted(inner) if name == "SS" else inner
        untyped = {name: _untyped(each, without) for name, each in value.items() if name not in without}
        return {name: sorted(each, key=as_json) if name == "Keys" else each for name, each in untyped.items()}
    if isinstance(value, (list, tuple)):
        return [_untyped(each, without) for each in value]
    if isinstance(value, Set):
        return sorted(_untyped(each) for each in value)
    return "bytes" if isinstance(value, bytes) else value
