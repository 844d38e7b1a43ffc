"""Which messages of the Model Context Protocol are read, and with which code the others are refused."""

import base64
from typing import Any

import pytest

from functions.query.api.mcp import (
    CURRENT_VERSIONS,
    EARLIER_VERSIONS,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Call,
    Refusal,
    read_call,
)

CURRENT = next(iter(CURRENT_VERSIONS))
EARLIER = next(iter(EARLIER_VERSIONS))
META = {"io.modelcontextprotocol/protocolVersion": CURRENT, "io.modelcontextprotocol/clientCapabilities": {}}
PARAMS = {"name": "ask", "_meta": META}


def message(method: object = "tools/call", **changes: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": PARAMS} | changes


def headers(**changes: str) -> dict[str, str]:
    said = {"mcp-protocol-version": CURRENT, "mcp-method": "tools/call", "mcp-name": "ask"}
    return said | {name.replace("_", "-"): value for name, value in changes.items()}


def refused(body: object, named: dict[str, str]) -> int:
    with pytest.raises(Refusal) as raised:
        read_call(body, named)
    assert raised.value.status == 400
    assert str(raised.value)
    return raised.value.code


def test_the_codes_are_those_of_the_protocol() -> None:
    assert (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS) == (-32700, -32600, -32602)
    assert (HEADER_MISMATCH, UNSUPPORTED_VERSION) == (-32020, -32022)


def test_a_request_of_a_current_revision_is_read_with_its_headers() -> None:
    assert read_call(message(), headers()) == Call(1, "tools/call", PARAMS, True)
    encoded = f"=?base64?{base64.b64encode(b'ask').decode()}?="
    assert read_call(message(id="a"), headers(mcp_name=encoded)) == Call("a", "tools/call", PARAMS, True)


@pytest.mark.parametrize("named", [{}, {"mcp-protocol-version": EARLIER}])
def test_a_request_of_an_earlier_revision_needs_no_further_headers(named: dict[str, str]) -> None:
    assert read_call(message("ping", params={}), named) == Call(1, "ping", {}, False)
    body = message("ping")
    del body["params"], body["id"]
    assert read_call(body, named) == Call(None, "ping", {}, False)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (None, PARSE_ERROR),
        ([], INVALID_REQUEST),
        ("ping", INVALID_REQUEST),
        (message(jsonrpc="1.0"), INVALID_REQUEST),
        (message(method=7), INVALID_REQUEST),
        (message(params=[1]), INVALID_REQUEST),
        (message(id=None), INVALID_REQUEST),
        (message(id=1.5), INVALID_REQUEST),
        (message(id=True), INVALID_REQUEST),
        (message(params={"name": "ask"}), INVALID_PARAMS),
        (message(params={"name": "ask", "_meta": "x"}), INVALID_PARAMS),
        (message(params={"name": "search", "_meta": META}), HEADER_MISMATCH),
        (message(method="tools/list"), HEADER_MISMATCH),
    ],
)
def test_a_message_that_is_none_is_refused_by_its_code(body: object, code: int) -> None:
    assert refused(body, headers()) == code


@pytest.mark.parametrize(
    "changes", [{"mcp_method": "x"}, {"mcp_name": "x"}, {"mcp_name": "=?base64?x?="}, {"mcp_name": "=?base64?YXNr"}]
)
def test_headers_that_say_something_else_than_the_body_are_refused(changes: dict[str, str]) -> None:
    assert refused(message(), headers(**changes)) == HEADER_MISMATCH


def test_a_revision_that_is_not_known_is_refused_with_those_that_are() -> None:
    other = message("ping", params={"_meta": META | {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}})
    with pytest.raises(Refusal) as raised:
        read_call(other, headers(mcp_protocol_version="1999-01-01", mcp_method="ping"))
    assert raised.value.code == UNSUPPORTED_VERSION
    assert raised.value.data is not None
    assert raised.value.data["requested"] == "1999-01-01"
    assert {CURRENT, EARLIER} <= set(raised.value.data["supported"])
