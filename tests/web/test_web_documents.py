"""The documents view: many files at once, what becomes of each, labels, deletion with undo, and what readers see."""

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Dialog, FilePayload, Page, Route, expect

from local.cli_demo import sample_pdfs
from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.waiting import until
from tests.web.conftest import Heard, Look, Opened, close_message

MANUAL = next(pdf for pdf in sample_pdfs() if "brunata" in pdf.name).read_bytes()
FORMS = "**/recto-uploads-*"
"""Where the signed forms send files to."""


@pytest.fixture
def folder() -> str:
    """A folder of the test's own, so that tests do not meet in the listing."""
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def api(laptop: Laptop) -> Iterator[ApiClient]:
    """The API as the editor calls it."""
    with laptop.client(users.DEMO, streaming=True) as client:
        yield client


def pdf(name: str, content: bytes = MANUAL) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": content}


def choose(page: Page, *files: FilePayload) -> None:
    """Choose files in the dialog of the upload button."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload PDFs").first.click()
    chooser.value.set_files(list(files))


def uploads(page: Page, name: str) -> Any:
    """Return the row of an upload."""
    return page.get_by_role("region", name="Uploads").get_by_role("listitem").filter(has_text=name)


def listed(page: Page, name: str) -> Any:
    """Return the row of a document in the list, by its file's name."""
    return page.get_by_role("list", name="Documents").get_by_role("listitem").filter(has_text=name)


def test_many_files_are_uploaded_and_followed_and_what_is_no_pdf_is_refused_at_once(
    open_page: Opened, look: Look, folder: str
) -> None:
    page = open_page("editor", "#/documents")
    choose(
        page,
        pdf(f"{folder}-manual.pdf"),
        pdf(f"{folder}-scan.pdf", b"%PDF-1.7\nnothing that can be read"),
        pdf(f"{folder}-letter.pdf", b"PK a letter"),
        {"name": f"{folder}-notes.docx", "mimeType": "application/msword", "buffer": b"PK notes"},
    )
    expect(uploads(page, "notes.docx")).to_contain_text("Only PDFs can be uploaded")
    expect(uploads(page, "letter.pdf")).to_contain_text("not a PDF, though its name says so")
    expect(listed(page, f"{folder}-manual.pdf")).to_contain_text("Ready")
    expect(listed(page, f"{folder}-scan.pdf")).to_contain_text("Could not be read")
    expect(uploads(page, "scan.pdf")).to_contain_text("Uploaded, but could not be read. The file is damaged: open and")
    outcome = "2 files uploaded, 2 not. 1 of the uploaded files cannot be read"
    expect(page.get_by_role("heading", name=outcome, exact=True)).to_be_visible()
    look(page, "documents")
    listed(page, f"{folder}-manual.pdf").get_by_role("link").click()
    expect(page.get_by_role("region", name="What could be read")).to_contain_text("Pages with text: 7 of 7.")
    look(page, "document")
    page.get_by_role("link", name="All documents").click()
    listed(page, f"{folder}-scan.pdf").get_by_role("link").click()
    expect(page.get_by_role("region", name="What could be read")).to_contain_text("could not be read")


def document(**more: Any) -> dict[str, Any]:
    """Return a document as the API shows it."""
    empty = {"pages": [], "labels": {}, "identity": {}, "language": "", "etag": "", "chunk_count": 0, "size_bytes": 20}
    return empty | {
        "document_id": f"{7:032x}",
        "title": "Locked letter",
        "key": "uploads/demo/locked letter.pdf",
        "source_type": "pdf",
        "status": "READY",
        "page_count": 1,
        "error": None,
        "created_at": "2026-11-28T09:00:00Z",
        "updated_at": "2026-11-28T09:00:00Z",
        **more,
    }


@pytest.mark.parametrize(
    ("locale", "button", "row", "outcome", "toast"),
    [
        (
            "en-GB",
            "Upload PDFs",
            "Uploaded, but password protected. The file has a password.",
            "1 file uploaded. The uploaded file cannot be read",
            "1 file uploaded",
        ),
        (
            "lt-LT",
            "Įkelti PDF",
            "Įkeltas, bet apsaugotas slaptažodžiu. The file has a password.",
            "Įkelta: 1 failas. Įkelto failo perskaityti nepavyko",
            "Įkelta: 1 failas",
        ),
    ],
)
def test_a_file_that_is_stored_and_cannot_be_read_says_why_and_is_counted_the_same_everywhere(
    open_page: Opened, look: Look, locale: str, button: str, row: str, outcome: str, toast: str
) -> None:
    page = open_page("editor", "#/documents", locale=locale)
    locked = document(status="ENCRYPTED", error={"code": "ENCRYPTED", "message": "The file has a password."})
    form = {"url": f"{page.url.split('#')[0]}form", "fields": {}, "expires_in_s": 900, "max_bytes": 10_000_000}
    announced = {"document_id": locked["document_id"], "status": "PENDING", "upload": form}
    item = {"filename": "locked letter.pdf", "upload": announced, "error": None}
    page.route("**/documents/bulk", lambda route: route.fulfill(json={"items": [item]}))
    page.route("**/form", lambda route: route.fulfill(status=204))
    page.route(f"**/documents/{locked['document_id']}", lambda route: route.fulfill(json=locked))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).first.click()
    chooser.value.set_files([pdf("locked letter.pdf", b"%PDF-1.7 locked")])
    expect(page.get_by_role("status").get_by_text(re.compile(f"^{toast}"))).to_have_count(1)
    expect(page.get_by_role("listitem").filter(has_text="locked letter.pdf").get_by_text(row)).to_be_visible()
    expect(page.get_by_role("heading", name=outcome, exact=True)).to_be_visible()
    look(page, f"locked-{locale}")


@pytest.mark.parametrize(
    ("locale", "told"), [("en-GB", "Being read: page 95 of 300"), ("lt-LT", "Skaitomas: 95 psl. iš 300")]
)
def test_a_long_document_tells_up_to_which_page_it_has_been_read(
    open_page: Opened, look: Look, locale: str, told: str
) -> None:
    page = open_page("editor", locale=locale)
    long = document(status="PROCESSING", title="Register", progress={"page": 95, "page_count": 300})
    page.route(f"**/documents/{long['document_id']}", lambda route: route.fulfill(json=long))
    said = {"document_id": long["document_id"], "status": "PROCESSING", "page_count": 300, "language": "en"}
    report = {**said, "summary": "The document is being read.", "findings": [], "error": None}
    page.route(f"**/documents/{long['document_id']}/report", lambda route: route.fulfill(json=report))
    page.goto(f"{page.url.split('#')[0]}#/documents/{long['document_id']}")
    expect(page.get_by_text(told)).to_be_visible()
    look(page, f"reading-{locale}")


def test_the_report_of_a_document_that_cannot_be_read_says_why_where_it_says_so(open_page: Opened, look: Look) -> None:
    page = open_page("editor")
    why = {"code": "NO_TEXT", "message": "The only page has neither text nor a picture."}
    blank = document(status="FAILED", title="Blank sheet", error=why)
    summary, finding = "The document could not be read.", "Page 1: empty."
    report = {
        "document_id": blank["document_id"],
        "status": "FAILED",
        "page_count": 1,
        "language": "en",
        "summary": summary,
        "findings": [{"kind": "empty", "pages": [1], "text": finding, "remedy": ""}],
        "error": why,
    }
    page.route(f"**/documents/{blank['document_id']}", lambda route: route.fulfill(json=blank))
    page.route(f"**/documents/{blank['document_id']}/report", lambda route: route.fulfill(json=report))
    page.goto(f"{page.url.split('#')[0]}#/documents/{blank['document_id']}")
    box = page.get_by_role("region", name="What could be read")
    expect(box.get_by_text(why["message"])).to_be_visible()
    said = box.inner_text()
    assert said.index(summary) < said.index(why["message"]) < said.index(finding)
    look(page, "blank")


def test_the_advice_on_a_protected_document_is_given_once(open_page: Opened, look: Look) -> None:
    page = open_page("editor")
    why = {"code": "ENCRYPTED", "message": "The file needs a password. Remove the password and upload the file again."}
    locked = document(status="ENCRYPTED", error=why)
    summary = "The file is protected. Save it without protection and upload it again."
    kept = {name: locked[name] for name in ("document_id", "status", "page_count")}
    report = {**kept, "language": "en", "summary": summary, "findings": [], "error": why}
    page.route(f"**/documents/{locked['document_id']}", lambda route: route.fulfill(json=locked))
    page.route(f"**/documents/{locked['document_id']}/report", lambda route: route.fulfill(json=report))
    page.goto(f"{page.url.split('#')[0]}#/documents/{locked['document_id']}")
    box = page.get_by_role("region", name="What could be read")
    expect(box.get_by_text(summary)).to_be_visible()
    expect(box).not_to_contain_text("upload the file again")
    look(page, "protected")


def test_the_examples_for_one_document_are_about_it_and_all_come_back_without_the_limit(
    open_page: Opened, look: Look, samples: dict[str, str]
) -> None:
    manual = next(samples[name] for name in samples if "brunata" in name)
    page = open_page("reader", f"#/documents/{manual}")
    page.get_by_role("button", name="Ask about it").click()
    examples = page.get_by_role("region", name="Questions to begin with").get_by_role("button")
    expect(examples.first).to_contain_text("What is “Brunata Duo espresso machine” about?")
    limited = examples.all_inner_texts()
    assert all("Brunata" in each or each.startswith("What do the documents say about “") for each in limited), limited
    look(page, "welcome-limited")
    page.set_viewport_size({"width": 360, "height": 740})
    end = page.get_by_role("button", name=re.compile("^Do not limit to"))
    place = end.bounding_box()
    assert place
    assert place["x"] + place["width"] < 350
    end.click()
    expect(page.get_by_role("button", name=re.compile("^Do not limit to"))).to_have_count(0)
    expect(examples).to_have_count(3)
    expect(page.locator("[aria-busy=false]")).to_be_visible()
    assert examples.all_inner_texts() != limited


def test_without_examples_of_a_document_none_are_shown(
    open_page: Opened, samples: dict[str, str], heard: Heard
) -> None:
    heard.expected.append("404")
    manual = next(samples[name] for name in samples if "brunata" in name)
    page = open_page("reader", f"#/documents/{manual}")
    ask = page.get_by_role("button", name="Ask about it")
    expect(ask).to_be_enabled()
    gone = {"title": "Not found", "status": 404, "code": "not_found", "detail": "There is no such document."}
    page.route(f"**/documents/{manual}", lambda route: route.fulfill(status=404, json=gone))
    ask.click()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(page.get_by_role("region", name="Questions to begin with")).to_have_count(0)


def test_four_files_are_sent_at_once_one_is_cancelled_a_failed_one_tried_again_and_leaving_warns(
    open_page: Opened, folder: str, heard: Heard
) -> None:
    page = open_page("editor", "#/documents")
    heard.expected.append("ERR_FAILED")
    held: list[Route] = []
    is_open: list[bool] = []

    def hold(route: Route) -> None:
        if is_open:
            route.continue_()
        else:
            held.append(route)

    page.route(FORMS, hold)
    choose(page, *(pdf(f"{folder}-{number}.pdf") for number in range(6)))
    expect(page.get_by_role("progressbar")).to_have_count(4)
    expect(page.get_by_text("Waiting", exact=True)).to_have_count(2)
    # A route is told of while the test talks to the browser.
    until(lambda: page.evaluate("(count) => count", len(held)), lambda count: count == 4, what="the four uploads")
    warned: list[str] = []

    def stay(dialog: Dialog) -> None:
        warned.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    with page.expect_event("dialog"):  # closing asks only in some builds of Chromium
        page.evaluate("() => { setTimeout(() => location.reload()) }")
    page.get_by_role("button", name=f"Cancel {folder}-5.pdf").click()
    expect(uploads(page, f"{folder}-5.pdf")).to_contain_text("Cancelled")
    assert warned == ["beforeunload"]
    is_open.append(True)
    held[0].abort()
    for route in held[1:]:
        route.continue_()
    expect(uploads(page, f"{folder}-0.pdf")).to_contain_text("The connection broke off.")
    page.get_by_role("button", name=f"Try {folder}-0.pdf again").click()
    expect(page.get_by_role("heading", name="5 files uploaded")).to_be_visible()


def test_files_that_were_not_taken_say_why_in_words_stand_first_and_are_tried_again_together(
    open_page: Opened, folder: str, heard: Heard
) -> None:
    page = open_page("editor", "#/documents")
    heard.expected.append("ERR_CONNECTION_REFUSED")
    page.route("**/documents/bulk", lambda route: route.abort("connectionrefused"))
    choose(page, pdf(f"{folder}-1.docx"), pdf(f"{folder}-2.pdf"), pdf(f"{folder}-3.pdf"))
    for name in (f"{folder}-2.pdf", f"{folder}-3.pdf"):
        expect(uploads(page, name)).to_contain_text("The service cannot be reached. Check your connection.")
    page.unroute("**/documents/bulk")
    rows = page.get_by_role("region", name="Uploads").get_by_role("listitem")
    page.get_by_role("button", name="Try all again").press("Enter")
    expect(page.get_by_role("heading", name="2 files uploaded, 1 not")).to_be_focused()
    expect(rows.first).to_contain_text(f"{folder}-1.docx")
    choose(page, {"name": f"{folder}-4.txt", "mimeType": "text/plain", "buffer": b"notes"})
    expect(rows.nth(1)).to_contain_text(f"{folder}-4.txt")
    expect(page.get_by_role("button", name="Try all again")).to_have_count(0)


def test_what_a_role_may_not_is_said_and_not_offered_again(
    open_page: Opened, api: ApiClient, folder: str, heard: Heard
) -> None:
    heard.expected.append("403")
    name = f"{folder}/kept.pdf"
    upload = api.announce(name)
    api.send(upload, MANUAL)
    api.wait_until_final(upload.document_id)
    page = open_page("editor", "#/documents")

    def refuse(route: Route) -> None:  # the role was taken away while the page was open
        if route.request.method == "GET":
            route.fallback()
        else:
            problem = {"title": "Not allowed", "status": 403, "code": "not_allowed", "detail": "internal"}
            route.fulfill(status=403, json=problem)

    page.route(re.compile(r"/documents/\w+"), refuse)
    listed(page, name).get_by_role("button", name=re.compile("^Actions for")).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    close_message(page, "1 document deleted")
    told = "1 document could not be deleted. Your account may not do this."
    expect(page.get_by_role("status").get_by_text(told)).to_be_visible()
    expect(listed(page, name)).to_be_visible()
    choose(page, pdf(f"{folder}-new.pdf"))
    expect(uploads(page, f"{folder}-new.pdf")).to_contain_text("Your account may not do this.")
    page.goto(f"{page.url.split('#')[0]}#/admin")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This is not open to you")
    expect(alert).to_contain_text("An administrator can give you the role.")
    expect(alert.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_dialog_begins_at_its_title_in_a_low_window_too(open_page: Opened, samples: dict[str, str]) -> None:
    assert samples
    page = open_page("editor", "#/documents")
    page.set_viewport_size({"width": 700, "height": 450})
    page.get_by_role("button", name=re.compile("^Actions for")).first.click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("dialog").get_by_role("checkbox")).to_be_focused()
    expect(page.get_by_role("heading", name="Delete this document?")).to_be_in_viewport()


def test_a_deletion_says_what_goes_and_can_be_undone_until_its_message_is_gone(
    open_page: Opened, api: ApiClient, folder: str, heard: Heard
) -> None:
    heard.expected.append("404")  # of a look at the document that was under way when it was deleted
    upload = api.announce(f"{folder}/doomed.pdf")
    api.send(upload, MANUAL)
    api.wait_until_final(upload.document_id)
    page = open_page("editor", "#/documents")
    row = listed(page, f"{folder}/doomed.pdf")

    def delete() -> None:
        row.get_by_role("button", name=re.compile("^Actions for")).click()
        page.get_by_role("menuitem", name="Delete").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("the file in all of its versions")
        expect(dialog).to_contain_text("No answer will use it")
        dialog.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)

    delete()
    page.get_by_role("button", name="Undo").press("Enter")
    expect(row).to_have_count(1)
    expect(page.get_by_role("main")).to_be_focused()
    assert api.document(upload.document_id)["status"] != "DELETING"
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as answer:
        delete()
        close_message(page, "1 document deleted")
    assert answer.value.status == 202
    with page.expect_response(re.compile(r"/documents\?")):
        page.reload()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    expect(row).to_have_count(0)


def test_a_document_is_erased_with_a_receipt(
    open_page: Opened, api: ApiClient, folder: str, heard: Heard, look: Look
) -> None:
    heard.expected.append("404")  # of a look at the document that was under way when it was deleted
    upload = api.announce(f"{folder}-secret.pdf")
    api.send(upload, MANUAL)
    page = open_page("editor", f"#/documents/{upload.document_id}")
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Erase every trace, with a receipt").check()
    look(page, "erase")
    with page.expect_response(lambda got: got.request.method == "DELETE") as answer:
        dialog.get_by_role("button", name="Delete").click()
        close_message(page, "1 document deleted")
    assert answer.value.status == 202
    begun = page.get_by_role("list", name="Erasures")
    expect(begun).to_contain_text("A document is being erased.")

    finished = {"state": "erased", "finished_at": "2026-11-23T08:00:00.000+00:00", "receipt": {"stores": [{}, {}, {}]}}
    path = "**/erasures/*"
    page.route(path, lambda route: route.fulfill(json={**route.fetch().json(), **finished}))
    page.reload()
    expect(begun).to_contain_text("nothing of it was found when 3 stores were read again")
    look(page, "erased")
    with page.expect_download() as got:
        begun.get_by_role("button", name="Save the receipt").click()
    assert json.loads(got.value.path().read_text(encoding="utf-8")) == finished["receipt"]
    begun.get_by_role("button", name="Take it off this list").click()
    expect(begun).to_have_count(0)


def test_a_file_of_a_name_that_is_taken_is_sent_only_as_a_person_chooses(
    open_page: Opened, api: ApiClient, look: Look, folder: str
) -> None:
    name = f"{folder}-taken.pdf"
    upload = api.announce(name)
    api.send(upload, MANUAL)
    before = api.wait_until_final(upload.document_id)["etag"]
    other = next(pdf for pdf in sample_pdfs() if "skarvnes" in pdf.name).read_bytes()
    page = open_page("editor", "#/documents")
    choose(page, pdf(name))
    expect(uploads(page, name)).to_contain_text("There already: this is the same file")
    expect(page.get_by_role("heading", name="1 file was there already")).to_be_visible()
    choose(page, pdf(name, other))
    row = uploads(page, name).first  # what is to be decided stands first
    expect(row).to_contain_text("Another file of this name is there: 7 pages")
    assert api.document(upload.document_id)["etag"] == before
    look(page, "replace-or-keep")
    row.get_by_role("button", name=f"Keep both: {name}").press("Enter")
    expect(uploads(page, f"{folder}-taken (2).pdf")).to_contain_text("Uploaded")
    assert api.document(upload.document_id)["etag"] == before
    choose(page, pdf(name, other))
    uploads(page, name).first.get_by_role("button", name=f"Replace it: {name}").click()
    expect(uploads(page, name).filter(has_text="replaces the former file")).to_be_visible()
    until(lambda: api.document(upload.document_id)["etag"], lambda etag: etag != before, what="the other file")


def test_documents_are_found_selected_labelled_and_asked_about(open_page: Opened, api: ApiClient, folder: str) -> None:
    for number in range(2):
        upload = api.announce(f"{folder}-part-{number}.pdf")
        api.send(upload, MANUAL)
        api.wait_until_final(upload.document_id)
    page = open_page("editor", "#/documents")
    page.get_by_label("Search by title or file name").fill(folder)
    expect(page.get_by_role("status").filter(has_text="2 documents")).to_be_visible()
    page.get_by_role("checkbox", name="Select all that are shown").check()
    bar = page.get_by_role("toolbar")
    bar.get_by_role("button", name="Edit labels").click()
    page.get_by_label("Tags").fill(f"coffee, {folder}")
    page.get_by_label("Chapter").fill("Maintenance")
    page.get_by_role("button", name="Save").click()
    for number in range(2):
        expect(listed(page, f"part-{number}.pdf")).to_contain_text(f"coffee{folder}Maintenance")
    bar.get_by_role("button", name="Ask about these").click()
    expect(page).to_have_url(re.compile(r"#/$"))
    expect(page.get_by_role("status").filter(has_text="about 2 documents only")).to_be_visible()


def test_a_search_that_finds_nothing_says_so_and_leads_back(open_page: Opened, samples: dict[str, str]) -> None:
    page = open_page("reader", "#/documents")
    page.get_by_label("Search by title or file name").fill("no such document")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.get_by_role("button", name="Show all documents").click()
    expect(listed(page, "").first).to_be_visible()


def test_a_reader_looks_and_asks_and_changes_nothing(open_page: Opened, samples: dict[str, str]) -> None:
    page = open_page("reader", "#/documents")
    name = next(iter(samples))
    with page.expect_response(re.compile(r"/documents\?.*\bq=")):
        page.get_by_label("Search by title or file name").fill(name)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)  # found: the list does not move any more
    row = listed(page, name).first
    expect(row).to_be_visible()
    expect(page.get_by_role("button", name="Upload PDFs")).to_have_count(0)
    row.get_by_role("button", name=re.compile("^Actions for")).click()
    expect(page.get_by_role("menuitem")).to_have_text(["Ask about it", "Open the file", "Details and report"])


def test_a_menu_goes_with_its_button_and_closes_once_that_is_out_of_sight(
    open_page: Opened, samples: dict[str, str]
) -> None:
    page = open_page("reader", "#/documents", height=320)
    button = listed(page, next(iter(samples))).first.get_by_role("button", name=re.compile("^Actions for"))
    button.click()
    menu = page.get_by_role("menu")
    expect(menu).to_be_visible()
    page.evaluate("() => document.dispatchEvent(new Event('scroll'))")  # as after a list has grown shorter
    page.mouse.move(700, 200)
    before = button.evaluate("button => button.getBoundingClientRect().y")
    page.mouse.wheel(0, -10)
    moved = "([button, before]) => button.getBoundingClientRect().y !== before"
    page.wait_for_function(moved, arg=[button.element_handle(), before])
    expect(menu).to_be_visible()
    page.mouse.wheel(0, -1000)
    expect(menu).to_have_count(0)
    expect(button).not_to_be_in_viewport()


def test_a_listing_that_fails_says_what_to_do_and_can_be_tried_again(
    open_page: Opened, samples: dict[str, str], heard: Heard
) -> None:
    page = open_page("editor", "")
    heard.expected.append("503")
    problem = {"type": "urn:recto:problem:unavailable", "title": "Unavailable", "status": 503, "code": "unavailable"}
    page.route(
        re.compile(r"/documents\?"),
        lambda route: route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(problem)),
    )
    page.get_by_role("link", name="Documents", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute(re.compile(r"/documents\?"))
    page.get_by_role("button", name="Try again").click()
    expect(listed(page, "").first).to_be_visible()
