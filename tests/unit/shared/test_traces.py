"""What a scan finds and removes of an erased document or user, item by item; everything else stays as it is."""

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from shared.adapters.aws import from_item, to_item
from shared.adapters.traces import DynamoTraces, message_time, tenant_of, without
from shared.erasures import ERASED_ANSWER, Erasure, ScanPosition, SoughtErasure
from shared.receipts import NO_DOCUMENT, packed, unpacked

DOC, OTHER = "d" * 32, "e" * 32
BEGAN = 1_767_225_600.0
"""2026-01-01, when the erasures began."""
CHUNK, KEPT = f"{DOC}#G1#0", f"{OTHER}#G1#0"
DOCUMENT = Erasure(
    *("acme", "E1", "document", DOC, "root", "2026-01-01T00:00:00.000+00:00"),
    key="uploads/acme/lamp.pdf",
    title="The Lamp",
)
USER = Erasure("acme", "E2", "user", "ann", "root", "2026-01-01T00:00:00.000+00:00")


def ulid(seconds: float, name: str = "") -> str:
    """An id that was made so many seconds after the erasures began."""
    digits, left = "", round(1_000 * (BEGAN + seconds))
    for _ in range(10):
        left, digit = divmod(left, 32)
        digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[digit] + digits
    return digits + name.rjust(16, "0")


def put(client: DynamoDBClient, *items: Mapping[str, Any], table: str = "conversations") -> None:
    for item in items:
        client.put_item(TableName=table, Item=to_item(item))


def held(client: DynamoDBClient, table: str = "conversations") -> list[dict[str, Any]]:
    items = [from_item(item) for item in client.scan(TableName=table)["Items"]]
    return sorted(items, key=lambda item: (item["pk"], item.get("sk", "")))


def removed(client: DynamoDBClient, *sought: SoughtErasure, chunk_cache_ttl_s: int = 0) -> dict[str, dict[str, int]]:
    """Scan both tables whole; return the counts of each erasure."""
    traces = DynamoTraces(client, "conversations", "cache", chunk_cache_ttl_s)
    counts: dict[str, dict[str, int]] = {each.erasure.erasure_id: {} for each in sought}
    position: ScanPosition | None = ScanPosition()
    while position is not None:
        found, position = traces.remove(sought, position)
        for name, stores in found.items():
            for store, count in stores.items():
                counts[name][store] = counts[name].get(store, 0) + count
    return counts


def of_document(until: float = math.inf) -> SoughtErasure:
    return SoughtErasure(DOCUMENT, BEGAN + 60, until)


def of_user() -> SoughtErasure:
    return SoughtErasure(USER, BEGAN + 60, math.inf)


def message(
    name: str, role: str, content: str, *, seconds: float = -10, user: str = "ann", **more: Any
) -> dict[str, Any]:
    details = more.pop("details", {})
    return {
        "pk": f"TENANT#acme#USER#{user}",
        "sk": f"CONV#{ulid(-100, 'C')}#MSG#{ulid(seconds, name)}",
        "role": role,
        "content": content,
        "created_at": "2026",
        "citations": [],
        "claims": [],
        "details": json.dumps(details),
        **more,
    }


HEAD = {"pk": "TENANT#acme#USER#ann", "sk": f"CONV#{ulid(-100, 'C')}", "title": "T", "summary": "S", "summarized": 2}


def test_an_answer_from_the_document_says_that_it_was_erased(client: DynamoDBClient):
    details = {
        "mode": "generated",
        "language": "en",
        "sources": [{"chunk_id": CHUNK}, {"chunk_id": KEPT}],
        "documents": [DOC],
    }
    cited = message(
        "A1", "assistant", "A lamp.", citations=[{"document_id": DOC}], claims=[{"text": "A lamp."}], details=details
    )
    question = message("A0", "user", f"What is {DOC}?")
    plain = message("B0", "user", "What is it?")
    kept = message("B1", "assistant", "A ferry.", citations=[{"document_id": OTHER}], details={"sources": [KEPT]})
    put(client, HEAD, question, {**cited, "feedback": {"rating": "up"}}, plain, kept)
    assert removed(client, of_document()) == {"E1": {"questions": 1, "answers": 1}}
    gone = {
        **cited,
        "content": ERASED_ANSWER,
        "citations": [],
        "claims": [],
        "details": '{"mode": "generated", "language": "en", "erased": "document"}',
    }
    head = {name: value for name, value in HEAD.items() if name not in {"summary", "summarized"}}
    assert held(client) == sorted(
        [head, {**question, "content": "What is erased?"}, gone, plain, kept], key=lambda item: item["sk"]
    )
    assert removed(client, of_document()) == {"E1": {}}


def test_an_answer_that_only_read_the_document_forgets_that(client: DynamoDBClient):
    details = {"mode": "generated", "sources": [{"chunk_id": CHUNK}, {"chunk_id": KEPT}], "near_misses": [[CHUNK, 0.5]]}
    put(client, message("A1", "assistant", "A ferry.", citations=[{"document_id": OTHER}], details=details))
    assert removed(client, of_document()) == {"E1": {"answers_that_read_it": 1}}
    (left,) = held(client)
    assert left["details"] == f'{{"mode":"generated","near_misses":[],"sources":[{{"chunk_id":"{KEPT}"}}]}}'
    assert left["content"] == "A ferry."


@pytest.mark.parametrize(
    ("content", "mode", "is_listed"),
    [
        ("There are two: the lamp and Ferry.", "service", True),
        ("The closest is lamp.pdf, page 1.", "refused", True),
        ("The closest is LAMP, page 1.", "refused", True),
        ("The closest is the lamps, page 1.", "refused", False),
        ("The closest is lampoon.", "refused", False),
        ("There are two: the lamp and Ferry.", "generated", False),
    ],
)
def test_a_list_or_a_refusal_that_names_the_document_is_erased(
    client: DynamoDBClient, content: str, mode: str, is_listed: bool
):
    put(client, HEAD, message("A1", "assistant", content, details={"mode": mode}))
    assert removed(client, of_document()) == {"E1": {"answers": 1} if is_listed else {}}
    assert (held(client)[1]["content"] == ERASED_ANSWER) is is_listed


def test_answers_about_a_new_document_of_the_same_name_stay(client: DynamoDBClient):
    put(
        client,
        message("A1", "assistant", "A.", citations=[{"document_id": DOC}], seconds=60),
        message("B1", "assistant", "B.", citations=[{"document_id": DOC}], seconds=60.001),
    )
    assert removed(client, of_document(until=BEGAN + 60)) == {"E1": {"answers": 1}}
    assert [each["content"] for each in held(client) if "role" in each] == [ERASED_ANSWER, "B."]


RECEIPT: dict[str, Any] = {
    "asked": {"filter": {"document_id": DOC}},
    "history": {"messages": [], "documents": [DOC, OTHER]},
    "made": {
        "filter": None,
        "searched": "a lamp",
        "variants": [["lamp", 0.5]],
        "parts": [],
        "candidates": [{"document_id": DOC, "passage_id": CHUNK}, {"document_id": OTHER, "passage_id": KEPT}],
        "unpublished": [CHUNK, KEPT],
        "claims": [{"text": "A lamp.", "shown": True}],
    },
}


def test_copies_lists_and_receipts_lose_the_document_and_keep_the_rest(client: DynamoDBClient):
    receipt = packed(RECEIPT)
    assert receipt is not None
    editors = {"pk": "TENANT#acme#FEEDBACK", "updated_at": "2026", "role": "assistant", "conversation_id": "C"}
    put(
        client,
        {**editors, "sk": "MSG#1", "content": "A.", "citations": [{"document_id": DOC}], "details": "{}"},
        {**editors, "sk": "MSG#2", "content": "B.", "citations": [], "details": json.dumps({"sources": [CHUNK, KEPT]})},
        {"pk": "TENANT#acme#HANDOFF", "sk": "HANDOFF#1", "near_misses": [[CHUNK, 0.5], [KEPT, 0.25]], "revision": 3},
        {"pk": "TENANT#acme#UNANSWERED", "sk": "MSG#3", "question": "Q?", "nearest": [[KEPT, 0.5], [CHUNK, 0.25]]},
        {
            "pk": "TENANT#acme#USER#ann",
            "sk": "RECEIPT#4",
            "receipt": receipt.data,
            "documents": list(receipt.documents),
        },
        {"pk": "TENANT#acme#THING", "sk": "X", "what": f"about {DOC}"},
        {"pk": "TENANT#acme#THING", "sk": "Y", "question": f"about {DOC}"},
        {"pk": "TENANT#acme#THING", "sk": "Z", "what": "uploads/acme/lamp.pdf"},
        {"pk": "TENANT#rival#THING", "sk": "X", "what": f"about {DOC}"},
        {"pk": "TENANT#acme#ERASURES", "sk": "ERASURE#E1", "subject": DOC},
        {"pk": "ERASURES", "sk": f"OPEN#acme#document#{DOC}"},
    )
    assert removed(client, of_document()) == {
        "E1": {"feedback": 2, "handoffs": 1, "unanswered": 1, "answer_receipts": 1, "other": 2}
    }
    left = {(item["pk"], item["sk"]): item for item in held(client)}
    assert set(left) == {
        ("TENANT#acme#FEEDBACK", "MSG#2"),
        ("TENANT#acme#HANDOFF", "HANDOFF#1"),
        ("TENANT#acme#UNANSWERED", "MSG#3"),
        ("TENANT#acme#USER#ann", "RECEIPT#4"),
        ("TENANT#acme#THING", "Y"),
        ("TENANT#rival#THING", "X"),
        ("TENANT#acme#ERASURES", "ERASURE#E1"),
        ("ERASURES", f"OPEN#acme#document#{DOC}"),
    }
    assert json.loads(left["TENANT#acme#FEEDBACK", "MSG#2"]["details"]) == {"sources": [KEPT]}
    handoff = left["TENANT#acme#HANDOFF", "HANDOFF#1"]
    assert (handoff["near_misses"], handoff["revision"]) == ([[KEPT, 0.25]], 4)
    assert left["TENANT#acme#UNANSWERED", "MSG#3"]["nearest"] == [[KEPT, 0.5]]
    kept = left["TENANT#acme#USER#ann", "RECEIPT#4"]
    made = unpacked(bytes(kept["receipt"]))["made"]
    assert kept["documents"] == [OTHER, NO_DOCUMENT]
    assert (made["candidates"], made["unpublished"], made["left_out"], made["searched"], made["claims"][0]["text"]) == (
        [{"document_id": OTHER, "passage_id": KEPT}],
        [KEPT],
        2,
        "",
        "",
    )


def test_caches_lose_answers_that_name_the_document_and_vectors_as_old_as_it(client: DynamoDBClient):
    put(
        client,
        {"pk": "ANS#acme#1", "answer": zlib.compress(DOC.encode())},
        {"pk": "ANS#acme#2", "answer": DOC.encode()},
        {"pk": "ANS#acme#3", "answer": zlib.compress(OTHER.encode())},
        {"pk": "ANS#rival#1", "answer": DOC.encode()},
        {"pk": "CHUNK#1", "expires_at": int(BEGAN) + 60 + 100},
        {"pk": "CHUNK#2", "expires_at": int(BEGAN) + 60 + 101},
        {"pk": "EMB#1", "expires_at": 1},
        table="cache",
    )
    assert removed(client, of_document(), chunk_cache_ttl_s=100) == {"E1": {"cached_answers": 2, "cached_vectors": 1}}
    assert [item["pk"] for item in held(client, "cache")] == ["ANS#acme#3", "ANS#rival#1", "CHUNK#2", "EMB#1"]
    assert removed(client, of_document()) == {"E1": {"cached_vectors": 1}}, "where none are cached, all are old"
    assert removed(client, of_user()) == {"E2": {}}


def test_a_user_leaves_sums_and_what_others_need_without_their_name(client: DynamoDBClient):
    own = "TENANT#acme#USER#ann"
    later = ulid(1, "M")
    handoff = {"pk": "TENANT#acme#HANDOFF", "near_misses": [], "status": "open", "revision": 1}
    usage = {"pk": "USAGE#acme", "expires_at": 9, "questions": 2, "input_tokens#gpt": 7}
    put(
        client,
        HEAD,
        message("A0", "user", "Q?"),
        message("A1", "assistant", "A."),
        {"pk": "TENANT#acme#FEEDBACK", "sk": f"MSG#{ulid(-10, 'A1')}", "role": "assistant", "content": "A."},
        {"pk": "TENANT#acme#UNANSWERED", "sk": f"MSG#{ulid(-10, 'A1')}", "question": "Q?"},
        {"pk": own, "sk": f"CONV#{later}", "title": "T"},
        {"pk": own, "sk": f"RECEIPT#{ulid(-10, 'A1')}", "receipt": b"x"},
        message("B0", "user", "Q?", user="bob"),
        {"pk": "LIMIT#acme#USER#ann#2026", "sk": "LIMIT", "questions": 1},
        {"pk": "LIMIT#acme#USER#anna#2026", "sk": "LIMIT", "questions": 1},
        {**usage, "sk": "2025-12-31#ann"},
        {**usage, "sk": "2025-12-31#erased", "questions": 3},
        {**usage, "sk": "2025-12-31#bob"},
        {"pk": "KEY#1", "sk": "KEY", "tenant": "acme", "created_by": "ann"},
        {"pk": "KEY#2", "sk": "KEY", "tenant": "rival", "created_by": "ann"},
        {"pk": "KEY#3", "sk": "KEY", "tenant": "acme", "created_by": "bob"},
        {"pk": "TENANT#acme#ERASURES", "sk": "ERASURE#1", "requested_by": "ann", "subject": "bob"},
        {"pk": "TENANT#acme#ERASURES", "sk": "ERASURE#2", "requested_by": "ann", "subject": "ann"},
        {**handoff, "sk": "HANDOFF#1", "user": "ann", "conversation_id": ulid(-100, "C")},
        {"pk": "TENANT#acme#HANDOFF", "sk": f"CONV#{ulid(-100, 'C')}", "handoffs": ["1"]},
        {**handoff, "sk": "HANDOFF#2", "user": "ann", "conversation_id": later},
        {**handoff, "sk": "HANDOFF#3", "user": "bob", "claimed_by": "ann", "status": "claimed", "conversation_id": "x"},
        {
            **handoff,
            "sk": "HANDOFF#4",
            "user": "bob",
            "claimed_by": "ann",
            "status": "resolved",
            "conversation_id": "x",
        },
    )
    counts = removed(client, of_user())["E2"]
    assert counts.pop("messages") + counts.pop("conversations", 0) >= 3
    assert counts == {"limits": 1, "usage": 1, "api_keys": 1, "erasures": 1, "handoffs": 3}
    left = {(item["pk"], item["sk"]): item for item in held(client)}
    assert {sk for pk, sk in left if pk == own and "ERASING" not in sk and not left[pk, sk].get("erasing")} <= {
        f"CONV#{later}",
        HEAD["sk"],
    }
    assert (own, f"CONV#{later}") in left
    assert not [key for key in left if "A1" in key[1]]
    assert ("LIMIT#acme#USER#ann#2026", "LIMIT") not in left
    assert ("LIMIT#acme#USER#anna#2026", "LIMIT") in left
    assert ("USAGE#acme", "2025-12-31#ann") not in left
    total = left["USAGE#acme", "2025-12-31#erased"]
    assert (total["questions"], total["input_tokens#gpt"], total["expires_at"]) == (5, 14, 9)
    assert left["USAGE#acme", "2025-12-31#bob"]["questions"] == 2
    assert [left[f"KEY#{n}", "KEY"]["created_by"] for n in (1, 2, 3)] == ["erased", "ann", "bob"]
    assert [left["TENANT#acme#ERASURES", f"ERASURE#{n}"]["requested_by"] for n in (1, 2)] == ["erased", "ann"]
    handoffs = {sk: item for (pk, sk), item in left.items() if pk == "TENANT#acme#HANDOFF"}
    assert set(handoffs) == {"HANDOFF#2", "HANDOFF#3", "HANDOFF#4"}
    assert [(handoffs[f"HANDOFF#{n}"].get("claimed_by"), handoffs[f"HANDOFF#{n}"]["status"]) for n in (2, 3, 4)] == [
        (None, "open"),
        ("", "open"),
        ("erased", "resolved"),
    ]
    assert [handoffs[f"HANDOFF#{n}"]["revision"] for n in (2, 3, 4)] == [1, 2, 2]


@pytest.mark.parametrize(
    ("item", "tenant"),
    [
        ({"pk": "TENANT#acme#USER#ann"}, "acme"),
        ({"pk": "USAGE#acme"}, "acme"),
        ({"pk": "KEY#abc", "tenant": "acme"}, "acme"),
        ({"pk": "KEY#abc"}, ""),
        ({"pk": "ERASURES"}, ""),
    ],
)
def test_an_item_says_whose_it_is(item: dict[str, str], tenant: str):
    assert tenant_of(item) == tenant


@pytest.mark.parametrize(
    ("key", "seconds"),
    [
        (f"CONV#x#MSG#{ulid(0)}", BEGAN),
        (ulid(1.5), BEGAN + 1.5),
        ("0000000001" + "0" * 16, 0.001),
        ("00000000Z0" + "0" * 16, 0.992),
        ("0000000010" + "0" * 16, 0.032),
        ("U" * 26, 0.0),
        ("0" * 25, 0.0),
        ("", 0.0),
    ],
)
def test_an_id_tells_when_it_was_made(key: str, seconds: float):
    assert message_time(key) == pytest.approx(seconds, abs=1e-4)


def test_entries_of_lists_that_name_the_document_are_left_out_however_deep():
    value = {"a": [CHUNK, KEPT, [CHUNK], {"b": [DOC]}], "b": (DOC, 1), "c": DOC, "d": "uploads/acme/lamp.pdf"}
    assert without(value, DOCUMENT) == {"a": [KEPT], "b": [1], "c": DOC, "d": "uploads/acme/lamp.pdf"}
