"""Links, images and markup are removed, whatever they are wrapped in; what a source holds may stay."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.sanitizing import SourceTexts, cleaned, plain_name, without_markers

NOTHING = SourceTexts([])
HOST = "evil.example"
URL = f"https://{HOST}/x?q=1"


@pytest.mark.parametrize(
    "vector",
    [
        f"![a]({URL})", f"![]({URL})", f"[a]({URL})", f"<{URL}>", URL, f"[a][1]\n\n[1]: {URL}",
        f"[a]\n[a]: {URL} 'title'",
        f'<img src="{URL}">', f"<img src={URL}", f'<a href="{URL}">x</a>', f"<script src='{URL}'></script>",
        f"//{HOST}/a",
        f"{HOST}/a", f"{HOST}:80/a", f"www.{HOST}", f"mail@{HOST}", f"ht\u200btps://{HOST}/x",
        f"ｈｔｔｐｓ：／／{HOST}／x",
        f"[a](<{URL}>)", f'[a]( {URL} "t" )', f"[![a]({URL})]({URL})", f"![![a]({URL})]({URL})",
        f"<svg onload=\"f('{URL}')\">",
        f"[^1]: {URL}", f"ftp://{HOST}/x", f"<!-- {URL} -->", f"hxxps://{HOST}", f"https:\\\\{HOST}\\x",
        f"{HOST.replace('.', '。')}/a", "evil.рф/x", "evil.shop", "[a](java\tscript:alert(1))", "[a](vb script:x)",
        "203.0.113.7/x",
        "[a](javascript:alert(1))", "[a](data:text/html,x)", "data:image/png;base64,AAAA", "javascript:alert(1)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "Read {} now.", "It is so ({}).", "**{}**", "- {}\n- b"])
def test_addresses_images_and_markup_of_no_source_are_removed(vector: str, frame: str):
    clean = cleaned(frame.format(vector), NOTHING)
    assert HOST not in clean.text
    assert not re.search(r"!\[|\]\(|<[a-z!/]|https?:|javascript:|data:|203\.0", clean.text, re.IGNORECASE)
    assert clean.findings


def test_an_address_that_a_source_holds_stays_as_plain_text():
    sources = SourceTexts(["Write to help@city.gov or see https://city.gov/forms/a.pdf for more."])
    assert cleaned("See https://city.gov/forms/a.pdf.", sources).text == "See https://city.gov/forms/a.pdf."
    assert cleaned("See [the form](https://city.gov/forms/a.pdf).", sources).text == (
        "See the form (https://city.gov/forms/a.pdf)."
    )
    assert cleaned("Write to help@city.gov.", sources).findings == []


def test_an_address_broken_over_lines_is_still_the_sources():
    sources = SourceTexts(["It is at https://city.gov/\nforms/a.pdf today."])
    assert cleaned("https://city.gov/forms/a.pdf", sources).findings == []


def test_an_address_longer_than_the_sources_is_removed():
    sources = SourceTexts(["Log in at https://city.gov/log today."])
    for longer in ("https://city.gov/log?q=secret", "https://city.gov/log/secret", "https://sub.city.gov/log"):
        assert "city.gov" not in cleaned(longer, sources).text


def test_an_image_is_removed_even_if_a_source_holds_it():
    source = "![x](https://city.gov/a.png) <img src=x>"
    assert cleaned(source, SourceTexts([source])).text == ""


def test_harmless_markup_that_a_source_explains_stays():
    source = "Use the <b> tag for bold text, and a < b otherwise."
    assert cleaned(source, SourceTexts([source])).text == source


@pytest.mark.parametrize(
    "text",
    [
        "e.g. this",
        "Node.js and v1.2.3",
        "a.m. to p.m.",
        "Fig. 3.a",
        "U.S. firms",
        "x = y[i]",
        "JavaScript: a language",
        "終わり。次",
    ],
)
def test_what_only_looks_like_an_address_stays(text: str):
    assert cleaned(text, NOTHING).text == text


@pytest.mark.parametrize(
    "marker", ["[1]", "[ 12 ]", "[1, 2]", "[source 3]", "［4］", "【5】", "[\u200b6]", "[1-3]", "[^7]"]
)
def test_bracketed_numbers_of_the_writer_are_removed(marker: str):
    assert cleaned(f"It is so {marker}.", NOTHING).text == "It is so."


def test_a_sources_own_reference_cannot_be_taken_for_a_marker():
    assert (
        without_markers("As shown [3] and [4, 5], see a[i] and 【6】.") == "As shown (3) and (4, 5), see a[i] and (6)."
    )


@given(
    st.lists(
        st.sampled_from(["![", "](", ")", "[", "]", "<", ">", "https://", HOST, "/x", "a", " ", "\n", ":", "1"]),
        max_size=14,
    )
)
def test_no_arrangement_of_the_pieces_leaves_an_image_a_link_or_the_host_with_a_path(pieces: list[str]):
    text = cleaned("".join(pieces), NOTHING).text
    assert not re.search(r"!\[[^\]]*\]\(|\]\(\s*https?:|https?://\w|evil\.example/\w", text)
    assert cleaned(text, NOTHING).text == text


def test_what_a_browser_would_run_goes_with_its_content_in_any_case_and_over_lines():
    for text in ("One <script>\nrun()\n</script> two.", "One <STYLE>\n* {}</Style > two.", "One <Template>x"):
        clean = cleaned(text, NOTHING).text
        assert clean.startswith("One")
        assert not any(hidden in clean for hidden in ("run", "*", "x"))


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("ORBICO.COM, INC., Form 10-Q", "ORBICO.COM, INC., Form 10-Q"),
        ("orbico.com Ltd: report", "orbico.com Ltd: report"),
        ("See orbico.com for more", "See for more"),
        ("https://orbico.com, Inc", ", Inc"),
        ("orbico.com/pay?id=1 Inc", "Inc"),
        ("mail a@orbico.com, Inc", "mail , Inc"),
    ],
)
def test_a_company_may_be_called_like_its_site(title: str, shown: str):
    assert plain_name(title) == shown


@pytest.mark.parametrize("depth", [1, 3, 4, 9])
def test_markup_in_markup_leaves_nothing_that_a_browser_would_follow(depth: int):
    text = URL
    for _ in range(depth):
        text = f"![a]({text})"
    clean = cleaned(f"Look: {text} here.", NOTHING)
    assert not re.search(r"[\[\]<>!]|://", clean.text)
    assert clean.text.startswith("Look:")
    assert "image" in clean.findings
