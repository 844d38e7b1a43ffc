"""The one place that reaches into Pinecone's SDK: its `Index` cannot be told not to retry.

Reason: `Pinecone(retry_config=…)` is for the control plane alone, and `Index` (10.2) takes no such argument: it makes
up to four attempts of each call, whatever its timeout. A search has a deadline to keep, a 429 must not become four
calls (amplification is bounded by `shared.adapters.retry`), and writes wait longer than the SDK would.
Upstream: the retries came with https://github.com/pinecone-io/python-sdk/pull/491, without a switch for the data plane;
no issue about it was found (November 2026), so one is still to be opened.
Kept in step by tests/contract/test_pinecone_sdk.py, which counts the requests and fails at an upgrade that changes this
or makes it unnecessary.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinecone import Index


def without_retries(index: "Index") -> "Index":
    """Return the same client, which makes one attempt a call. Raises `AttributeError` where the SDK has changed."""
    transport: Any = index._http._client._transport
    transport._config = replace(transport._config, max_retries=0)
    return index
