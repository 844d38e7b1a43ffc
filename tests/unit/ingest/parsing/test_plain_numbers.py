"""Sections in the text's own print that only their numbers tell."""

from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.wire import Header, Line, RawPage
from tests.support.made_pages import line, prose

NAMES = ["1. Plums", "2. Pears", "2.1 Winter Pears", "2.2 Summer Pears", "3. Figs"]


def page_of(names: list[str], *, room: float = 14, step: float = 0) -> RawPage:
    """Return a page of these names, each above prose, with room around them."""
    lines: list[Line] = []
    y = 20.0
    for at, name in enumerate(names):
        lines += [line(name, y, x0=50 + step * at, x1=50 + 5 * len(name)), *prose(y + 10 + room)]
        y += 10 + room + 48 + room
    return RawPage(2, "", 600, 800, lines)


def sections(*pages: RawPage) -> list[str]:
    """Return the paths of the headings of a document of these pages."""
    found = Headings(Header(len(pages) + 1))
    for page in pages:
        found.learn(page)
    return [heading.path for page in pages for heading in found.of(page)]


def test_names_with_numbers_that_count_are_sections() -> None:
    assert sections(page_of(NAMES)) == [
        "1. Plums",
        "2. Pears",
        "2. Pears > 2.1 Winter Pears",
        "2. Pears > 2.2 Summer Pears",
        "3. Figs",
    ]


def test_names_without_room_around_them_are_text() -> None:
    assert sections(page_of(NAMES, room=2)) == []


def test_numbers_that_do_not_count_tell_no_sections() -> None:
    assert sections(page_of(["1.5 Litres", "3.2 Litres", "2.4 Litres", "7.1 Litres", "2.2 Litres"])) == []


def test_a_list_without_numbers_within_others_is_none_of_sections() -> None:
    assert sections(page_of(["1. Plums", "2. Pears", "3. Figs", "4. Nuts", "5. Limes"])) == []


def test_few_names_tell_no_sections() -> None:
    assert sections(page_of(NAMES[:3])) == []


def test_sentences_with_numbers_are_no_sections() -> None:
    assert sections(page_of([f"{name} are sold." for name in NAMES])) == []
    assert sections(page_of([name.lower() for name in NAMES])) == []


def test_an_item_of_a_list_is_no_section_of_a_document_that_has_such() -> None:
    """A number alone counts where text stands below it: short lines below each other are a list."""
    items = RawPage(3, "", 600, 800, [line(f"{n}. Wash", 20 + 30 * n, x1=100) for n in (1, 2, 3)])
    assert sections(page_of(NAMES), items)[len(NAMES) :] == []
