"""What happens to documents: put by any means, replaced, deleted, broken."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from shared.models import document_id_of
from tests.support.waiting import until

TENANT = users.DEMO.tenant
MakePdf = Callable[..., bytes]


def put(laptop: Laptop, name: str, content: bytes) -> tuple[str, str]:
    """Put an object as `aws s3 cp` does; return the document's id and the object's ETag."""
    key = f"uploads/{TENANT}/{name}"
    etag = laptop.aws.s3.put_object(Bucket=laptop.deployed().bucket, Key=key, Body=content)["ETag"].strip('"')
    return document_id_of(TENANT, key), etag


def wait_for_version(api: ApiClient, document_id: str, etag: str) -> dict[str, object]:
    """Wait until exactly these bytes have a final status."""
    return api.wait_until(document_id, lambda d: d["etag"] == etag and d["status"] in {"READY", "FAILED"})


def test_an_object_put_straight_into_the_bucket_can_be_asked_about(
    laptop: Laptop, api: ApiClient, pdf_about: MakePdf
) -> None:
    content = pdf_about("The lighthouse of Tarnholm", "# Facts", "The lighthouse of Tarnholm has 214 steps.")
    document_id, etag = put(laptop, "put/light house (1).pdf", content)
    assert wait_for_version(api, document_id, etag)["status"] == "READY"
    answer = api.query("How many steps has the lighthouse of Tarnholm?")
    assert document_id in {c["document_id"] for c in answer["citations"]}
    assert "214" in " ".join(c["quote"] for c in answer["citations"])


def test_a_text_file_named_pdf_is_failed_with_a_reason_and_the_queue_goes_on(
    laptop: Laptop, api: ApiClient, pdf_about: MakePdf
) -> None:
    broken_id, _ = put(laptop, "broken/notes.pdf", b"These are notes, not a PDF.\n" * 50)
    good = pdf_about("The bakery of Osk", "# Facts", "The bakery of Osk opens at half past five in the morning.")
    good_id, etag = put(laptop, "broken/after.pdf", good)
    broken = api.wait_until_final(broken_id)
    assert broken["status"] == "FAILED"
    assert broken["error"]["code"]
    assert "PDF" in broken["error"]["message"]
    assert wait_for_version(api, good_id, etag)["status"] == "READY"
    dead = laptop.aws.sqs.get_queue_attributes(
        QueueUrl=laptop.deployed().outputs["DlqUrl"], AttributeNames=["ApproximateNumberOfMessages"]
    )
    assert dead["Attributes"]["ApproximateNumberOfMessages"] == "0"


def test_the_link_to_a_document_opens_its_file(laptop: Laptop, api: ApiClient, pdf_about: MakePdf) -> None:
    content = pdf_about("The well of Mora", "# Facts", "The well of Mora is nineteen metres deep.")
    document_id, etag = put(laptop, "link/the well.pdf", content)
    wait_for_version(api, document_id, etag)
    link = api.request("GET", f"/documents/{document_id}/content").json()
    opened = httpx.get(link["url"], timeout=30, trust_env=False)
    assert opened.content == content
    # The emulator ignores it: S3 answers with it, whatever type the file was uploaded with.
    assert parse_qs(urlsplit(link["url"]).query)["response-content-type"] == ["application/pdf"]
    page = api.request("GET", f"/documents/{document_id}/pages/1").json()
    assert page["complete"]
    listed = api.request("GET", "/documents", params={"q": "well mora"}).json()["documents"]
    assert [each["document_id"] for each in listed] == [document_id]


def test_a_deleted_document_is_unanswerable_at_once(laptop: Laptop, api: ApiClient, pdf_about: MakePdf) -> None:
    content = pdf_about("The ferry to Ulsk", "# Facts", "The ferry to Ulsk leaves from pier seven every forty minutes.")
    document_id, etag = put(laptop, "delete/ferry.pdf", content)
    wait_for_version(api, document_id, etag)
    question = "From which pier does the ferry to Ulsk leave?"
    assert document_id in {c["document_id"] for c in api.query(question)["citations"]}
    assert api.delete_document(document_id)["status"] == "DELETING"
    after = api.query(question)
    assert document_id not in {s["document_id"] for s in after["sources"] + after["citations"]}
    assert document_id not in {d["document_id"] for d in api.documents() if d["status"] == "READY"}


def test_an_object_deleted_from_the_bucket_leaves_the_answers_too(
    laptop: Laptop, api: ApiClient, pdf_about: MakePdf
) -> None:
    content = pdf_about("The windmill of Harn", "# Facts", "The windmill of Harn grinds barley on Wednesdays only.")
    document_id, etag = put(laptop, "delete/windmill.pdf", content)
    wait_for_version(api, document_id, etag)
    laptop.aws.s3.delete_object(Bucket=laptop.deployed().bucket, Key=f"uploads/{TENANT}/delete/windmill.pdf")

    def is_gone() -> bool:
        answer = api.request("GET", f"/documents/{document_id}")
        return answer.status_code == 404 or answer.json()["status"] == "DELETED"

    until(is_gone)
    answer = api.query("On which days does the windmill of Harn grind barley?")
    assert document_id not in {s["document_id"] for s in answer["sources"]}


def test_a_replaced_document_answers_with_its_new_content_only(
    laptop: Laptop, api: ApiClient, pdf_about: MakePdf
) -> None:
    question = "What does the ticket for the cable car of Montreva cost?"
    old = pdf_about("The cable car of Montreva", "# Prices", "A ticket for the cable car of Montreva costs 31 crowns.")
    new = pdf_about("The cable car of Montreva", "# Prices", "A ticket for the cable car of Montreva costs 58 crowns.")
    document_id, etag = put(laptop, "replace/cable.pdf", old)
    wait_for_version(api, document_id, etag)
    assert "31" in quotes(api, question)
    same_id, new_etag = put(laptop, "replace/cable.pdf", new)
    assert same_id == document_id
    wait_for_version(api, document_id, new_etag)
    said = quotes(api, question)
    assert "58" in said
    assert "31" not in said


def test_the_listing_has_every_document_once_however_it_is_cut(api: ApiClient, samples: dict[str, str]) -> None:
    whole = [d["document_id"] for d in api.documents(limit=200)]
    cut = [d["document_id"] for d in api.documents(limit=2)]
    assert cut == whole
    assert len(set(cut)) == len(cut)
    assert set(samples.values()) <= set(cut)
    ready = {d["document_id"] for d in api.documents(limit=2, status="READY")}
    assert set(samples.values()) <= ready


def quotes(api: ApiClient, question: str) -> str:
    """Return everything an answer quotes."""
    return " ".join(c["quote"] for c in api.query(question)["citations"])
