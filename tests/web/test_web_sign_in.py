"""Signing in on the laptop: PKCE against the emulated Cognito, each role, a wrong password, sign-out."""

import pytest
from playwright.sync_api import expect

from local.stack import users
from tests.web.conftest import Heard, Opened


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
