"""Documents on the shelf: the file that was quoted, the text of its pages, its report, bulk uploads and the listing."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from functions.query import bootstrap
from shared.adapters.aws import to_item
from shared.models import DocumentStatus
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import HANDBOOK, LENS, PAGES, call, query_stack

INDEX_VERSION = {"number": 2, "namespace": "acme~2", "index": "recto", "model": "all-MiniLM-L6-v2", "dimensions": 384}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("documents")) as made:
        yield made


def path_of(stack: Stack, key: str, rest: str = "") -> str:
    return f"/documents/{stack.document(key).document_id}{rest}"


def get(path: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("GET", path, **more)
    assert status == 200, body
    return body


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_link_opens_the_quoted_version_and_says_what_became_of_it(stack: Stack):
    key = "uploads/acme/rules/house rules.pdf"
    for text in ("Guests leave at ten.", "Guests leave at noon."):
        stack.put(key, pdf_of([text], title="Rules"))
        stack.deliver(key)
        if "ten" in text:
            first = stack.document(key).version_id
    newest = get(path_of(stack, key, "/content"))
    assert (newest["version_id"], newest["changed_since"]) == (stack.document(key).version_id, None)
    assert (newest["expires_in_s"], newest["file_name"], newest["content_type"]) == (
        300, "house rules.pdf", "application/pdf",
    )  # fmt: skip
    quoted = get(path_of(stack, key, "/content"), params={"version_id": first})
    assert quoted["version_id"] == first
    assert quoted["changed_since"]
    link = httpx.URL(quoted["url"])
    assert link.params["versionId"] == first
    assert link.params["X-Amz-Expires"] == "300"
    assert link.params["response-content-disposition"].startswith("inline;")
    stack.aws.s3.delete_object(Bucket=stack.aws.bucket, Key=key, VersionId=first)
    status, problem, _ = call("GET", path_of(stack, key, "/content"), params={"version_id": first})
    assert (status, problem["code"]) == (410, "erased")
    assert get(path_of(stack, key, "/content"))["version_id"] == newest["version_id"]


def test_an_erased_document_is_410_and_one_that_was_never_there_404(stack: Stack):
    key = "uploads/acme/erased.pdf"
    stack.put(key, pdf_of(["It will be erased."]))
    stack.deliver(key)
    path = path_of(stack, key, "/content")
    assert call("DELETE", path_of(stack, key))[0] == 202
    assert call("GET", path)[1]["code"] == "erased"
    stack.deliver(key, event="ObjectRemoved:Delete")
    assert [call("GET", path, headers={"Accept-Language": language})[1]["detail"] for language in ("en", "de")] == [
        "The document was erased.", "Das gab es, aber es wurde gelöscht.",
    ]  # fmt: skip
    assert call("GET", f"/documents/{'0' * 32}/content")[0] == 404
    assert call("GET", path, tenant="other")[0] == 404
    announced = call("POST", "/documents", {"filename": "not-yet.pdf"})[1]["document_id"]
    assert call("GET", f"/documents/{announced}/content")[0] == 404


@pytest.mark.parametrize(("version", "expected"), [("a b", 400), ("x" * 1025, 400), ("never-given", 410)])
def test_a_made_up_version_is_refused_or_gone(stack: Stack, version: str, expected: int):
    assert call("GET", path_of(stack, HANDBOOK, "/content"), params={"version_id": version})[0] == expected


# --- the pages --------------------------------------------------------------------------------------------------------


def test_a_citation_stands_where_it_says_in_the_text_of_its_page(stack: Stack):
    status, answer, _ = call("POST", "/query", {"question": LENS})
    assert status == 200
    citation = answer["citations"][0]
    page = get(path_of(stack, HANDBOOK, f"/pages/{citation['page_start']}"))
    start = citation["char_start"] - page["char_start"]
    assert page["text"][start : citation["char_end"] - page["char_start"]] == citation["quote"]
    assert (page["text"].split(), page["state"], page["complete"]) == (PAGES[1].split(), "text", True)
    assert {each["section"] for each in page["passages"]} == {citation["section"]}
    assert page["version_id"] == stack.document(HANDBOOK).version_id


def test_long_pages_come_whole_from_their_passages(stack: Stack):
    key = "uploads/acme/long.pdf"
    pages = [" ".join(f"Entry {page} {n} of the log tells of wind and sea." for n in range(60)) for page in (1, 2)]
    stack.put(key, pdf_of(pages, title="Log"))
    stack.deliver(key)
    for number, text in enumerate(pages, start=1):
        page = get(path_of(stack, key, f"/pages/{number}"))
        assert page["text"].split() == text.split()
        assert page["complete"]
        assert len(page["passages"]) > 1
        assert page["char_end"] - page["char_start"] == len(page["text"])


def test_a_page_that_is_not_there_is_404_and_an_empty_one_has_no_text(stack: Stack):
    key = "uploads/acme/gap.pdf"
    stack.put(key, pdf_of(["The first page has text.", "", "So has the third."]))
    stack.deliver(key)
    empty = get(path_of(stack, key, "/pages/2"))
    assert (empty["text"], empty["state"], empty["complete"]) == ("", "empty", True)
    assert call("GET", path_of(stack, key, "/pages/4"))[0] == 404
    assert call("GET", path_of(stack, key, "/pages/0"))[0] == 400
    assert call("GET", path_of(stack, key, "/pages/1"), tenant="other")[0] == 404


def test_the_report_tells_the_empty_page_in_the_readers_language(stack: Stack):
    key = "uploads/acme/gap.pdf"
    stack.put(key, pdf_of(["The first page has text.", "", "So has the third."]))
    stack.deliver(key)
    assert stack.document(key).status is DocumentStatus.READY
    report = get(path_of(stack, key, "/report"), headers={"Accept-Language": "lt-LT,en;q=0.5"})
    assert (report["language"], report["findings"][0]["text"]) == ("lt", "Puslapis 2: be turinio.")
    assert report["findings"][0]["ranges"] == [{"first": 2, "last": 2}]
    assert get(path_of(stack, key, "/report"))["language"] == "en"


# --- many at once -----------------------------------------------------------------------------------------------------


def test_a_bulk_upload_gives_each_file_its_form_or_its_error(stack: Stack):
    names = ["bulk/a.pdf", "bulk/b.txt", "bulk/../c.pdf", "bulk/a.pdf", "bulk/ž.pdf", ""]
    status, body, _ = call("POST", "/documents/bulk", {"filenames": names})
    assert status == 200
    assert [each["filename"] for each in body["items"]] == names
    assert [each["upload"] is not None for each in body["items"]] == [True, False, False, False, True, False]
    assert {each["error"]["code"] for each in body["items"] if each["error"]} == {"invalid_request"}
    first = body["items"][0]["upload"]
    assert first["upload"]["fields"]["key"] == "uploads/acme/bulk/a.pdf"
    assert get(f"/documents/{first['document_id']}")["status"] == "PENDING"
    assert call("POST", "/documents/bulk", {"filenames": names}, groups="reader")[0] == 403
    assert call("POST", "/documents/bulk", {"filenames": ["a.pdf"] * 101})[0] == 400


def test_the_listing_finds_words_of_the_title_newest_first(stack: Stack):
    for name in ("One", "Two"):
        key = f"uploads/acme/listed/{name}.pdf"
        stack.put(key, pdf_of([f"It is the {name} of two."], title=f"Catalogue of lamps, volume {name}"))
        stack.deliver(key)
    found = get("/documents", params={"q": "lamps catalogue"})["documents"]
    assert [each["key"].rpartition("/")[2] for each in found] == ["Two.pdf", "One.pdf"]
    assert found[0]["chunk_count"] == stack.document(found[0]["key"]).chunk_count == 1
    assert get("/documents", params={"q": "no such words"}) == {"documents": [], "next_cursor": ""}


def test_after_a_reindex_the_chunks_of_the_searched_index_version_are_counted(stack: Stack):
    key = "uploads/acme/long.pdf"
    stack.put(key, pdf_of([" ".join(f"Entry {n} of the log tells of wind and sea." for n in range(60))], title="Log"))
    stack.deliver(key)
    document = stack.document(key)
    newer = {
        "1": document.as_published()._asdict(),
        "2": document.as_published()._replace(generation="G~2", chunk_count=99)._asdict(),
    }
    for_registry = stack.aws.dynamodb.update_item
    for name, value in (("DOC#" + document.document_id, {"published": newer}), ("TENANT", {"current": INDEX_VERSION})):
        ((attribute, held),) = value.items()
        for_registry(
            TableName=stack.aws.documents_table,
            Key=to_item({"pk": "TENANT#acme", "sk": name}),
            UpdateExpression="SET #name = :held",
            ExpressionAttributeNames={"#name": attribute},
            ExpressionAttributeValues=to_item({":held": held}),
        )
    bootstrap.reset()  # a container remembers the pointer for five seconds
    assert document.chunk_count != 99
    assert get(path_of(stack, key))["chunk_count"] == 99
    listed = {each["key"]: each for each in get("/documents")["documents"]}
    assert listed[key]["chunk_count"] == 99
    assert listed[HANDBOOK]["chunk_count"] == stack.document(HANDBOOK).chunk_count
