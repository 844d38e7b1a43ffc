"""What pdfium is asked for many things at a time is what it says of each alone."""

import ctypes
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pypdfium2_raw as raw
import pytest

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.letters import ends_in_mark, with_bullets, with_drawn_hyphens
from functions.ingest.parsing.page_objects import IDENTITY, MONO, Scene, _are_dark, _find_sizes, styles_of
from functions.ingest.parsing.words import SLANTING, Style, Word
from tests.support.pdfs import document, lines, text

ROWS = 40
"""Lines of a page: more words than are asked for at a time."""
RECTANGLES = b"1 1 1 rg 10 10 50 50 re f\n0 0 1 rg 100 20 30 40 re f\n0 0 0 RG 200 20 30 40 re S\n"
"""White, blue, and a frame that is not filled."""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[int]:
    path = tmp_path / "page.pdf"
    rows = [f"Row {i} has words of several lengths in it, and a last one." for i in range(ROWS)]
    path.write_bytes(document([RECTANGLES + lines(*rows)]))
    with PdfiumEngine(str(path)).loaded(1) as page:
        yield page


def test_boxes_of_many_characters_are_those_of_each(page: int) -> None:
    text = pdfium.load_text(page)
    indices = list(range(0, pdfium.count_characters(text), 2))
    assert len(indices) > 2 * pdfium.AT_A_TIME
    (pointer,) = pdfium.pointers_to([text])
    asked = pdfium.loose_boxes.of(indices, pointer)
    again = pdfium.loose_boxes.of(reversed(indices), pointer)
    for index, box, _ in zip(indices, asked, again, strict=True):  # two at the same time do not mix
        alone = pdfium.Rect()
        assert raw.FPDFText_GetLooseCharBox(ctypes.cast(text, raw.FPDF_TEXTPAGE), index, alone)
        assert box == (alone.left, alone.top, alone.right, alone.bottom)
    pdfium.close_text(text)


def test_what_pdfium_has_no_numbers_of_is_marked_as_missing(page: int) -> None:
    text = pdfium.load_text(page)
    count = pdfium.count_characters(text)
    (pointer,) = pdfium.pointers_to([text])
    first, none, last = pdfium.loose_boxes.of([0, count, count - 1], pointer)
    assert none == pdfium.NOWHERE != first != last
    pdfium.close_text(text)


def test_letters_of_words_in_many_objects_are_asked_for_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = "".join(f"({letter}) Tj " for letter in "pressure valve ")
    rows = [f"BT /F1 10 Tf 72 {720 - 14 * row} Td {letters * 5}ET\n".encode() for row in range(ROWS)]
    path = tmp_path / "page.pdf"
    path.write_bytes(document([b"".join(rows)]))
    asked = 0
    of = pdfium.Values.of

    def counted(self: pdfium.Values, things: Iterable[object], *before: object) -> Iterator[object]:
        nonlocal asked
        asked += 1
        return of(self, things, *before)

    monkeypatch.setattr(pdfium.Values, "of", counted)
    read = PdfiumEngine(str(path)).page(1)
    assert [line.text for line in read.lines] == [" ".join(["pressure valve"] * 5)] * ROWS
    assert asked < ROWS  # not for each of the 400 words


def test_only_paths_filled_with_a_colour_are_dark(page: int) -> None:
    scene = Scene(page, (0, 0, 612, 792))
    assert scene.coverage() == (0.0, 3)
    paths = [handle for _, handle, _ in scene._drawn]
    assert all(transform is IDENTITY for _, _, transform in scene._drawn)
    assert list(_are_dark(paths)) == [False, True, False]
    assert scene.dark_behind(110, 30)
    assert not scene.dark_behind(20, 20)
    assert scene.boxes(pdfium.PATH)[1] == pytest.approx((100, 792 - 60, 130, 792 - 20))


def test_objects_that_look_alike_share_a_style_and_a_word_without_one_has_a_plain_one(page: int) -> None:
    text = pdfium.load_text(page)
    (pointer,) = pdfium.pointers_to([text])
    handles = [pdfium.text_object(pointer, index) for index in range(pdfium.count_characters(text))]
    styles = styles_of([None, *handles])
    (plain, style) = {id(each): each for each in styles.values()}.values()
    assert (plain.size, plain.face) == (0, "")
    assert (style.size, style.face) == (10, "Helvetica")
    assert len(styles) >= ROWS
    pdfium.close_text(text)


def test_a_pointer_may_lie_anywhere_in_the_address_space() -> None:
    (pointer,) = pdfium.pointers_to([sys.maxsize])
    assert "0x7fffffffffffffff" in repr(pointer)


@pytest.mark.parametrize("others", [0, 400])
def test_rules_are_found_among_few_and_many_bands_of_colour(tmp_path: Path, others: int) -> None:
    bands = b"0 0 1 rg\n" + b"10 10 50 8 re f\n" * others
    rules = b"".join(b"100 %d 200 1 re f\n%d 100 1 90 re f\n" % (100 + 10 * at, 100 + 20 * at) for at in range(40))
    for content, count in ((bands, 0), (bands + rules, 40)):
        path = tmp_path / "page.pdf"
        path.write_bytes(document([content + lines("Words")]))
        with PdfiumEngine(str(path)).loaded(1) as page:
            scene = Scene(page, (0, 0, 612, 792))
            scene.coverage()
            found = scene.rules()
        assert (len(found.down) if found else 0) == count


def subset(lacking: str) -> bytes:
    """Widths of a font of fixed pitch without some characters."""
    return b"".join(b"1000 " if chr(code) in lacking else b"600 " for code in range(32, 123))


@pytest.mark.parametrize(
    ("widths", "expected"),
    [
        (b"600 " * 91, True),
        (b"600 500 " * 45 + b"600", False),
        (subset("W.xyz"), True),
        (subset("W.0"), False),  # too few are known
    ],
)
def test_a_font_has_fixed_pitch_by_its_widths_whatever_it_is_called(
    tmp_path: Path, widths: bytes, *, expected: bool
) -> None:
    font = (
        b"<</Type/Font/Subtype/Type1/BaseFont/Plain/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 122/Widths[%b]"
        b"/FontDescriptor 9002 0 R>>" % widths
    )
    descriptor = (
        b"<</Type/FontDescriptor/FontName/Plain/Flags 32/FontBBox[0 0 600 800]/ItalicAngle 0/Ascent 800/Descent 0"
        b"/MissingWidth 1000>>"
    )
    path = tmp_path / "page.pdf"
    path.write_bytes(
        document([lines("limit", font="F1")], extra={9001: font, 9002: descriptor}).replace(
            b"/F1 3 0 R", b"/F1 9001 0 R"
        )
    )
    (line,) = PdfiumEngine(str(path)).page(1).lines
    assert line.text == "limit"
    with PdfiumEngine(str(path)).loaded(1) as page:
        text = pdfium.load_text(page)
        (pointer,) = pdfium.pointers_to([text])
        handle = pdfium.text_object(pointer, 0)
        assert styles_of([handle])[handle].mono is expected
        pdfium.close_text(text)


@pytest.mark.parametrize(
    ("degrees", "turn"), [(0, 0), (5, 0), (30, SLANTING), (-50, SLANTING), (88, 1), (135, SLANTING), (180, 2), (270, 3)]
)
def test_text_that_climbs_or_falls_is_told_from_level_and_upright_text(
    tmp_path: Path, degrees: float, turn: int
) -> None:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    path = tmp_path / "page.pdf"
    path.write_bytes(document([b"BT /F1 20 Tf %.4f %.4f %.4f %.4f 300 400 Tm (DRAFT) Tj ET" % (cos, sin, -sin, cos)]))
    with PdfiumEngine(str(path)).loaded(1) as page:
        text = pdfium.load_text(page)
        (pointer,) = pdfium.pointers_to([text])
        handle = pdfium.text_object(pointer, 0)
        assert styles_of([handle])[handle].turn == turn
        pdfium.close_text(text)


def test_half_of_a_ligature_is_no_mark_of_a_note() -> None:
    high, small = (0.0, 13.0, 4.0, 3.0), (4.0, 11.0, 8.0, 3.0)
    assert ends_in_mark("wordsf", [*[high] * 5, small], 13, 0)
    assert not ends_in_mark("staff", [*[high] * 3, small, small], 13, 0)


def test_words_that_a_program_set_apart_without_a_space_are_two(tmp_path: Path) -> None:
    def parts(pitch: str) -> bytes:
        # "n" ends one word and "t" begins the next; only the pitch between these two letters parts them.
        apart = text(90.3, 700, "nt", before=f"{pitch} Tc")
        return text(72, 700, "give") + apart + text(101.8, 700, "oo little", before="0 Tc")

    def read(pitch: str) -> str:
        path = tmp_path / "minutes.pdf"
        path.write_bytes(document([parts(pitch)]))
        return PdfiumEngine(str(path)).page(1).lines[0].text

    assert read("3.05") == "given too little"
    assert read("0") == "givent oo little"


@pytest.mark.parametrize(
    ("token", "widths", "expected"),
    [
        ("\xads", (5, 5), "-s"),
        ("\xad\xadsaw", (5, 5, 5, 5, 5), "--saw"),
        ("no\xadsaw", (5, 5, 5, 5, 5, 5), "no-saw"),
        ("prun\xading", (5, 5, 5, 5, 0, 5, 5, 5), "prun\xading"),  # it takes no room
        ("prun\xad", (5, 5, 5, 5, 5), "prun\xad"),  # it may cut a word
    ],
)
def test_soft_hyphens_that_are_drawn_are_hyphens(token: str, widths: tuple[int, ...], expected: str) -> None:
    starts = [sum(widths[:at]) for at in range(len(widths))]
    boxes = [(float(x), 10.0, float(x + width), 0.0) for x, width in zip(starts, widths, strict=True)]
    assert with_drawn_hyphens(token, boxes) == expected


def test_one_hyphen_with_several_codes_is_one() -> None:
    drawn, after = (0.0, 10.0, 5.0, 0.0), (5.0, 10.0, 9.0, 0.0)
    assert with_drawn_hyphens("-\xad\u2010s", [drawn, drawn, drawn, after]) == "-s"
    assert with_drawn_hyphens("-\xads", [drawn, drawn, after]) == "-s"


@pytest.mark.parametrize("name", ["SFST0800", "SFIT1000", "CMSLTT10", "LMMonoSlant10-Regular"])
def test_slanted_fonts_of_tex_have_fixed_pitch(name: str) -> None:
    assert MONO.search(name)
    assert not MONO.search("SFTI1000")


@pytest.mark.parametrize(
    ("marks", "size", "second", "expected"),
    [
        ("dd", 10.0, 50.0, ["•", "•"]),
        ("dn", 10.0, 50.0, ["d", "n"]),  # letters
        ("DD", 10.0, 50.0, ["D", "D"]),
        ("oo", 10.0, 50.0, ["o", "o"]),  # shown as it is
        ("dd", 20.0, 50.0, ["d", "d"]),  # initials
        ("dd", 7.0, 50.0, ["d", "d"]),  # indices
        ("dd", 10.0, 52.0, ["d", "d"]),  # at no edge
        ("xx", 10.0, 50.0, ["x", "x"]),  # of formulas
        ("dd", 10.0, 90.0, ["d", "d"]),  # one stands within its line
    ],
)
def test_a_letter_that_is_all_a_font_writes_where_lines_begin_is_a_bullet(
    marks: str, size: float, second: float, expected: list[str]
) -> None:
    sign, plain = Style(size=size, face="Signs"), Style(size=10, face="Serif")
    first, other = ("2", "3y") if marks == "xx" else ("apples", "pears")
    words = [
        Word(marks[0], 50, 700, 55, 710, sign),
        Word(first, 60, 700, 90, 710, plain, "\n" if second < 90 else ""),
        Word(marks[1], second, 680 if second < 90 else 700, second + 5, 690 if second < 90 else 710, sign),
        Word(other, 100, 680 if second < 90 else 700, 130, 690 if second < 90 else 710, plain, "\n"),
    ]
    with_bullets(words)
    assert [word.text for word in words[::2]] == expected


@pytest.mark.parametrize(
    ("sign", "expected"),
    [("\uf076", "•"), ("\uf0e8", "•"), ("\uf0fc", "\uf0fc"), ("\uf071", "\uf071"), ("§", "§")],
)
def test_a_sign_of_no_known_meaning_that_only_begins_lines_is_a_bullet(sign: str, expected: str) -> None:
    plain = Style(size=10, face="Serif")
    words = [
        Word(text, x, y, x + 30, y + 10, plain, ends)
        for y in (700, 680)
        for text, x, ends in ((sign, 50, ""), ("apples", 90, "\n"))
    ]
    with_bullets(words)
    assert [word.text for word in words[::2]] == [expected] * 2
    words = [Word("see", 20, 700, 48, 710, plain), *words]  # one of them stands within its line
    words[1].text = words[3].text = sign
    with_bullets(words)
    assert [word.text for word in words[1::2]] == [sign] * 2


@pytest.mark.parametrize(
    ("text", "gap", "expected"),
    [
        ("G e n e r a l  t e r m s", 2.0, "General terms"),
        ("2 .  P l u m s  a n d  p e a r s", 1.7, "2. Plums and pears"),
        ("C O N T E N T S", 2.3, "CONTENTS"),
        ("а б р и к о с ы", 1.2, "абрикосы"),
        ("a b c d e f g h", 2.3, "a b c d e f g h"),  # an alphabet
        ("X X O X X O X", 2.3, "X X O X X O X"),  # marks in columns
        ("C O N T E N T S", 7.0, "C O N T E N T S"),  # cells
        ("in it  A B A C D A B", 2.5, "in it A B A C D A B"),  # spaces
        ("it is a or an of so", 2.3, "it is a or an of so"),
    ],
)
def test_letters_that_are_set_apart_are_words(text: str, gap: float, expected: str) -> None:
    plain = Style(size=10, face="Serif")
    words: list[Word] = []
    left = 50.0
    for token in text.split(" "):
        if not token:
            left += 3.5
            continue
        words.append(Word(token, left, 700, left + 5 * len(token), 710, plain))
        left += 5 * len(token) + gap
    words[-1].ends = "\n"
    assert [line.text for line in lay_out(words, (0, 0, 600, 800))] == [expected]


@pytest.mark.parametrize(
    ("operators", "bold"),
    [(b"0 g 0 G 2 Tr", True), (b"0 g 1 0 0 RG 2 Tr", False), (b"0 g 0 G 0 Tr", False), (b"0 g 0 G 1 Tr", False)],
)
def test_text_that_is_stroked_in_the_colour_that_fills_it_is_bold(tmp_path: Path, operators: bytes, bold: bool) -> None:
    path = tmp_path / "page.pdf"
    path.write_bytes(document([b"BT /F1 20 Tf " + operators + b" 100 400 Td (Plums) Tj ET"]))
    with PdfiumEngine(str(path)).loaded(1) as page:
        text = pdfium.load_text(page)
        (pointer,) = pdfium.pointers_to([text])
        handle = pdfium.text_object(pointer, 0)
        assert styles_of([handle])[handle].bold is bold
        pdfium.close_text(text)


def test_a_size_that_is_far_smaller_than_the_letters_is_none_in_points() -> None:
    bitmap, plain = Style(size=0.26), Style(size=11)
    heights = (9.0, 7.0, 10.0, 9.0, 20.0, 4.0)
    words = [Word("word", 50, 700, 80, 700 + height, bitmap) for height in heights]
    words.append(Word("word", 50, 700, 80, 710, plain))
    _find_sizes(words)
    assert [word.style.size for word in words] == [9, 9, 9, 9, 20, 4, 11]
