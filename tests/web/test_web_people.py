"""What agents, editors and administrators work with: queue, FAQs, unanswered questions, feedback, keys, usage."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.answer_stream import citation
from tests.web.conftest import Heard, Look, Opened

type Api = Callable[[users.User], ApiClient]


@pytest.fixture
def api(laptop: Laptop) -> Iterator[Api]:
    """Return the API as a user calls it."""
    with ExitStack() as open_clients:
        yield lambda user: open_clients.enter_context(laptop.client(user, streaming=True))


@pytest.fixture
def subject() -> str:
    """A word that no other test asks about."""
    return f"Zeb{uuid.uuid4().hex[:6]}"


@pytest.fixture
def handoff(api: Api, subject: str, samples: dict[str, str]) -> dict[str, Any]:
    """A question that the documents do not answer, handed to a person."""
    reader = api(users.READER)
    asked = reader.query(f"Who painted the boiler room of {subject}?")
    body = {"reason": f"The {subject} board meets on Friday.", "contact": "ann@example.com"}
    path = f"/conversations/{asked['conversation_id']}/handoff"
    return dict(reader.request("POST", path, json=body).json())


def test_an_agent_answers_a_handoff_and_an_editor_publishes_it(
    open_page: Opened, look: Look, api: Api, handoff: dict[str, Any], subject: str
) -> None:
    page = open_page("agent", "#/queue")
    look(page, "queue")
    page.get_by_role("link", name=re.compile(subject)).click()
    expect(page.get_by_text("ann@example.com")).to_be_visible()
    expect(page.get_by_role("region", name="The conversation")).to_contain_text(subject)
    page.get_by_role("button", name="Take it").click()
    page.get_by_label("Your answer").fill("Two painters")
    page.reload()
    expect(page.get_by_label("Your answer")).to_have_value("Two painters")
    page.get_by_label("Your answer").fill(f"Two painters from {subject} did, in 2019.")
    page.get_by_label("Also answer others with it").check()
    look(page, "handoff")
    page.get_by_role("button", name="Send the answer").click()
    expect(page.get_by_text("To be published")).to_be_visible()
    told = api(users.READER).conversation(handoff["conversation_id"])["messages"][-1]
    assert (told["role"], told["content"]) == ("agent", f"Two painters from {subject} did, in 2019.")

    desk = open_page("editor", f"#/queue/{handoff['handoff_id']}")
    expect(desk.get_by_text("ann@example.com")).to_have_count(0)
    expect(desk.get_by_text("Only agents see the conversation.")).to_be_visible()
    desk.get_by_role("button", name="Publish as an FAQ").click()
    desk.get_by_role("dialog").get_by_label("Answer").fill("Two painters did, in 2019.")
    desk.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    expect(desk.get_by_role("link", name="See the document")).to_be_visible()


@pytest.mark.parametrize("locale", ["en-GB", "lt-LT"])
def test_every_tab_is_seen_whole_on_a_phone(open_page: Opened, look: Look, locale: str) -> None:
    page = open_page("agent", "#/queue", locale=locale)
    page.set_viewport_size({"width": 360, "height": 740})
    tabs = page.get_by_role("radio")
    expect(tabs).to_have_count(5)
    row = page.get_by_role("radiogroup").bounding_box()
    assert row
    for box in (tab.bounding_box() for tab in tabs.all()):
        assert box
        assert row["x"] <= box["x"] < box["x"] + box["width"] <= row["x"] + row["width"] <= 360
        assert row["y"] <= box["y"] < box["y"] + box["height"] <= row["y"] + row["height"]
    look(page, f"queue-tabs-{locale}")


def test_an_agent_is_told_that_another_one_was_faster(
    open_page: Opened, api: Api, handoff: dict[str, Any], heard: Heard
) -> None:
    page = open_page("agent", f"#/queue/{handoff['handoff_id']}")
    heard.expected.append("409")
    expect(page.get_by_role("button", name="Take it")).to_be_visible()
    api(users.ADMIN).request("POST", f"/handoffs/{handoff['handoff_id']}/claim")
    page.get_by_role("button", name="Take it").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody was faster")
    expect(page.get_by_text("Another agent has taken it.")).to_be_visible()
    expect(page.get_by_role("button", name="Take it")).to_have_count(0)


def test_two_editors_of_one_faq_lose_nothing(
    open_page: Opened, look: Look, api: Api, subject: str, heard: Heard
) -> None:
    page = open_page("editor", "#/faqs")
    heard.expected.append("412")
    page.get_by_role("button", name="New FAQ").first.click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Write the question.")).to_be_visible()
    page.get_by_label("Question").fill(f"Where is {subject}?")
    page.get_by_label("Answer").fill("In the north.")
    page.get_by_label("Answer").hover()
    page.mouse.down()  # selecting text, and letting go outside
    page.mouse.move(5, 5)
    page.mouse.up()
    page.get_by_label("Labels for filters").fill("audience: staff, visitors")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("Search the FAQs").fill(subject)
    expect(page.get_by_role("list", name="FAQs").get_by_text("In the north.")).to_be_visible()
    look(page, "faqs")

    page.get_by_role("button", name=f"Edit “Where is {subject}?”").click()
    editor = api(users.DEMO)
    [stored] = [each for each in editor.request("GET", "/faqs?limit=100").json()["faqs"] if subject in each["question"]]
    theirs = {"question": stored["question"], "answer": "In the south."}
    match = {"If-Match": f'"{stored["etag"]}"'}
    assert editor.request("PUT", f"/faqs/{stored['faq_id']}", json=theirs, headers=match).status_code == 200
    page.get_by_label("Answer").fill("In the far north.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Yours")).to_contain_text("In the far north.")
    expect(page.get_by_role("region", name="As it is now")).to_contain_text("In the south.")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("list", name="FAQs").get_by_text("In the far north.")).to_be_visible()
    assert editor.request("GET", f"/faqs/{stored['faq_id']}").json()["answer"] == "In the far north."


def test_a_csv_file_is_imported_with_a_report_on_each_row_and_exported(open_page: Opened, subject: str) -> None:
    page = open_page("editor", "#/faqs")
    page.get_by_role("button", name="Import CSV").first.click()
    rows = f"question,answer\nWho is {subject}?,A whale.\nWhat is {subject}?,\n"
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a CSV file").click()
    chooser.value.set_files({"name": "faqs.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 row was not stored.")
    expect(dialog.get_by_role("row").nth(1)).to_contain_text("answer")
    dialog.get_by_label("Show only what failed").uncheck()
    expect(dialog.get_by_role("row")).to_have_count(3)
    dialog.get_by_role("button", name="Close").last.click()
    page.get_by_label("Search the FAQs").fill(subject)
    expect(page.get_by_role("list", name="FAQs").get_by_text("A whale.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    assert f"Who is {subject}?" in download.value.path().read_text(encoding="utf-8-sig")


def test_an_editor_answers_unanswered_questions_and_reads_what_people_thought(
    open_page: Opened, look: Look, api: Api, handoff: dict[str, Any], subject: str
) -> None:
    reader = api(users.READER)
    refused = reader.query(f"Which colour has the tower of {subject}?")
    thought = {"rating": "down", "reason": "not_answered", "comment": f"It is in the {subject} file."}
    reader.request("PUT", f"/messages/{refused['message_id']}/feedback", json=thought)
    page = open_page("editor", "#/feedback")
    expect(page.get_by_text(f"It is in the {subject} file.")).to_be_visible()
    expect(page.get_by_text("The documents have the answer").first).to_be_visible()
    look(page, "feedback")

    page.get_by_role("link", name="Unanswered", exact=True).click()
    group = page.get_by_role("listitem").filter(has_text=f"tower of {subject}").first
    expect(group).to_be_visible()
    look(page, "unanswered")
    group.get_by_role("button", name="Answer with an FAQ").click()
    expect(page.get_by_label("Question")).to_have_value(re.compile(subject))
    page.get_by_label("Answer").fill("Green.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile("disappear from the list"))).to_be_visible()
    expect(page.get_by_text(f"tower of {subject}")).to_have_count(0)


def test_a_group_of_questions_says_when_it_was_asked_as_its_neighbours_do(open_page: Opened, look: Look) -> None:
    now = datetime.now(UTC)

    def group(n: int, first: timedelta, last: timedelta) -> dict[str, Any]:
        asked = [{"question_id": f"{n}", "question": f"Who feeds hen {n}?", "asked_at": (now - last).isoformat()}]
        times = {"first_asked_at": (now - first).isoformat(), "last_asked_at": (now - last).isoformat()}
        counts = {"count": 2, "refused": 2, "rated_down": 0}
        return {"cluster_id": f"{n}", "question_ids": [f"{n}"], "examples": asked, "nearest": [], **times, **counts}

    minutes, days = timedelta(minutes=1), timedelta(days=1)
    clusters = [group(1, 2 * minutes, 2 * minutes), group(2, 20 * days, 2 * minutes), group(3, 20 * days, 12 * days)]
    found = {"clusters": clusters, "questions": 6, "truncated": False}
    page = open_page("editor")
    page.route("**/insights/unanswered?*", lambda route: route.fulfill(json=found))
    page.get_by_role("link", name="Unanswered", exact=True).click()
    times = page.get_by_role("main").locator("time")
    expect(times).to_have_text(
        [
            "2 minutes ago",
            re.compile(r"^2 minutes ago, for the first time on \d+ \w+ \d{4}$"),
            re.compile(r"^\d+ \w+ \d{4}, for the first time on \d+ \w+ \d{4}$"),
        ]
    )
    look(page, "unanswered-times")


def test_feedback_names_the_pages_of_every_source_as_all_else_does(open_page: Opened, look: Look) -> None:
    cited = [
        citation(1),
        citation(2, page_label=""),
        citation(3, page_label="5"),
        citation(4, page_end=8, page_label="iv"),
        citation(5, source_type="faq"),
    ]
    known = ("question", "answer", "rewritten", "mode", "relevance", "threshold", "model", "confidence")
    rated = dict.fromkeys(known) | {
        "question": "Who winds the clock?",
        "answer": "The sexton. [1]",
        "relevance": 0.5,
        "threshold": 0.35,
        "message_id": "01M838EQD4670PB322F3W9D50M",
        "citations": cited,
        "feedback": {"rating": "down", "reason": None, "comment": "", "updated_at": "2026-11-28T09:00:00Z"},
    }
    page = open_page("editor")
    page.route("**/feedback?*", lambda route: route.fulfill(json={"feedback": [rated], "next_cursor": ""}))
    page.get_by_role("link", name="Feedback").click()
    lines = page.get_by_role("main").get_by_role("listitem").filter(has_text=re.compile(r"^\["))
    expect(lines).to_have_text(
        [
            "[1] Handbook 1 page 3 (printed 1)",
            "[2] Handbook 2 page 4",
            "[3] Handbook 3 page 5",
            "[4] Handbook 4 pages 6–8 (printed iv)",
            re.compile(r"^\[5\] Handbook 5\s*$"),
        ]
    )
    look(page, "feedback-pages")


def test_a_key_is_shown_once_works_and_is_revoked(open_page: Opened, look: Look, api: Api, subject: str) -> None:
    page = open_page("admin", "#/admin", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="New key").first.click()
    page.get_by_label("What uses it").fill(subject)
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_label("API key", exact=True)).to_have_value(re.compile("^rk_"))
    secret = page.get_by_label("API key", exact=True).input_value()
    for _ in range(3):  # a browser closes a dialog at the second one
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == secret
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_role("row", name=re.compile(subject))).to_be_visible()
    assert secret not in page.content()
    look(page, "keys")
    page.get_by_role("button", name=f"Revoke “{subject}”").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=re.compile(subject))).to_have_count(0)
    kept = api(users.ADMIN).request("GET", "/keys").json()["keys"]
    assert subject not in [each["name"] for each in kept]


def test_an_administrator_sees_usage_and_health(open_page: Opened, look: Look, api: Api) -> None:
    api(users.READER).query("How often are the coffee boilers descaled?")
    page = open_page("admin", "#/admin")
    page.get_by_role("radio", name="Usage and cost").click()
    expect(page.get_by_role("row", name=re.compile("^Total"))).to_be_visible()
    look(page, "usage")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.path().read_text(encoding="utf-8").startswith("key,questions,")
    page.get_by_label("Group by").select_option("user")
    expect(page.get_by_role("row", name=re.compile("Reading documents"))).to_be_visible()
    page.get_by_role("radio", name="Usage and cost").press("ArrowRight")
    expect(page.get_by_text("Vector index")).to_be_visible()
    look(page, "health")


@pytest.mark.parametrize(
    ("role", "places"),
    [
        ("reader", ["Documents"]),
        ("agent", ["Documents", "Queue"]),
        ("editor", ["Documents", "Queue", "FAQs", "Unanswered", "Feedback"]),
        ("admin", ["Documents", "Queue", "FAQs", "Unanswered", "Feedback", "Administration"]),
    ],
)
def test_each_role_is_shown_its_places_only(open_page: Opened, role: str, places: list[str]) -> None:
    page = open_page(role)
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    expect(links).to_have_text(["New chat", *places])
