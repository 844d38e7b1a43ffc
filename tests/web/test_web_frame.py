"""The frame: addresses, a session that ends, conversations, connection, phone width, theme and language."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.waiting import until
from tests.web.conftest import Heard, Look, Opened, close_message, sign_in


@pytest.fixture(scope="module")
def reader(laptop: Laptop) -> Iterator[ApiClient]:
    """The API as the reader."""
    with laptop.client(users.READER, streaming=True) as client:
        yield client


@pytest.fixture
def conversation(reader: ApiClient) -> str:
    """A conversation of the reader's, called "Thanks!"; its id."""
    return str(reader.query("Thanks!")["conversation_id"])


def end_the_session(page: Page, heard: Heard) -> None:
    """From here on the API takes no token that the page has, and the provider gives none for its refresh token."""
    heard.expected += ["401", "400"]
    state = {"over": True}

    def answer_token(route: Route) -> None:
        if "grant_type=refresh_token" in (route.request.post_data or ""):
            route.fulfill(status=400, json={"error": "invalid_grant"})
        else:
            state["over"] = False
            route.continue_()

    def answer_call(route: Route) -> None:
        if state["over"]:
            route.fulfill(status=401, json={"code": "not_authenticated"})
        else:
            route.continue_()

    page.route("**/sign-in/token", answer_token)
    page.route(re.compile(r"/(query|conversations)\b"), answer_call)


def sign_in_again(page: Page) -> None:
    """Sign in as the reader in the window that the page opens for it."""
    dialog = page.get_by_role("dialog", name="Your session has ended")
    with page.context.expect_page() as opened:
        dialog.get_by_role("button", name="Sign in").click()
    window = opened.value
    with window.expect_event("close"):
        window.get_by_role("button", name=users.READER.name).click()
    expect(dialog).to_have_count(0)


def test_an_address_within_the_page_survives_signing_in(open_page: Opened) -> None:
    page = open_page(None, "#/documents")
    sign_in(page, "reader")
    expect(page.get_by_role("heading", name="Documents", level=1)).to_be_visible()
    assert page.url.endswith("/#/documents")


def test_a_session_that_ends_takes_nothing_that_was_typed(open_page: Opened, heard: Heard, look: Look) -> None:
    page = open_page("reader")
    box = page.get_by_role("textbox", name="Question")
    box.fill("How often are the boilers")
    end_the_session(page, heard)
    page.get_by_role("searchbox", name="Search conversations").fill("xylophone")
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()
    look(page, "session-ended")
    sign_in_again(page)
    expect(box).to_have_value("How often are the boilers")
    expect(page.get_by_text("No conversation is called “xylophone”.")).to_be_visible()


def test_a_question_asked_when_the_session_has_ended_is_answered_after_signing_in(
    open_page: Opened, heard: Heard
) -> None:
    page = open_page("reader")
    end_the_session(page, heard)
    page.get_by_role("textbox", name="Question").fill("Thank you!")
    page.keyboard.press("Enter")
    sign_in_again(page)
    expect(page).to_have_url(re.compile(r"#/c/\w+"))
    expect(page.get_by_role("main")).to_contain_text("Thank you!")


def test_what_is_typed_survives_a_reload_but_not_signing_out(open_page: Opened) -> None:
    page = open_page("reader")
    box = page.get_by_role("textbox", name="Question")
    box.fill("Half a question")
    page.reload()
    expect(box).to_have_value("Half a question")
    page.get_by_role("button", name=f"Account: {users.READER.name}").click()
    page.route("**/logout?*", lambda route: route.fulfill(status=204))  # the page stays, to be looked at
    with page.expect_request("**/logout?*"):
        page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert page.evaluate("() => Object.keys(sessionStorage)") == []


def test_what_was_deleted_before_signing_out_is_gone(open_page: Opened, reader: ApiClient, conversation: str) -> None:
    reader.request("PATCH", f"/conversations/{conversation}", json={"title": "Medlar harvest"})
    page = open_page("reader")
    choose(page, "Medlar harvest", "Delete")
    expect(page.get_by_text("“Medlar harvest” is deleted.")).to_be_visible()
    page.get_by_role("button", name=f"Account: {users.READER.name}").click()
    page.get_by_role("menuitem", name="Sign out").click()
    path = f"/conversations/{conversation}"
    # The browser need not report the end of a request that outlives its page: the service is asked.
    until(lambda: reader.request("GET", path).status_code, lambda status: status == 404, what="the deletion")


def test_a_conversation_that_is_exported_in_pages_is_one_file(
    open_page: Opened, reader: ApiClient, conversation: str
) -> None:
    reader.request("PATCH", f"/conversations/{conversation}", json={"title": "Sorb harvest"})
    page = open_page("reader")
    pages = {
        "": {"title": "Sorb harvest", "messages": [{"content": "Thanks!"}], "next_cursor": "abc"},
        "abc": {"title": "Sorb harvest", "messages": [{"content": "Gladly."}], "next_cursor": ""},
    }

    def answer(route: Route) -> None:
        shown = pages[parse_qs(urlsplit(route.request.url).query).get("cursor", [""])[0]]
        more = {"x-next-cursor": str(shown["next_cursor"])} if shown["next_cursor"] else {}
        route.fulfill(json=shown, headers=more)

    page.route("**/export?*", answer)
    with page.expect_download() as got:
        choose(page, "Sorb harvest", "Export as JSON")
    exported = json.loads(Path(got.value.path()).read_text(encoding="utf-8"))
    assert [each["content"] for each in exported["messages"]] == ["Thanks!", "Gladly."]


def test_a_rating_that_is_not_taken_is_said_once(open_page: Opened, conversation: str, heard: Heard) -> None:
    heard.expected.append("503")
    page = open_page("reader", f"#/c/{conversation}")
    page.route("**/feedback", lambda route: route.fulfill(status=503, json={"code": "unavailable", "detail": "down"}))
    page.get_by_role("button", name="A good answer", exact=True).click()
    expect(page.get_by_text("does not answer at the moment")).to_be_visible()
    expect(page.get_by_role("button", name="A good answer", exact=True)).to_have_attribute("aria-pressed", "false")


def test_a_conversation_is_found_renamed_exported_and_deleted_with_undo(
    open_page: Opened, reader: ApiClient, conversation: str, look: Look, heard: Heard
) -> None:
    page = open_page("reader")
    link = page.locator(f"a[href='#/c/{conversation}']")
    choose(page, "Thanks!", "Rename")
    page.get_by_label("Title").fill("Quince harvest")
    look(page, "rename")
    page.keyboard.press("Enter")
    expect(link).to_have_text("Quince harvest")

    page.get_by_role("searchbox", name="Search conversations").fill("quin")
    expect(page.get_by_label("Conversations").get_by_role("listitem")).to_have_count(1)

    with page.expect_download() as got:
        choose(page, "Quince harvest", "Export as Markdown")
    assert got.value.suggested_filename == "Quince-harvest.md"
    assert "Quince harvest" in Path(got.value.path()).read_text(encoding="utf-8")

    choose(page, "Quince harvest", "Delete")
    expect(link).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(link).to_be_visible()

    link.click()
    with page.expect_response(lambda got: got.request.method == "DELETE") as deleted:
        choose(page, "Quince harvest", "Delete")
        expect(page).to_have_url(re.compile(r"#/$"))
        close_message(page, "“Quince harvest” is deleted.")
    assert deleted.value.status == 204
    heard.expected.append("404")
    page.goto(page.url.split("#")[0] + f"#/c/{conversation}")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("does not exist, or it is not yours")


def choose(page: Page, title: str, action: str) -> None:
    """Choose an action of a conversation's menu."""
    page.get_by_role("button", name=f"Options for “{title}”").first.click()
    page.get_by_role("menuitem", name=action).click()


@pytest.mark.parametrize("width", [1440, 1000])
def test_what_one_reads_stays_in_place_while_a_source_is_opened_and_closed(
    open_page: Opened, reader: ApiClient, samples: dict[str, str], width: int
) -> None:
    assert samples
    asked = "How often are the coffee boilers descaled?"
    conversation = reader.query(asked)["conversation_id"]
    reader.query(asked, conversation_id=conversation)
    page = open_page("reader", f"#/c/{conversation}", width=width, height=480)
    chip = page.get_by_role("article").last.get_by_role("button", name=re.compile("^Source 1")).first
    chip.scroll_into_view_if_needed()
    chip.focus()
    before = place_of(chip)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Source", exact=True)).to_be_visible()
    assert abs(place_of(chip)["top"] - before["top"]) < 2
    page.get_by_role("button", name="Close the source").click()
    expect(chip).to_be_focused()
    after = place_of(chip)
    assert abs(after["top"] - before["top"]) < 2
    assert abs(after["scrolled"] - before["scrolled"]) < 2
    assert before["scrolled"] > 0


def place_of(element: Locator) -> dict[str, float]:
    """Say how far down the window an element stands, and how far the view is scrolled, two frames from now.

    The page itself corrects its place in the two frames after a change.
    """
    place: dict[str, float] = element.evaluate("""async (it) => {
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return { top: it.getBoundingClientRect().top, scrolled: document.querySelector('main').scrollTop };
    }""")
    return place


def test_an_interruption_is_said_and_ends_by_itself(open_page: Opened, heard: Heard) -> None:
    heard.expected.append("ERR_INTERNET_DISCONNECTED")
    page = open_page("reader")
    page.wait_for_load_state("networkidle")  # an answer that is under way would say that the service is there
    page.context.set_offline(True)
    banner = page.get_by_text("The service cannot be reached.").first
    expect(banner).to_be_visible()
    page.context.set_offline(False)
    expect(banner).to_have_count(0)


def test_a_view_whose_code_could_not_be_fetched_is_there_after_another_try(open_page: Opened, heard: Heard) -> None:
    heard.expected += ["ERR_FAILED", "ERR_INTERNET_DISCONNECTED"]
    page = open_page("reader")
    page.get_by_role("textbox", name="Your question").fill("Not asked yet")
    code = re.compile(r"/assets/DocumentsView-.*\.js$")
    page.route(code, lambda route: route.abort())
    page.get_by_role("link", name="Documents", exact=True).click()
    notice = page.get_by_role("main").get_by_role("alert")
    expect(notice).to_contain_text("This part of the page could not be loaded.")
    page.unroute(code)
    page.context.set_offline(True)
    notice.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The service cannot be reached.").first).to_be_visible()
    expect(notice).to_be_visible()
    page.context.set_offline(False)
    notice.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    page.get_by_role("link", name="New chat").first.click()
    expect(page.get_by_role("textbox", name="Your question")).to_have_value("Not asked yet")


def test_what_takes_long_is_said(open_page: Opened) -> None:
    page = open_page("reader")
    held: list[Route] = []
    page.clock.install()
    page.route("**/conversations?*", lambda route: held.append(route))
    page.get_by_role("searchbox", name="Search conversations").fill("slow")
    page.clock.run_for(1_000)  # the pause after typing
    expect(page.get_by_role("searchbox")).to_have_value("slow")
    page.clock.run_for(7_000)
    said = page.get_by_text("This takes longer than usual.")
    expect(said).to_be_visible()
    for route in held:
        route.continue_()
    expect(said).to_have_count(0)


def test_a_failing_api_says_what_to_do_and_another_try_works(open_page: Opened, heard: Heard) -> None:
    heard.expected.append("503")
    page = open_page(None)
    fails = [True]
    problem = {"code": "unavailable", "request_id": "r-1"}

    def answer(route: Route) -> None:
        if fails:
            route.fulfill(status=503, json=problem)
        else:
            route.continue_()

    page.route("**/conversations?*", answer)
    sign_in(page, "reader")
    notice = page.get_by_label("Conversations").get_by_role("alert")
    expect(notice).to_contain_text("does not answer at the moment")
    expect(notice).to_contain_text("r-1")
    fails.clear()
    notice.get_by_role("button", name="Try again").click()
    expect(notice).to_have_count(0)


def test_a_phone_has_a_drawer_that_keys_close(open_page: Opened, look: Look) -> None:
    page = open_page(None, width=360, height=740)
    look(page, "start")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=users.READER.name).click()
    menu = page.get_by_role("button", name="Menu", exact=True)
    menu.press("Enter")
    expect(page.get_by_role("button", name="Close the menu").last).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    menu.click()
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents", level=1)).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)  # closed again


def test_language_and_appearance_are_kept(open_page: Opened) -> None:
    page = open_page("reader")
    account = page.locator("aside").get_by_role("button", name=users.READER.name)
    account.click()
    page.get_by_role("menuitemradio", name="Lietuvių").click()
    expect(page.get_by_role("link", name="Dokumentai")).to_be_visible()
    account.click()
    page.get_by_role("menuitemradio", name="Tamsi").click()
    page.reload()
    expect(page.get_by_role("link", name="Dokumentai")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "lt")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_address_that_leads_nowhere_says_so(open_page: Opened) -> None:
    page = open_page("reader", "#/attic")
    expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    page.get_by_role("link", name="To a new chat").click()
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()


def test_where_one_is_shows_in_forced_colours(open_page: Opened) -> None:
    page = open_page("editor", "#/documents", forced_colors="active")
    background = "(link) => getComputedStyle(link).backgroundColor"
    here, elsewhere = (page.get_by_role("link", name=name, exact=True) for name in ("Documents", "Queue"))
    expect(here).to_have_attribute("aria-current", "page")
    assert here.evaluate(background) != elsewhere.evaluate(background)
