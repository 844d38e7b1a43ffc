"""Documents over the API: announced, listed, labelled, shown, linked to, read page by page, reported on, deleted."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.query import bootstrap
from shared.models import DocumentError, DocumentStatus, PageReport, document_id_of
from tests.support.query_stack import call
from tests.support.routes import FIRST_ID, NOW, Routes


def queued(api: Routes) -> list[str]:
    got = api.aws.sqs.receive_message(QueueUrl=api.aws.queue_url, MaxNumberOfMessages=10).get("Messages", [])
    return [each["Body"] for each in got]


EMPTY_CARD = {"organisation": [], "author": [], "kind": "", "period": [], "date": "", "version": "", "product": ""}


def test_an_announced_upload_gets_a_form_and_is_pending(api: Routes):
    body = {"filename": "reports/2024 Q1.pdf", "access": {"allowed_groups": ["hr", "b c"], "allowed_users": ["ann"]}}
    status, told = api.call("POST", "/documents", body)
    key = "uploads/acme/reports/2024 Q1.pdf"
    fields = told["upload"].pop("fields")
    url = told["upload"].pop("url")
    assert (status, told) == (
        201,
        {
            "document_id": document_id_of("acme", key),
            "key": key,
            "status": "PENDING",
            "upload": {"expires_in_s": 900, "max_bytes": 104_857_600},
        },
    )
    assert url == f"https://{api.aws.bucket}.s3.eu-central-1.amazonaws.com/"
    assert (fields["key"], fields["Content-Type"]) == (key, "application/pdf")
    assert fields["x-amz-meta-allowed-groups"] == "b%20c,hr"
    assert fields["x-amz-meta-allowed-users"] == "ann"
    status, shown = api.call("GET", f"/documents/{told['document_id']}")
    assert (status, shown["status"], shown["title"], shown["access"]) == (
        200,
        "PENDING",
        "2024 Q1",
        {"allowed_groups": ["b c", "hr"], "allowed_users": ["ann"]},
    )
    assert api.call("GET", f"/documents/{told['document_id']}", user="bob", groups="editor")[0] == 404
    assert api.call("GET", f"/documents/{told['document_id']}/content")[1]["detail"] == (
        "The document's file has not been uploaded yet."
    )
    api.clock.advance(86_399)
    assert api.call("GET", f"/documents/{told['document_id']}")[0] == 200
    api.clock.advance(1)
    assert api.call("GET", f"/documents/{told['document_id']}")[0] == 404


def test_each_file_of_a_bulk_upload_has_its_form_or_its_error(api: Routes):
    names = ["a.pdf", "b.txt", "a.pdf", "c/d.pdf", "../e.pdf"]
    status, told = api.call("POST", "/documents/bulk", {"filenames": names})
    assert (status, [each["filename"] for each in told["items"]]) == (200, names)
    assert [each["upload"] and each["upload"]["key"] for each in told["items"]] == [
        "uploads/acme/a.pdf",
        None,
        None,
        "uploads/acme/c/d.pdf",
        None,
    ]
    assert [each["error"] and each["error"]["detail"] for each in told["items"]] == [
        None,
        "Only PDFs can be uploaded; the file name must end in `.pdf`.",
        "This name is in the list twice: the second file would replace the first.",
        None,
        "The file name must be a plain path such as `reports/2024.pdf`.",
    ]
    assert api.call("POST", "/documents/bulk", {"filenames": []})[0] == 400
    assert api.call("POST", "/documents/bulk", {"filenames": [f"{n}.pdf" for n in range(101)]})[0] == 400


@pytest.mark.parametrize(("letters", "status"), [(37, 201), (38, 400)])
def test_the_names_of_a_rule_must_fit_into_an_upload(api: Routes, letters: int, status: int):
    """50 groups of 37 letters and 49 commas are 1,899 bytes, of 1,900."""
    groups = [f"{at:02}".ljust(letters, "x") for at in range(50)]
    assert api.call("POST", "/documents", {"filename": "a.pdf", "access": {"allowed_groups": groups}})[0] == status


def test_documents_are_listed_the_newest_first_and_found_by_their_card(api: Routes):
    cards = ({"kind": "10-K", "period": ["2022"]}, {"kind": "manual", "product": "M27"}, {})
    for number, card in enumerate(cards):
        at = f"2026-01-0{number + 1}T00:00:00.000+00:00"
        api.publish(
            f"uploads/acme/{number}.pdf", "Text.", title=f"Lamp {number}", created_at=at, card=card, language="en"
        )

    def listed(**params: str) -> tuple[list[str], str]:
        status, page = api.call("GET", "/documents", params=params)
        assert status == 200, page
        return [each["title"] for each in page["documents"]], page["next_cursor"]

    every = ["Lamp 2", "Lamp 1", "Lamp 0"]
    assert sorted(listed()[0]) == sorted(every)
    first, cursor = listed(limit="2")
    assert len(first) == 2
    rest, end = listed(limit="2", cursor=cursor)
    assert (sorted(first + rest), end) == (sorted(every), "")
    assert listed(kind="10-k")[0] == ["Lamp 0"]
    assert listed(product="m27")[0] == ["Lamp 1"]
    assert listed(q="lamp 2")[0] == ["Lamp 2"]
    assert sorted(listed(language="en")[0]) == sorted(every)
    assert listed(language="lt")[0] == []
    assert listed(status="FAILED")[0] == []
    assert api.call("GET", "/documents", params={"limit": "0"})[0] == 400
    assert api.call("GET", "/documents", params={"limit": "201"})[0] == 400


def test_labels_are_set_one_by_one_and_announced_to_ingest(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.", card={"kind": "manual", "product": "M27"})
    path = f"/documents/{lamp.document_id}"
    status, shown = api.call("PATCH", path, {"labels": {"chapter": "1", "tags": ["a", "b"], "kind": "guide"}})
    assert status == 200
    assert (shown["labels"]["chapter"], shown["labels"]["tags"], shown["labels"]["kind"]) == ("1", ["a", "b"], "guide")
    assert shown["identity"] == {**EMPTY_CARD, "kind": "guide", "product": "M27"}
    assert len(queued(api)) == 1
    status, shown = api.call("PATCH", path, {"labels": {"chapter": None, "kind": None, "phase": "2"}})
    assert (shown["labels"]["chapter"], shown["labels"]["phase"], shown["labels"]["tags"]) == ("", "2", ["a", "b"])
    assert shown["identity"]["kind"] == "manual"
    api.aws.sqs.purge_queue(QueueUrl=api.aws.queue_url)
    status, shown = api.call("PATCH", path, {})
    assert (status, shown["labels"]["phase"], queued(api)) == (200, "2", [])
    assert api.call("GET", path)[1]["labels"]["phase"] == "2"
    assert api.call("PATCH", path, {"labels": {"colour": "red"}})[0] == 400
    assert api.call("PATCH", f"/documents/{'0' * 32}", {})[0] == 404
    api.call("DELETE", path)
    assert api.call("PATCH", path, {})[0] == 404


def test_who_may_read_changes_at_once_and_ingest_is_not_told(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.")
    path = f"/documents/{lamp.document_id}"
    rule = {"allowed_groups": ["hr"], "allowed_users": ["zoe", "ann"]}
    assert api.call("PATCH", path, {"access": rule})[0] == 200
    shown = api.call("GET", path)[1]
    assert (shown["access"], shown["folder"], shown["folder_access"]) == (
        {"allowed_groups": ["hr"], "allowed_users": ["ann", "zoe"]},
        "",
        None,
    )
    assert api.call("GET", path, user="bob")[0] == 404
    assert api.call("GET", path, user="bob", authorizer={"member_of": '["hr"]'})[0] == 200
    assert api.call("PATCH", path, {"access": rule})[0] == 200
    assert api.call("PATCH", path, {"access": None})[0] == 200
    assert api.call("GET", path, user="bob")[1]["access"] is None
    assert queued(api) == []


def test_a_document_shows_its_report_page_by_page(api: Routes):
    report = (
        PageReport(1, 900, seconds=0.25, doubtful=0.5, pictured=0.75),
        PageReport(2, 0, "scanned", "no text", text_layer=False),
        PageReport(3, 0, "scanned"),
        PageReport(4, 12, "garbled"),
    )
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.", "2", "3", "4", "5", report=report, page_count=5)
    shown = api.call("GET", f"/documents/{lamp.document_id}")[1]
    assert shown["pages"][:2] == [
        {
            "number": 1,
            "characters": 900,
            "state": "text",
            "detail": "",
            "seconds": 0.25,
            "doubtful": 0.5,
            "pictured": 0.75,
            "text_layer": True,
        },
        {
            "number": 2,
            "characters": 0,
            "state": "scanned",
            "detail": "no text",
            "seconds": 0.0,
            "doubtful": 0.0,
            "pictured": 0.0,
            "text_layer": False,
        },
    ]
    assert (shown["page_count"], shown["chunk_count"], len(shown["pages"])) == (5, 5, 4)
    status, told = api.call("GET", f"/documents/{lamp.document_id}/report")
    assert status == 200
    assert {each["kind"]: [(part["first"], part["last"]) for part in each["ranges"]] for each in told["findings"]} == {
        "scanned": [(2, 3)],
        "garbled": [(4, 4)],
        "not_reached": [(5, 5)],
    }
    assert (told["page_count"], told["language"], told["error"]) == (5, "en", None)
    german = api.call("GET", f"/documents/{lamp.document_id}/report", headers={"Accept-Language": "de"})[1]
    assert (german["language"], german["summary"] != told["summary"]) == ("de", True)


def test_a_failed_document_says_why(api: Routes):
    failed = api.publish(
        "uploads/acme/bad.pdf", "x", status=DocumentStatus.FAILED, error=DocumentError("BAD", "Fix it.")
    )
    assert api.call("GET", f"/documents/{failed.document_id}/report")[1]["error"] == {
        "code": "BAD",
        "message": "Fix it.",
    }


def test_a_link_opens_the_version_that_was_quoted(api: Routes):
    lamp = api.publish("uploads/acme/a/lamp.pdf", "The lamp.")
    path = f"/documents/{lamp.document_id}/content"
    status, told = api.call("GET", path)
    url = urlsplit(told.pop("url"))
    asked = parse_qs(url.query)
    assert (status, told) == (
        200,
        {
            "expires_in_s": 300,
            "file_name": "lamp.pdf",
            "content_type": "application/pdf",
            "size_bytes": 9,
            "version_id": lamp.version_id,
            "changed_since": None,
        },
    )
    assert (url.path, asked["versionId"], asked["X-Amz-Expires"]) == (
        "/uploads/acme/a/lamp.pdf",
        [lamp.version_id],
        ["300"],
    )
    assert asked["response-content-type"] == ["application/pdf"]
    newer = api.aws.s3.put_object(Bucket=api.aws.bucket, Key=lamp.key, Body=b"A new lamp.")
    told = api.call("GET", path)[1]
    assert (told["version_id"], told["size_bytes"], bool(told["changed_since"])) == (lamp.version_id, 9, True)
    told = api.call("GET", path, params={"version_id": newer["VersionId"]})[1]
    assert (told["version_id"], told["size_bytes"], told["changed_since"]) == (newer["VersionId"], 11, None)
    api.aws.s3.delete_object(Bucket=api.aws.bucket, Key=lamp.key, VersionId=lamp.version_id)
    status, problem = api.call("GET", path)
    assert (status, problem["detail"][:45]) == (410, "This version of the document was erased; the ")
    api.aws.s3.delete_object(Bucket=api.aws.bucket, Key=lamp.key)
    assert api.call("GET", path)[0] == 410
    assert api.call("GET", f"/documents/{'0' * 32}/content")[0] == 404
    assert api.call("GET", "/documents/x/content")[0] == 404


def test_a_page_is_put_together_from_its_passages(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.", "The keeper lives here.", "The end.")
    path = f"/documents/{lamp.document_id}/pages"
    status, page = api.call("GET", f"{path}/2")
    assert (status, page) == (
        200,
        {
            "document_id": lamp.document_id,
            "version_id": lamp.version_id,
            "number": 2,
            "label": "ii",
            "state": "text",
            "char_start": 11,
            "char_end": 33,
            "text": "The keeper lives here.",
            "complete": True,
            "missing": [],
            "passages": [
                {"passage_id": f"{lamp.document_id}#G1#1", "char_start": 11, "char_end": 33, "section": "2 Part"}
            ],
        },
    )
    assert api.call("GET", f"{path}/4")[1]["detail"] == "The last page of this document is 3."
    assert api.call("GET", f"{path}/3")[1]["complete"] is True
    assert api.call("GET", f"{path}/0")[0] == 400
    whole = api.search.matches[1]
    second = {**whole.metadata, "chunk_index": 3, "char_start": 40, "char_end": 49, "text": "On a hill"}
    api.search.matches.append(replace(whole, id=f"{lamp.document_id}#G1#3", metadata=second))
    page = api.call("GET", f"{path}/2")[1]
    assert (page["text"], page["complete"], page["missing"]) == (
        f"The keeper lives here.{' ' * 7}On a hill",
        False,
        [{"char_start": 33, "char_end": 40}],
    )
    api.search.matches.clear()
    page = api.call("GET", f"{path}/2")[1]
    assert (page["text"], page["complete"], page["passages"], page["char_start"]) == ("", False, [], 0)


def test_a_deleted_document_is_gone_with_every_version(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.", "2")
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key=lamp.key, Body=b"A new lamp.")
    status, gone = api.call("DELETE", f"/documents/{lamp.document_id}")
    assert (status, gone) == (202, {"document_id": lamp.document_id, "status": "DELETING", "erasure_id": None})
    assert "Versions" not in api.aws.s3.list_object_versions(Bucket=api.aws.bucket, Prefix="uploads/")
    for part in ("content", "pages/1", "report"):
        status, problem = api.call("GET", f"/documents/{lamp.document_id}/{part}")
        assert (status, problem["detail"]) == (410, "The document was erased.")
    assert api.call("DELETE", f"/documents/{'0' * 32}")[0] == 404
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key=lamp.key, Body=b"Back again.")
    assert api.call("DELETE", f"/documents/{lamp.document_id}")[0] == 202


def test_a_verified_erasure_counts_what_there_was(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.", "2", "3")
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key=lamp.key, Body=b"A new lamp.")
    status, gone, headers = call("DELETE", f"/documents/{lamp.document_id}", params={"verify": "true"})
    assert (status, gone) == (202, {"document_id": lamp.document_id, "status": "DELETING", "erasure_id": FIRST_ID})
    assert headers["location"] == f"/erasures/{FIRST_ID}"
    erasure = bootstrap.services().erasures.get("acme", FIRST_ID)
    assert erasure is not None
    assert (erasure.before, erasure.key, erasure.title, erasure.kind, erasure.requested_by, erasure.begun_at) == (
        {"vectors": 3, "object_versions": 2},
        lamp.key,
        "Handbook",
        "document",
        "ann",
        NOW,
    )
    again: dict[str, Any] = api.call("DELETE", f"/documents/{lamp.document_id}", params={"verify": "true"})[1]
    assert again["erasure_id"] == FIRST_ID
    assert api.call("DELETE", f"/documents/{'0' * 32}", params={"verify": "true"})[0] == 404


@pytest.mark.parametrize(("byte_count", "status"), [(1_024, 201), (1_025, 400)])
def test_a_key_has_1024_bytes_at_most(api: Routes, byte_count: int, status: int):
    name = f"{'€' * 300}.pdf"
    fill = byte_count - len(f"uploads/acme/{name}".encode())
    got, told = api.call("POST", "/documents", {"filename": "a" * fill + name})
    assert got == status
    assert got == 201 or told["detail"] == "The file name is too long: S3 keys hold 1,024 bytes at most."
