"""Signing in on the laptop: PKCE against the emulated Cognito, each role, a wrong password, sign-out."""

import pytest
from playwright.sync_api import expect

from local.stack import users
from tests.support.answer_stream import AnswerStream
from tests.web.conftest import Heard, Opened, sign_in


@pytest.mark.parametrize("role", ["reader", "editor", "agent", "admin"])
def test_a_user_of_each_role_signs_in_and_stays_signed_in(open_page: Opened, role: str) -> None:
    page = open_page(role)
    page.reload()
    expect(page.get_by_role("navigation").first).to_be_visible()


def test_the_password_is_needed_where_it_is_typed(open_page: Opened, heard: Heard) -> None:
    page = open_page(None)
    heard.expected.append("401")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Somebody else").click()
    page.get_by_label("E-mail address").fill(users.DEMO.name)
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("wrong")


def test_what_was_typed_and_asked_stays_in_the_tab_for_the_same_user_only(open_page: Opened, heard: Heard) -> None:
    question = "How often are the coffee boilers descaled?"
    page = open_page(None)
    sign_in(page, "reader")
    stream = AnswerStream(page)
    box = page.get_by_role("textbox", name="Your question")
    box.fill(question)
    box.press("Enter")
    stream.waits()
    box.fill("Half a quest")
    heard.expected.append("400")
    over = {"id_token": "", "refresh_token": "no longer good", "expires_at": 0}

    def start_again(role: str) -> None:
        """Open the page after the session is over, and sign in."""
        page.evaluate(
            """(over) => {
          const kept = JSON.parse(sessionStorage["recto.tokens"]);
          sessionStorage["recto.tokens"] = JSON.stringify({ ...over, id_token: kept.id_token });
        }""",
            over,
        )
        page.reload()
        sign_in(page, role)

    start_again("reader")
    article = page.get_by_role("article", name=f"Answer to: {question}")
    expect(article).to_be_visible()
    expect(box).to_have_value("Half a quest")
    start_again("editor")
    expect(box).to_have_value("")
    expect(article).to_have_count(0)
    assert page.evaluate("(text) => JSON.stringify({ ...sessionStorage }).includes(text)", "coffee boilers") is False


def test_an_old_address_of_a_sign_in_leads_on_to_the_page(open_page: Opened, page_url: str) -> None:
    page = open_page(None)
    page.goto(f"{page_url}?code=old&state=none")
    page.get_by_role("link", name="Or open Recto here").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
