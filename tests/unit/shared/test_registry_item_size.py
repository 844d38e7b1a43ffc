"""However long a document is, its item stays under DynamoDB's 400 KB, and the report on its pages can be read back."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from functions.query.api.documents import LabelsIn
from functions.query.api.passages import MAX_EDITS
from functions.query.api.schemas import DocumentDetailOut
from shared.adapters.aws import to_item
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import MAX_DETAIL, DynamoDocumentRegistry, pack_report, unpack_report
from shared.models import Document, DocumentError, DocumentStatus, PageReport, Published
from shared.ports import UnfinishedIngest
from tests.support.clock import FakeClock
from tests.support.moto_aws import mocked_aws

ITEM_BYTES = 400 * 1024
PAGES = 5_000


def letters(pick: random.Random, alphabet: str, length: int) -> str:
    return "".join(pick.choices(alphabet, k=length))


def pages(count: int, detail: Callable[[int], str]) -> list[PageReport]:
    pick = random.Random(5)
    return [
        PageReport(n + 1, pick.randrange(10_000), pick.choice(("text", "scanned")), detail(n), pick.random())
        for n in range(count)
    ]


def noise(alphabet: str, length: int) -> Callable[[int], str]:
    """Details that no compression makes smaller."""
    pick = random.Random(7)
    return lambda _page: letters(pick, alphabet, length)


WORST = {
    "usual": lambda n: f"image covers {n % 100} % of the page" if n % 3 else "",
    "latin noise": noise("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ", 500),
    "noise of many bytes": noise("".join(map(chr, range(0x4E00, 0x9FA5))), 500),
}


def size_of(item: dict[str, Any]) -> int:
    """Count as DynamoDB does: names and values in UTF-8, a little for each element of a map or list."""

    def value(typed: dict[str, Any]) -> int:
        ((kind, inner),) = typed.items()
        match kind:
            case "S":
                return len(inner.encode())
            case "B":
                return len(inner)
            case "N":
                return len(inner)
            case "M":
                return 3 + sum(len(name.encode()) + value(each) + 1 for name, each in inner.items())
            case "L":
                return 3 + sum(value(each) + 1 for each in inner)
        return 1

    return sum(len(name.encode()) + value(each) for name, each in item.items())


@pytest.mark.parametrize("worst", WORST)
def test_the_item_of_a_document_of_5000_pages_fits(worst: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = pages(PAGES, WORST[worst])
    with mocked_aws(monkeypatch) as aws:
        fence = DynamoDocumentFence(aws.dynamodb, aws.documents_table, FakeClock())
        lease = fence.lease("acme", "d", owner="m/1", lease_s=60)
        lease.claim("uploads/acme/d.pdf", sequencer="0F")
        for number in range(10):
            unfinished = UnfinishedIngest(f"01GENERATION{number}~2", "v" * 32, "h" * 16, 1)
            lease.save_progress(unfinished, upper_bound=40_000)
        edited = {f"{n:032x}": 40_000 for n in range(MAX_EDITS)}
        index_versions = {
            number: Published(f"01G~{number}", "v" * 32, "h" * 16, "model@1536", 40_000, "e" * 32, edited)
            for number in (1, 2)
        }
        document = Document(
            tenant="acme",
            document_id="d",
            key="uploads/acme/" + "k" * 1_000,
            status=DocumentStatus.PARTIAL,
            title="t" * 2_000,
            generation="01G~2",
            error=DocumentError("PAGES_MISSING", "é" * 8_000),
            page_count=PAGES,
            report=report,
            index_versions=index_versions,
        )
        assert lease.publish(document)
        long = "𝔘" * 200
        lists = {"tags": [long] * 20, "organisation": [long] * 10, "author": [long] * 10, "period": [long] * 10}
        labels = LabelsIn(**dict.fromkeys(LabelsIn.model_fields, long) | lists).model_dump()
        registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, FakeClock())
        assert registry.label("acme", "d", labels, before={})
        aws.dynamodb.update_item(
            TableName=aws.documents_table,
            Key={"pk": {"S": "TENANT#acme"}, "sk": {"S": "DOC#d"}},
            UpdateExpression="SET edits = :edits",
            ExpressionAttributeValues=to_item({":edits": dict.fromkeys(edited, "c" * 32)}),
        )
        item = aws.dynamodb.get_item(
            TableName=aws.documents_table, Key={"pk": {"S": "TENANT#acme"}, "sk": {"S": "DOC#d"}}
        )["Item"]
        assert size_of(item) < ITEM_BYTES
        found = registry.get("acme", "d")
    assert found is not None
    assert [(page.number, page.characters, page.state) for page in found.report] == [
        (page.number, page.characters, page.state) for page in report
    ]


def test_a_usual_report_of_5000_pages_is_small_and_keeps_its_details() -> None:
    report = pages(PAGES, WORST["usual"])
    packed = pack_report(report)
    assert len(packed) < 100_000
    assert [page.detail for page in unpack_report(packed)] == [page.detail[:MAX_DETAIL] for page in report]


def test_a_knowledge_file_of_more_chunks_than_fit_keeps_the_first_rows() -> None:
    kept = unpack_report(pack_report(pages(60_000, lambda _n: "")))
    assert [page.number for page in kept] == list(range(1, len(kept) + 1))
    assert 10_000 < len(kept) < 60_000


ANSWER_BYTES = 6 * 2**20
"""What a Lambda may answer with; a body is a string in it."""


def shown(report: list[PageReport]) -> DocumentDetailOut:
    document = Document(tenant="acme", document_id="d", key="k", status=DocumentStatus.PARTIAL, report=tuple(report))
    return DocumentDetailOut.of(document)


@pytest.mark.parametrize("detail", ["", "what is wrong with the chunk", '"""', "é"])
def test_the_report_on_a_very_long_document_fits_into_an_answer(detail: str) -> None:
    told = shown(pages(60_000, lambda _n: detail))
    assert len(json.dumps({"body": told.model_dump_json()}, ensure_ascii=False).encode()) < ANSWER_BYTES
    assert [page.number for page in told.pages] == list(range(1, len(told.pages) + 1))
    assert 20_000 < len(told.pages) < 60_000


def test_the_report_on_5000_pages_is_shown_whole() -> None:
    assert len(shown(pages(PAGES, noise("é", MAX_DETAIL))).pages) == PAGES
