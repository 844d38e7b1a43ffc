"""Headers and footers of short documents, and of long ones whose pages differ: what goes, and what stays."""

import pytest

from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.wire import Line, RawPage
from tests.support.made_pages import line

FRUITS = "apple", "pear", "plum", "quince", "cherry", "peach", "grape", "fig", "lemon", "date"


def page(number: int, *lines: Line, top: float = 80) -> RawPage:
    """Return a page with these lines, and text from `top` on."""
    text = [line(f"A {FRUITS[number]} grows here, and then {at} more.", top + 12 * at) for at in range(6)]
    return RawPage(number, "", 600, 800, sorted([*lines, *text], key=lambda one: one.y0))


def gone(*pages: RawPage) -> list[list[str]]:
    return [removed for _, removed in remove_running_lines(iter(pages), len(pages))]


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("Page 1 of 1", True),
        ("Seite 1 von 1", True),
        ("puslapis 1 iš 1", True),
        ("Fichier : Lettre sans titre Page 1 sur 1", True),
        ("Strona 1 / 1 - Jan Kowalski", True),
        ("Page 1 of 2", True),  # its own number alone
        ("Draft, page 1 of 2", False),  # a part of something else
        ("Invoice no. 4711 Page 1 of 1", False),  # its number may stand nowhere else
        ("12.05.2026 Seite 1 von 1", False),
        ("Add 1/1 to the page", False),
    ],
)
def test_what_says_that_a_page_is_the_only_one_goes(text: str, *, goes: bool) -> None:
    assert gone(page(1, line(text, 770))) == [[text] if goes else []]


def test_a_watermark_that_recurs_goes_and_one_that_does_not_stays() -> None:
    def marked(number: int, text: str) -> RawPage:
        return page(number, Line(text, 100, 300, 500, 420, 40, True, cells=0))

    assert gone(*(marked(at, "SAMPLE") for at in range(1, 6))) == [["SAMPLE"]] * 5
    assert gone(*(marked(at, f"Plan of the {FRUITS[at]} garden") for at in range(1, 6))) == [[]] * 5
    assert gone(marked(1, "SAMPLE"), page(2), page(3)) == [[], [], []]


def test_what_a_browser_prints_around_a_page_goes() -> None:
    def printed(top: str, *bottom: str) -> list[str]:
        row = [line(text, 780, x0=50 + 400 * at, x1=200 + 300 * at) for at, text in enumerate(bottom)]
        return gone(page(1, line(top, 20), *row))[0]

    top = "29.11.26, 13:55 All about plums"
    assert printed(top, "https://fruit.example/plums", "1/1") == [top, "https://fruit.example/plums", "1/1"]
    assert printed("All about plums https://fruit.example/", "1 of 1", "11/29/26, 1:55 PM") == [
        "All about plums https://fruit.example/",
        "1 of 1",
        "11/29/26, 1:55 PM",
    ]
    assert printed("All about plums", "https://fruit.example/plums", "1/1") == ["https://fruit.example/plums", "1/1"]
    assert printed(top, "https://fruit.example/plums") == []
    assert printed(top, "https://fruit.example/plums", "1/2") == ["1/2"]  # its own number alone


def test_what_two_pages_have_in_small_print_stays_on_the_first() -> None:
    feet = [
        line("Orchard Ltd, bank 12 34 56", 770, x1=300, size=8),
        line("Call us any day", 770, x0=350, x1=450, size=8),
    ]
    texts = [one.text for one in feet]
    assert gone(page(1, *feet), page(2, *feet)) == [[], texts]
    larger = [line(one.text, one.y0, x0=one.x0, x1=one.x1) for one in feet]
    assert gone(page(1, *larger), page(2, *larger)) == [[], []]  # in the print of the text: too few pages to tell
    parted = line("Plum Pension Member no. 40718", 30, x1=550)
    assert gone(page(1, line("A letter", 60)), page(2, parted), page(3, parted)) == [[], [], [parted.text]]


def test_a_footer_of_two_pages_has_their_numbers() -> None:
    feet = [line(f"Staff handbook - page {number}", 770) for number in (1, 2)]
    assert gone(page(1, feet[0]), page(2, feet[1])) == [[feet[0].text], [feet[1].text]]
    heads = [line(f"Exercise {number}", 30) for number in (1, 2)]
    assert gone(page(1, heads[0]), page(2, heads[1])) == [[], []]


def test_pages_on_which_chapters_begin_lower_have_no_say_about_headers() -> None:
    names = {2: "Chapter 1. Fruit", 3: "Chapter 1. Fruit", 6: "Chapter 2. Nuts"}
    pages = [page(at, line(names[at], 40)) if at in names else page(at, top=300) for at in range(1, 9)]
    assert gone(*pages)[1:3] == [["Chapter 1. Fruit"], ["Chapter 1. Fruit"]]
    others = [page(at, line(names[at], 40)) if at in names else page(at, top=90) for at in range(1, 9)]
    assert gone(*others)[1:3] == [[], []]


def test_a_header_is_no_larger_than_the_text_of_pages_around_a_listing() -> None:
    def listing(number: int) -> RawPage:
        code = [line(f"{FRUITS[number]} = {at};", 80 + 10 * at, size=8) for at in range(20)]
        return RawPage(number, "", 600, 800, [line(f"the code {number}", 40, x0=340, x1=430), *code])

    heads = [line(f"{FRUITS[at]} and more {at}", 40, x0=340, x1=430) for at in range(6)]
    pages = [page(at, heads[at]) if at != 4 else listing(4) for at in range(1, 6)]
    assert gone(*pages)[3] == ["the code 4"]


@pytest.mark.parametrize(
    ("text", "goes"), [("ii", True), ("- ii -", True), ("iii", False), ("II", False), ("t2", False)]
)
def test_a_small_roman_number_is_that_of_its_page(text: str, *, goes: bool) -> None:
    assert gone(page(1), page(2, line(text, 40))) == [[], [text] if goes else []]


def test_a_header_in_two_lines_may_repeat_the_title_below_it() -> None:
    def with_title(number: int, head: str) -> RawPage:
        name = f"On {FRUITS[number]} trees"
        lines = (
            line(head, 20, size=8),
            line(name, 40, size=8),
            line(name, 90, size=14, bold=True),
        )
        return page(number, *lines, top=130)

    found = gone(*[with_title(number, "The fruit book") for number in range(1, 7)])
    assert found == [["The fruit book", f"On {FRUITS[number]} trees"] for number in range(1, 7)]
    assert gone(with_title(1, "A line of its own")) == [[]]


def test_a_long_line_that_is_the_same_on_each_page_goes_but_for_the_first() -> None:
    long = f"Printed for Ann Lee on 1 May. Not for distribution. {'All rights are reserved by the growers. ' * 4}"
    below = [line("Growers' guide", 40), line("Fruit trees", 56)]
    found = gone(*(page(at, line(long, 20), *below) for at in range(1, 8)))
    assert [len(texts) for texts in found] == [2, 3, 3, 3, 3, 3, 3]
    assert gone(*(page(at, line(f"{long}{FRUITS[at]}", 20)) for at in range(1, 8))) == [[]] * 7


def test_a_line_tightly_above_a_footer_goes_where_a_page_before_has_it_there() -> None:
    def form(number: int, above: str) -> RawPage:
        rows = [line(above, 752, x1=350), line(f"Page {number} of 2", 752, x0=450), line("Revised in May", 764)]
        return page(number, *rows, top=667 if number == 2 else 80)

    assert gone(form(1, "Form 7: Request"), form(2, "Form 7: Request"))[1] == [
        "Form 7: Request", "Page 2 of 2", "Revised in May",
    ]  # fmt: skip
    assert "Form 8: Reply" not in gone(form(1, "Form 7: Request"), form(2, "Form 8: Reply"))[1]


@pytest.mark.parametrize(
    ("text", "size", "goes"),
    [
        ("Week {}", 14, False),
        ("{0} Chapter {0}", 14, False),
        ("Week {}", 10, True),
        ("Page {}", 14, True),
        ("Course handbook {}", 14, True),
    ],
)
def test_a_word_in_large_print_with_a_number_of_its_own_is_what_a_page_is_called(
    text: str, size: float, goes: bool
) -> None:
    heads = [line(text.format(at), 20, size=size) for at in range(1, 9)]
    assert gone(*(page(at, head) for at, head in enumerate(heads, 1)))[3] == ([heads[3].text] if goes else [])


def test_the_title_of_a_slide_in_several_parts_stays_and_a_page_number_goes() -> None:
    def slides(size: float, first: int) -> list[list[str]]:
        heads = [line(f"Planting – {at + first}/9", 20, size=size) for at in range(1, 9)]
        return gone(*(page(at, head) for at, head in enumerate(heads, 1)))

    assert slides(14, 2) == [[]] * 8
    assert slides(14, 0)[1] == ["Planting – 2/9"]
    assert slides(10, 2)[1] == ["Planting – 4/9"]


@pytest.mark.parametrize(("title", "goes"), [("3.5. On plums", True), ("On plums", True), ("All on plums", False)])
def test_a_header_repeats_the_title_below_it_without_its_number(title: str, goes: bool) -> None:
    header = Line("On plums", 350, 30, 400, 40, 10)
    text = [line(f"plums of the hill {name}", 80 + 12 * at) for at, name in enumerate("abcd")]
    below = Line(title, 50, 200, 200, 214, 14)
    assert ("On plums" in gone(page(1, header, *text, below, line("plums are ripe", 240)))[0]) is goes
