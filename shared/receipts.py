"""How the receipt of an answer is stored: packed JSON in an item of its own, which lists the documents it names.

`functions.query.receipts` says what is in it. The only text of documents in a receipt is what the answer's claims say:
passages are named by id and by the hash of their text, documents by id. So `without_documents` is enough to hide
documents in it, or to erase them from it.
"""

import json
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from shared.models import generation_named_by

type Receipt = dict[str, Any]
"""A receipt as JSON."""

FORMAT = 1
"""Raise this when the stored form changes."""
UNSAID: Mapping[str, Any] = {
    "corrected": False,
    "source": 0,
    "parts": {},
    "rerank": None,
    "similarity": None,
    "relevance": None,
    "coverage": None,
}
"""The values of a candidate's fields that are not stored."""
MAX_BYTES = 60_000
"""Bytes of a packed receipt: an item of DynamoDB holds 400 KB, and each KB costs two write units in a transaction."""

NO_DOCUMENT = "0" * 32
"""Replaces, in a filter, a document that may not be named."""
_DOCUMENT_ID = re.compile(r"\b[0-9a-f]{32}\b")


class StoredReceipt(NamedTuple):
    """A packed receipt, and the ids of the documents in it: of candidates, and of what was cited before."""

    data: bytes
    documents: Sequence[str]


def packed(receipt: Receipt) -> StoredReceipt | None:
    """Pack a receipt; None for one that is too large, which takes a filter of thousands of values."""
    data = zlib.compress(json.dumps(receipt, separators=(",", ":")).encode())
    return StoredReceipt(data, documents_of(receipt)) if len(data) <= MAX_BYTES else None


def unpacked(data: bytes) -> Receipt:
    """Read a packed receipt."""
    receipt: Receipt = json.loads(zlib.decompress(data))
    return receipt


def documents_of(receipt: Receipt) -> list[str]:
    """Return the ids of all documents that a receipt names."""
    return list(dict.fromkeys([*read_documents(receipt), *_filtered_by(receipt)]))


def read_documents(receipt: Receipt) -> list[str]:
    """Return the ids of the documents whose words may be in a receipt: they were found, or cited before."""
    made = receipt["made"] or {}
    named = [each["document_id"] for each in made.get("candidates", ())]
    named += [generation_named_by(each)[0] for each in made.get("unpublished", ())]
    return list(dict.fromkeys([*named, *receipt["history"]["documents"]]))


def without_documents(receipt: Receipt, hidden: Collection[str]) -> Receipt:
    """Return a receipt without anything of some documents; it only counts their passages that were left out.

    What may repeat their words is removed, too: the rewritten question, and the answer's claims. In filters their ids
    are replaced by one that no document has, so that the filter still finds as much.
    """
    history, made = receipt["history"], receipt["made"]
    kept = {**receipt, "asked": _unfiltered(receipt["asked"], hidden)}
    kept["history"] = {**history, "documents": [each for each in history["documents"] if each not in hidden]}
    if made and not {*read_documents(receipt)}.isdisjoint(hidden):
        made = _without(made, hidden)
    kept["made"] = made and _unfiltered(made, hidden)
    return kept


def _filtered_by(receipt: Receipt) -> list[str]:
    """Return the ids of documents in the filters."""
    filters = [receipt["asked"]["filter"], (receipt["made"] or {}).get("filter")]
    return _DOCUMENT_ID.findall(json.dumps(filters))


def _unfiltered(part: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    text = json.dumps(part["filter"])
    for each in {*_DOCUMENT_ID.findall(text)}.intersection(hidden):
        text = text.replace(each, NO_DOCUMENT)
    return {**part, "filter": json.loads(text)}


def _without(made: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    candidates = [each for each in made["candidates"] if each["document_id"] not in hidden]
    unpublished = [each for each in made["unpublished"] if generation_named_by(each)[0] not in hidden]
    left_out = len(made["candidates"]) - len(candidates) + len(made["unpublished"]) - len(unpublished)
    return {
        **made,
        "candidates": candidates,
        "unpublished": unpublished,
        "left_out": made.get("left_out", 0) + left_out,
        "withheld": True,
        "searched": "",
        "variants": [],
        "parts": [],
        "claims": [{**each, "text": ""} for each in made["claims"]],
    }
