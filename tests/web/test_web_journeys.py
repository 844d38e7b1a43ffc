"""Whole journeys in the browser, from one view to the next, as people make them; and every view as it looks."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.looking import look, too_wide
from tests.support.sample_pdfs import SampleText, make_pdf
from tests.web.conftest import Opened, sign_in

QUESTION = "How many bees live in the hives on the roof of the Tallow library?"
FACT = "Forty thousand bees live in the hives on the roof of the Tallow library."
UNKNOWN = "Who won the football world cup in 1998?"
VIEWS = {
    "reader": ["", "documents"],
    "editor": ["", "documents", "queue", "faqs", "unanswered", "feedback"],
    "agent": ["", "documents", "queue"],
    "admin": ["", "documents", "queue", "faqs", "unanswered", "feedback", "admin"],
}
LINKS = {
    "documents": "Documents",
    "queue": "Queue",
    "faqs": "FAQs",
    "unanswered": "Unanswered",
    "feedback": "Feedback",
    "admin": "Administration",
}


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    front = {"title": "Tallow Library Yearbook", "subtitle": "What happened", "edition": "First edition"}
    file = tmp_path / "tallow-yearbook.pdf"
    file.write_bytes(
        make_pdf(SampleText(front, ["# The roof", FACT, "The honey is sold in the reading room in October."]))
    )
    return file


def ask(page: Page, question: str) -> Locator:
    """Ask in the box; return the finished answer."""
    box = page.get_by_role("textbox", name="Your question")
    box.fill(question)
    box.press("Enter")
    answer = page.get_by_role("article", name=f"Answer to: {question}").last
    expect(answer.get_by_role("button", name="Copy with sources")).to_be_visible()
    return answer


def test_a_first_visit_leads_from_a_pdf_of_ones_own_to_the_marked_quote(open_page: Opened, pdf: Path) -> None:
    page = open_page(None)
    sign_in(page, "editor")
    page.get_by_role("navigation").get_by_role("link", name="Documents").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=re.compile("Upload PDFs|choose files")).first.click()
    chooser.value.set_files(pdf)
    row = page.get_by_role("listitem").filter(has_text="Tallow Library Yearbook").filter(has_text="Ready")
    expect(row.first).to_be_visible(timeout=90_000)
    page.get_by_role("link", name="New chat").first.click()
    answer = ask(page, QUESTION)
    expect(answer).to_contain_text("Forty thousand bees")
    answer.get_by_role("button", name=re.compile(r"^Source 1\b")).first.click()
    quote = page.locator('[data-quote="1"]')
    expect(quote).to_have_attribute("data-state", "marked")
    expect(quote).to_contain_text(FACT)
    look(page, "journey-quote")


def test_a_refusal_goes_to_a_person_whose_answer_the_asker_sees(open_page: Opened, samples: dict[str, str]) -> None:
    asker, agent = open_page("reader"), open_page("agent", "#/queue")
    refused = ask(asker, UNKNOWN)
    expect(refused.get_by_role("heading", name="No answer found")).to_be_visible()
    refused.get_by_role("button", name="Ask a person").click()
    form = asker.get_by_role("dialog")
    form.get_by_role("button", name="Ask", exact=True).click()
    expect(asker.get_by_text("A person has been asked")).to_be_visible()
    agent.reload()
    agent.get_by_role("link").filter(has_text=UNKNOWN).first.click()
    agent.get_by_role("button", name="Take it").click()
    agent.get_by_role("textbox", name="Your answer").fill("France won it, at home.")
    look(agent, "journey-handoff")
    agent.get_by_role("button", name="Send the answer").click()
    expect(agent.get_by_text("The answer is in the asker’s conversation.")).to_be_visible()
    asker.reload()
    expect(asker.get_by_role("article", name="Answered by a person")).to_contain_text("France won it")


@pytest.mark.parametrize("role", VIEWS)
def test_each_role_finds_its_views_and_no_others(open_page: Opened, samples: dict[str, str], role: str) -> None:
    page = open_page(role)
    for view, name in LINKS.items():
        found = page.get_by_role("navigation").get_by_role("link", name=re.compile(f"^{name}"))
        expect(found).to_have_count(1 if view in VIEWS[role] else 0)


@pytest.mark.parametrize("view", VIEWS["admin"])
def test_every_view_looks_right_and_is_usable_by_everybody(
    open_page: Opened, samples: dict[str, str], view: str
) -> None:
    page = open_page("admin", f"#/{view}")
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    look(page, f"view-{view or 'chat'}")
    page.set_viewport_size({"width": 320, "height": 640})
    assert too_wide(page) == []
