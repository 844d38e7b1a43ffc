"""How far apart, how large and how long: where lines stop to be one paragraph, cells one row, rows one table."""

from collections.abc import Callable

import pytest

from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.reflow import reflow
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.titles import Beginning, title_of
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Header, Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN, Style, Word
from tests.support.limits import limit_of
from tests.support.made_pages import (
    BODY,
    FRUIT,
    PAGE,
    Piece,
    balance,
    figures,
    in_one_line,
    laid_out,
    lay_out,
    line,
    texts,
    words_of,
)

# --- Paragraphs: lines 12 points apart, in print of 10 points ---------------------------------------------------------

OPEN = "it goes on here"


def filled(y: float = 20, count: int = 3) -> list[Line]:
    return [line(f"words {'abc'[at]} of a paragraph that go on and fill this line", y + 12 * at) for at in range(count)]


OPENS = line("A sentence begins here that goes on", 44)


def are_one(above: Line, below: Line, *others: Line) -> bool:
    found = texts(*filled(above.y0 - 36), above, below, *others)
    return any(above.text.rstrip(SOFT_HYPHEN) in text and below.text in text for text in found)


def entry(text: str, y: float, x0: float = 62, x1: float = 150) -> Line:
    return line(text, y, x0=x0, x1=x1)


MARKED = line("• Wash the fruit", 20, x1=150)
FULL_ITEM = line("• Wash the fruit and cut it", 20)
LAST_ITEM = line("• Boil it.", 200)


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        # Room: 1.4 pitches and a point, 2.2 within a sentence; of tall print 1.4 times 0.9 of its height.
        (lambda d: are_one(line(OPEN, 100), line("And this is next", 100 + d)), 12, 40, 17.8),
        (lambda d: are_one(line(OPEN, 100), line("and this is next", 100 + d)), 12, 40, 26.4),
        (lambda d: are_one(Line(OPEN, 50, 100, 400, 130, 10, False), line("And so on", 100 + d)), 12, 60, 38.8),
        (lambda d: are_one(line("It ends here.", 100), line("And this is next", 100 - d)), 0, 10, 2.0),
        (lambda d: len(texts(OPENS, line("so it ends.", 56, x1=370), line("So it", 56 + d, x1=80))) == 1, 11, 17, 13.5),
        (lambda x: are_one(line("which ends it.", 56, x1=x), line("The next begins", 70, x1=150)), 350, 400, 377.5),
        # Print: a tenth smaller or an eighth larger; with another weight 0.4 points.
        (lambda s: are_one(line(OPEN, 100), line("And this is next", 112, size=s)), 10, 14, 11.2),
        (lambda s: are_one(line(OPEN, 100), line("And this is next", 112, size=s)), 6, 10, 9.0),
        (lambda s: are_one(line(OPEN, 100), line("And this is next", 112, size=s, bold=True)), 10, 14, 10.4),
        (lambda s: are_one(line(OPEN, 100), line("and this is next", 112, size=s, bold=True)), 6, 10, 9.6),
        (lambda s: are_one(line("com" + SOFT_HYPHEN, 100), line("Ment", 112, size=s)), 10, 12, 10.5),
        (lambda s: are_one(line("com" + SOFT_HYPHEN, 100), line("Ment", 100 - s)), -12, 12, 2.0),
        # Edges: a line is full from 0.12 of its width on; indents of 0.8 to 6 sizes, outdents of 1.5.
        (lambda x: are_one(line(OPEN, 100, x1=x), line("And this is next", 112)), 250, 400, 358.0),
        (lambda x: are_one(line("It goes on.", 100), line("And this is next", 112, x0=50 + x)), 0, 40, 8.0),
        (lambda x: are_one(line("It goes on.", 100), line("And this is next", 112, x0=50 + x, x1=600)), 12, 100, 60.0),
        (lambda x: are_one(line(OPEN, 100, x0=80, x1=250), line("and this is next", 112, x0=80 - x)), 0, 29, 15.0),
        (lambda y: are_one(line("A short", 56, x1=120), line("august on its right", y, x0=130)), 56, 68, 63.0),
        (lambda g: are_one(line("Of a", 100, x0=150, x1=350), line("Title", 117, x0=150 - g, x1=350 + g)), 0, 80, 20.0),
        # Items: what is not full goes on under its text, not at the edge of its mark.
        (lambda x: len(texts(MARKED, line("Cut it", 32, x0=50 + x, x1=150), LAST_ITEM)) == 3, 0, 40, 4.0),
        (lambda x: len(texts(MARKED, entry("and it", 32), entry("Peel", 44, 62 - x), LAST_ITEM)) == 2, 0, 30, 4.0),
        (lambda d: len(texts(MARKED, entry("and it", 32), entry("Peel", 32 + d), LAST_ITEM)) == 2, 8, 60, 13.5),
        (lambda d: len(texts(FULL_ITEM, entry("well enough", 20 + d), LAST_ITEM)) == 2, 8, 60, 40.0),
        (lambda d: len(texts(MARKED, entry("cut it.", 32), entry("Peel", 32 + d), LAST_ITEM)) == 2, 9, 60, 13.5),
        (lambda x: len(texts(MARKED, entry("cut it.", 32), entry("Peel", 44, 62 + x), LAST_ITEM)) == 2, 0, 30, 8.0),
    ],
)  # fmt: skip
def test_lines_are_one_paragraph_up_to_a_distance(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


def captions(length: int) -> str:
    above = [line("w" * length, 20), *filled(60, 0)]
    rows = [
        Line(text, 50, 100 + 12 * at, 500, 110 + 12 * at, 10, cells=2, column=1)
        for at, text in enumerate(("Item | 2022", "Cash | 5", "Loans | 6"))
    ]
    return reflow(RawPage(1, "", 600, 800, above + rows), [], Vocabulary())[-1].header


def test_a_caption_has_two_hundred_characters_at_most() -> None:
    assert captions(200) == f"{'w' * 200}\nItem | 2022"
    assert captions(201) == "Item | 2022"


def kinds(*lines: Line) -> list[str]:
    return [part.kind for part in reflow(RawPage(1, "", 600, 800, list(lines)), [], Vocabulary())]


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        # A single line of code has more than 1.2 pitches of room around it, a piece of code not 0.8 sizes or less.
        (lambda d: "code" in kinds(*filled(20), mono("run", 44 + d), *filled(80 + d, 2)), 12, 30, 14.4),
        (lambda d: "code" in kinds(*filled(20), mono("run", 74), *filled(74 + d, 3)), 12, 30, 14.4),
        (lambda x: "code" in kinds(*filled(20), mono("run", 56, 50 + x), mono("it", 68, 50 + x)), 0, 20, 8.0),
        (lambda d: "code" in kinds(*filled(20), mono("run", 44 + d), mono("it", 56 + d)), 12, 30, 17.8),
    ],
)  # fmt: skip
def test_fixed_pitch_is_code_where_it_stands_apart(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


def mono(text: str, y: float, x0: float = 50) -> Line:
    return Line(text, x0, y, x0 + 6 * len(text), y + 10, 10, mono=True)


# --- Cells, rows and tables, in print of 10 points --------------------------------------------------------------------


CASH = figures(700, "Cash", "1,204", "998")


def one_line(*parts: tuple[float, str], style: Style = BODY) -> str:
    return lay_out(words_of(balance(724)) + in_one_line(700, *parts, style=style), PAGE)[2].text


def columns(*pieces: Piece) -> list[int]:
    return [each.column for each in laid_out(*pieces)]


def are_one_table(*pieces: Piece) -> bool:
    return len({*columns(*pieces)} - {0}) == 1


def words(second: float, text: str = "epsilon") -> bool:
    """Whether two rows of words are a table whose second column's words begin there."""
    return columns((50, 700, "alpha"), (200, 700, "betagamma"), (50, 688, "delta"), (second, 688, text))[0] > 0


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        (lambda x: one_line((50, "ab"), (60 + x, "cd"), (395, "1")).startswith("ab cd"), 1, 20, 11.5),
        (lambda x: one_line((50, "alpha"), (75 + x, "beta"), (395, "1")).startswith("alpha beta"), 1, 30, 4.0),
        (lambda x: " 5 | 7" in one_line((50, "alpha"), (200, "5"), (205 + x, "7")), 1, 30, 7.0),
        (lambda x: columns(*balance(), (375 + x, 664, "1,161"))[-1] > 0, 0, 30, 3.0),
        (lambda x: columns(*balance(), (375 - x, 664, "1,161"))[-1] > 0, 0, 30, 3.0),
        (lambda s: are_one_table(*balance(), (50, 664, "Title", Style(size=s)), *balance(640)), 10, 14, 11.5),
        (lambda n: are_one_table(*balance(), (50, 676, "Item"), (260, 676, "x" * int(n) + " 2022"), *balance(664)),
            3, 90, 56),
        (lambda n: are_one_table(*balance(), (50, 676, "y" * int(n)), *balance(664)), 3, 90, 46),
        (lambda d: words(200 + d, "x" * 30), 0, 10, 3.0),
        (lambda d: words(200 + d), 0, 30, 13.0),  # the right edges
        (lambda d: are_one_table(*CASH, *figures(700 - d, "Gold", "9", "8")), 12, 80, 40),
    ],
)  # fmt: skip
def test_cells_and_rows_belong_together_up_to_a_distance(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


# --- Lines of words, in print of 10 points ----------------------------------------------------------------------------


def word(text: str, x: float, y: float = 500, ends: str = "\n") -> Word:
    return Word(text, x, y, x + 5 * len(text), y + 10, Style(size=10), ends)


def lines(*written: Word) -> list[str]:
    """The texts of lines below two others, in the order in which they are written."""
    above = [word("some", 50, 600, ""), word("words", 75, 600), word("and", 50, 588, ""), word("others", 70, 588)]
    return [each.text for each in lay_out([*above, *written], PAGE)][2:]


def items(count: int) -> list[Word]:
    return [word(f"item{at}", 90, 500 - 12 * at) for at in range(count)]


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        # What is written after an end of line goes on in it, beside it and with half of it at its height.
        (lambda d: lines(word("ab", 50), word("cd", 65, 500 - d)) == ["ab cd"], 0, 10, 5.0),
        (lambda d: lines(word("ab", 50), word("cd", 60 + d)) == ["ab cd"], 0, 30, 11.5),
        (lambda d: lines(word("ab", 50), word("cd", 60 - d)) == ["ab cd"], 0, 30, 3.0),
        # Without one it ends where the next word is a line higher or lower, or lower and on its left.
        (lambda d: lines(word("ab", 50, 500, ""), word("cd", 63, 500 + d)) == ["ab cd"], 0, 40, 20.0),
        (lambda d: lines(word("ab", 50, 500, ""), word("cd", 63, 500 - d)) == ["ab cd"], 0, 40, 20.0),
        (lambda d: lines(word("ab", 80, 500, ""), word("cd", 50, 500 - d)) == ["ab cd"], 0, 40, 9.0),
        # A mark written late stands before its item, three sizes from it at most, and among the last twelve rows.
        (lambda d: lines(word("ab", 90), word("1.", 80 - d)) == ["1. ab"], 0, 40, 30.0),
        (lambda d: lines(word("ab", 90), word("1.", 80 + d)) == ["1. ab"], 0, 20, 3.0),
        (lambda d: lines(word("ab", 90), word("1.", 70, 500 - d)) == ["1. ab"], 0, 10, 5.0),
        (lambda n: lines(*items(round(n)), word("1.", 70))[0] == "1. item0", 1, 20, 12.5),
        (lambda d: lines(word("•", 50), word("ab", 55 + d)) == ["• ab"], 0, 100, 60.0),
    ],
)  # fmt: skip
def test_words_are_one_line_up_to_a_distance(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


# --- Headings, above prose in print of 10 points ----------------------------------------------------------------------


def paths(*lines: Line, number: int = 2, title: str = "") -> list[str]:
    page = RawPage(number, "", 600, 800, list(lines))
    found = Headings(Header(number))
    found.title = title
    found.learn(page)
    return [heading.path for heading in found.of(page)]


def prose(y: float, count: int = 5, size: float = 10, text: str = "The line of quite ordinary words") -> list[Line]:
    return [line(text, y + 12 * at, size=size) for at in range(count)]


def title(text: str, y: float, size: float = 10, x0: float = 50, *, bold: bool = False, apart: bool = False) -> Line:
    return Line(text, x0, y, x0 + 0.5 * size * len(text), y + size, size, bold, apart=apart)


def is_heading(line: Line, *below: Line) -> bool:
    return bool(paths(*prose(20), line, *(below or prose(line.y1 + 8))))


def sentence(length: float, end: str = "") -> str:
    return ("Plums " * 30)[: round(length) - len(end)].rstrip().ljust(round(length) - len(end), "x") + end


def row(text: str, y: float) -> Line:
    return Line(text, 50, y, 400, y + 10, 10, cells=2, column=1)


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        (lambda s: is_heading(title("Stone fruit", 100, s)), 10, 13, 11.2),
        (lambda s: is_heading(title("Stone fruit", 100, s, bold=True)), 8, 10, 9.75),
        # Length: 120 characters, 60 with a full stop in large print, 90 in bold, 240 of an item.
        (lambda n: is_heading(title(sentence(n), 100, 16)), 100, 140, 120.5),
        (lambda n: is_heading(title(sentence(n, "."), 100, 16)), 40, 80, 60.5),
        (lambda n: is_heading(title(sentence(n), 100, bold=True), *prose(180)), 60, 110, 90.5),
        (lambda n: is_heading(title(f"Item 7. {sentence(n - 8)}", 100, bold=True), *prose(180)), 60, 130, 120.5),
        (lambda n: is_heading(title(f"Plums {'of ' * round(n)}pears:", 100, bold=True), *prose(180)), 1, 20, 11.5),
        # Capitals: eight letters, which are 0.7 of the characters.
        (lambda n: is_heading(title("A" * round(n), 100), *prose(122)), 3, 12, 7.5),
        (lambda n: is_heading(title("AAAAAAAAAAAAAA" + "1" * round(n), 100), *prose(122)), 1, 12, 6.5),
        # Room above: a quarter of its height beyond the usual two points.
        (lambda d: is_heading(title("Foreign exchange", 78 + d, apart=True), *prose(120)), 1, 12, 4.5),
        (lambda d: is_heading(title("Plums and pears:", 78 + d, bold=True), *prose(120)), 1, 12, 4.5),
        # Second lines: 1.7 sizes below, in print that differs by less than 0.3 points.
        (lambda d: len(paths(*prose(20), title("On the", 100, 16), title("Fruit", 100 + d, 16), *prose(200))) == 1,
            16, 40, 27.2),
        (lambda s: len(paths(*prose(20), title("On the", 100, 16), title("Fruit", 118, s), *prose(200))) == 1, 16, 18,
            16.3),
        # Above a table: its labels' name stands 0.6 heights above it at most, and half a size beside its edge.
        (lambda d: is_heading(title("Stone fruit", 100, bold=True), *(row("Plum | 5", 110 + d + 12 * n)
            for n in range(3))), 1, 20, 6.0),
        (lambda x: is_heading(title("Stone fruit", 100, x0=50 + x, bold=True), *(row("Plum | 5", 112 + 12 * n)
            for n in range(3))), 0, 20, 5.0),
    ],
)  # fmt: skip
def test_a_line_is_a_heading_up_to_a_limit(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


# --- Running lines, on pages of 600 by 800 points ---------------------------------------------------------------------


def is_removed(y: float, text: str = "A Book of Fruit", at: int = -1) -> bool:
    """Whether a line that stands there on each page is removed from the last, or another one."""

    def page(number: int) -> RawPage:
        body = [line(f"All about {FRUIT[number % 12]} and more of {at}.", 200 + 30 * at) for at in range(4)]
        return RawPage(number, "", 600, 800, [line(text, y), *body])

    return bool([removed for _, removed in remove_running_lines(map(page, range(1, 13)))][at])


def note_moves(y: float, size: float = 7, text: str = "1 A note on it.") -> bool:
    left = [line("It ends here.", y - 40, x1=280), line(text, y, x1=280, size=size)]
    found = footnotes_last([*left, line("Next column.", 80, x0=320, x1=550)], 10, 800)
    return found[-1].text == text


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        (lambda y: is_removed(y), 30, 150, 118.0),  # within 0.16 of the page's height from its edge
        (lambda y: is_removed(y), 500, 700, 672.0),
        (lambda n: is_removed(30, "x" * round(n), 0), 100, 200, 160.5),  # a longer one stays where it is the first
        (lambda y: note_moves(y), 300, 700, 400.0),  # in the lower half of the page
        (lambda s: note_moves(640, s), 7, 10, 9.3),  # in print that is 0.93 of the body's
    ],
)  # fmt: skip
def test_a_line_runs_at_the_edges_of_pages_up_to_a_limit(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)


# --- Titles -----------------------------------------------------------------------------------------------------------


def titled(*cover: Line) -> str:
    body = [line("The line of quite ordinary words", 300 + 12 * at) for at in range(5)]
    return title_of(Beginning("scan_17.pdf", "", [[*cover, *body]], [], 10.0, Vocabulary()), None)


LAMPS = title("Lamps of the whole coast", 50, 16)


def of_lines(count: int) -> int:
    return titled(*(title(f"Lamps {at} of it", 50 + 18 * at, 16) for at in range(count))).count("of")


@pytest.mark.parametrize(
    ("holds", "low", "high", "limit"),
    [
        (lambda s: titled(title("Lamps of the coast", 50, s)) == "Lamps of the coast", 10, 14, 11.5),
        (lambda s: titled(LAMPS, title("And bells", 70, s)).endswith("bells"), 15, 16, 15.7),
        (lambda d: titled(LAMPS, title("And bells", 50 + d, 16)).endswith("bells"), 16, 60, 35.2),
        (lambda n: of_lines(round(n)) == round(n), 1, 6, 4.5),
    ],
)  # fmt: skip
def test_a_title_is_made_of_the_largest_lines_up_to_a_limit(
    holds: Callable[[float], bool], low: float, high: float, limit: float
) -> None:
    assert limit_of(holds, low, high) == pytest.approx(limit, abs=0.011)
