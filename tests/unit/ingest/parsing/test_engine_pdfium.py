"""What pdfium's engine reads of small files written by hand: lines with their places, pictures, forms, outline."""

from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.engine_pypdf import GlyphNames, PypdfEngine
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.wire import CannotOpen, Line, RawPage
from shared.rects import CORNERS, STEPS, number_at
from tests.support.pdfs import document, lines, stream, text

IMAGE = stream(b"\0" * 12, b"/Type/XObject/Subtype/Image/Width 2/Height 2/ColorSpace/DeviceRGB/BitsPerComponent 8")


def engine(folder: Path, data: bytes) -> PdfiumEngine:
    path = folder / "some.pdf"
    path.write_bytes(data)
    return PdfiumEngine(str(path))


def page_of(folder: Path, data: bytes, number: int = 1) -> RawPage:
    return engine(folder, data).page(number)


def with_form(content: bytes, form: bytes, *, page: bytes = b"") -> bytes:
    """A page that draws `form` by what `content` does."""
    data = document([content], page=page, extra={9001: form})
    return data.replace(b"/Resources<<", b"/Resources<</XObject<</X 9001 0 R>>", 1)


def corners(line: Line) -> list[float]:
    """Where a line stands on its page as shown, in points from the top left corner."""
    return [number_at(line.place, at) * 792 / STEPS for at in range(0, CORNERS, 2)]


def test_a_line_has_its_words_its_style_and_its_place(tmp_path: Path) -> None:
    content = (
        text(72, 700, "Bold words").replace(b"/F1", b"/F2") + text(72, 688, "Plain") + text(72, 676, "mono", font="F3")
    )
    page = page_of(tmp_path, document([content]))
    assert (page.number, page.width, page.height, page.rotation, page.label, page.error) == (1, 612, 792, 0, "", "")
    assert [(line.text, line.bold, line.mono, line.size) for line in page.lines] == [
        ("Bold words", True, False, 10),
        ("Plain", False, False, 10),
        ("mono", False, True, 10),
    ]
    bold, plain, mono = page.lines
    assert bold.x0 == plain.x0 == pytest.approx(72, abs=1)
    assert bold.y0 < 92 < bold.y1  # its base line
    assert plain.y0 - bold.y0 == pytest.approx(12, abs=0.5)  # bold letters are a little taller
    assert mono.x1 - mono.x0 == pytest.approx(4 * 6, abs=1)
    left, top, right, bottom = corners(bold)
    assert (left, right) == (pytest.approx(bold.x0, abs=0.2), pytest.approx(bold.x1, abs=0.2))
    assert (top, bottom) == (pytest.approx(bold.y0, abs=0.2), pytest.approx(bold.y1, abs=0.2))


@pytest.mark.parametrize(
    ("matrix", "x", "base", "size"),
    [
        (b"1 0 0 1 0 0", 72, 92, 10),
        (b"1 0 0 1 100 -50", 172, 142, 10),
        (b"0.5 0 0 0.5 0 0", 36, 442, 5),
    ],
)
def test_text_in_a_form_stands_where_the_form_is_drawn(
    tmp_path: Path, matrix: bytes, x: float, base: float, size: float
) -> None:
    fonts = b"/Resources<</Font<</F1 3 0 R>>>>"
    form = stream(text(72, 700, "Within"), b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]" + fonts)
    (line,) = page_of(tmp_path, with_form(b"q %b cm /X Do Q" % matrix, form)).lines
    assert (line.text, line.x0) == ("Within", pytest.approx(x, abs=1))
    assert line.y0 < base < line.y1
    assert line.size == pytest.approx(size, abs=0.5)


@pytest.mark.parametrize(
    ("content", "share"),
    [
        (b"q 306 0 0 396 0 0 cm /X Do Q", 0.25),
        (b"q 306 0 0 396 500 600 cm /X Do Q", round(112 * 192 / (612 * 792), 3)),
        (b"q 612 0 0 792 0 0 cm /X Do Q q 612 0 0 792 0 0 cm /X Do Q", 1.0),
        (b"q 100 0 0 100 700 0 cm /X Do Q", 0.0),
    ],
)
def test_the_share_of_a_page_that_pictures_cover(tmp_path: Path, content: bytes, share: float) -> None:
    page = page_of(tmp_path, with_form(content + b" 10 10 20 20 re f 50 50 20 20 re S", IMAGE))
    assert (page.images, page.paths) == (pytest.approx(share, abs=0.002), 2)


def test_pictures_within_forms_count_where_they_are_drawn(tmp_path: Path) -> None:
    inner = stream(
        b"q 100 0 0 100 10 10 cm /Y Do Q",
        b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</Y 9002 0 R>>>>",
    )
    data = document([b"q 2 0 0 3 0 0 cm /X Do Q"], extra={9001: inner, 9002: IMAGE})
    data = data.replace(b"/Resources<</Font", b"/Resources<</XObject<</X 9001 0 R>>/Font", 1)
    assert page_of(tmp_path, data).images == pytest.approx(200 * 300 / (612 * 792), abs=0.002)


@pytest.mark.parametrize(
    ("hidden", "count"),
    [
        (text(72, 600, "secret", before="3 Tr"), 6),
        (text(72, 600, "secret", size=0.5), 6),
        (b"1 1 1 rg " + text(72, 600, "secret"), 6),
        (text(800, 600, "secret"), 6),
        (text(72, -50, "secret"), 6),
        (b"0 0 0 rg 60 590 100 30 re f 1 1 1 rg " + text(72, 600, "secret"), 0),
        (b"0.5 g " + text(72, 600, "secret"), 0),
    ],
)
def test_what_nobody_can_see_is_counted_and_left_out(tmp_path: Path, hidden: bytes, count: int) -> None:
    page = page_of(tmp_path, document([lines("Here it is.", "More of it.") + hidden]))
    assert page.hidden == count
    assert ("secret" in [line.text for line in page.lines]) is (count == 0)


@pytest.mark.parametrize(
    ("above", "count"),
    [
        (b"0.2 g " + text(72.2, 600.7, "Daemons", size=20), 0),  # the letters, on their shadow in white
        (b"1 1 1 rg " + text(72.2, 600.7, "Daemons", size=20), 7),
        (b"0.2 g " + text(72.2, 580, "Daemons", size=20), 7),
        (b"0.2 g " + text(72.2, 600.7, "Secrets", size=20), 7),
        (b"0.2 g " + text(72.2, 600.7, "Daemons", size=20, before="3 Tr"), 7),  # letters that nobody sees, either
        (b"0.2 g " + text(72.2, 600.7, "Daemons", size=20) + b"1 1 1 rg 60 590 120 40 re f ", 7),
        (b"q 0 0 10 10 re W n 0.2 g " + text(72.2, 600.7, "Daemons", size=20) + b"Q ", 7),
    ],
)
def test_letters_on_their_white_shadow_are_seen(tmp_path: Path, above: bytes, count: int) -> None:
    shadow = b"1 1 1 rg " + text(72, 600, "Daemons", size=20)
    page = page_of(tmp_path, document([lines("Here it is.") + shadow + above]))
    assert page.hidden == count


def disc(x: float, y: float, side: float = 3.5, colour: bytes = b"0 g") -> bytes:
    """A bullet as browsers draw it: an outline around a middle, filled."""
    half = side / 2
    outline = (x - half, y, x, y + half, x + half, y, x, y - half)
    return colour + b" %f %f m %f %f l %f %f l %f %f l f 0 g " % outline


BOTH = disc(64, 702.5) + disc(64, 690.5)


@pytest.mark.parametrize(
    ("first", "dots", "bulleted"),
    [
        ("Ripe plums", BOTH, [True, True]),
        ("Ripe plums", disc(64, 702.5), [False, False]),  # alone before a short text
        ("Ripe plums from the old garden", disc(64, 702.5), [True, False]),
        ("Ripe plums", disc(64, 702.5, 6) + disc(64, 690.5, 6), [False, False]),  # the keys of a chart
        ("Ripe plums", disc(64, 702.5, colour=b"1 0 0 rg") + disc(64, 690.5, colour=b"0 0 1 rg"), [False, False]),
        ("Ripe plums", disc(50, 702.5) + disc(50, 690.5), [False, False]),  # far from the text
        ("Ripe plums", disc(64, 708) + disc(64, 696), [False, False]),  # above it
        ("Ripe plums", BOTH + text(50, 700, "So") + text(50, 688, "So"), [False, False]),  # within lines
    ],
)
def test_dots_drawn_before_lines_are_the_bullets_of_items(
    tmp_path: Path, first: str, dots: bytes, bulleted: list[bool]
) -> None:
    page = page_of(tmp_path, document([text(72, 700, first) + text(72, 688, "Green pears") + dots]))
    items = [line.text for line in page.lines if "plums" in line.text or "pears" in line.text]
    assert ["•" in each for each in items] == bulleted


def test_letters_printed_twice_are_read_once(tmp_path: Path) -> None:
    page = page_of(tmp_path, document([text(72, 700, "NNEEBBRRAASSKKAA aall oof 1100")]))
    assert page.lines[0].text == "NEBRASKA aall oof 1100"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_turned_page_says_so_and_keeps_its_own_size(tmp_path: Path, rotation: int) -> None:
    page = page_of(tmp_path, document([lines("Some words.")], page=b"/Rotate %d" % rotation))
    assert (page.rotation, page.width, page.height) == (rotation // 90, 612, 792)


def test_fields_of_a_form_and_text_boxes_are_lines_and_what_is_empty_or_hidden_is_none(tmp_path: Path) -> None:
    def annotation(kind: bytes, more: bytes, y: int) -> bytes:
        return b"<</Type/Annot/Subtype/%b/Rect[100 %d 200 %d]%b>>" % (kind, y, y + 20, more)

    shown = [
        annotation(b"Widget", b"/FT/Tx/T(Name)/V(Ann  Lee)", 500),
        annotation(b"Widget", b"/FT/Tx/V(no name)", 470),
        annotation(b"FreeText", b"/Contents(A   note)", 440),
        annotation(b"Widget", b"/FT/Btn/T(Box)/V/Off", 410),
        annotation(b"Widget", b"/FT/Tx/T(Empty)/V()", 380),
        annotation(b"Widget", b"/FT/Tx/T(Hidden)/V(x)/F 2", 350),
        annotation(b"Link", b"/Contents(a link)", 320),
        annotation(b"Text", b"/Contents(a comment)", 290),
    ]
    extra = {9001 + at: each for at, each in enumerate(shown)}
    names = b" ".join(b"%d 0 R" % number for number in extra)
    page = page_of(tmp_path, document([lines("A form")], page=b"/Annots[%b]" % names, extra=extra))
    found = page.lines[1:]
    assert [(line.text, line.cells) for line in found] == [("Name: Ann Lee", 0), ("no name", 0), ("A note", 0)]
    assert [(line.x0, line.y0, line.x1, line.y1) for line in found[:1]] == [(100, 272, 200, 292)]
    assert corners(found[0]) == pytest.approx([100, 272, 200, 292], abs=0.2)


@pytest.mark.parametrize(("rotation", "shown"), [(0, "Tenant: Ann"), (90, "f1: Ann")])
def test_words_beside_a_field_name_it_unless_the_page_is_turned(tmp_path: Path, rotation: int, shown: str) -> None:
    field = b"<</Type/Annot/Subtype/Widget/Rect[130 690 230 710]/FT/Tx/T(f1)/V(Ann)>>"
    page = b"/Rotate %d/Annots[9001 0 R]" % rotation
    data = document([text(72, 696, "Tenant")], page=page, extra={9001: field})
    assert page_of(tmp_path, data).lines[-1].text == shown


def test_the_header_has_title_outline_and_what_is_attached(tmp_path: Path) -> None:
    extra = {
        9001: b"<</First 9002 0 R/Last 9003 0 R/Count 3>>",
        9002: b"<</Title(One)/Parent 9001 0 R/Next 9003 0 R/First 9004 0 R/Last 9004 0 R/Dest[10 0 R/Fit]>>",
        9003: b"<</Title(  Two   words )/Parent 9001 0 R/A<</S/GoTo/D[14 0 R/Fit]>>>>",
        9004: b"<</Title(One and a half)/Parent 9002 0 R/Dest[12 0 R/Fit]>>",
        9010: stream(b"x", b"/Type/EmbeddedFile"),
        9011: b"<</Type/Filespec/F(other.PDF)/UF(other.PDF)/EF<</F 9010 0 R>>>>",
    }
    catalog = b"/Outlines 9001 0 R/Names<</EmbeddedFiles<</Names[(other.PDF) 9011 0 R]>>>>"
    header = engine(tmp_path, document([lines("a")] * 3, title="House Rules", catalog=catalog, extra=extra)).header()
    assert (header.page_count, header.title, header.has_attached_pdfs) == (3, "House Rules", True)
    assert sorted(header.outline) == [(1, 1, "One"), (2, 2, "One and a half"), (3, 1, "Two words")]
    plain = engine(tmp_path, document([lines("a")])).header()
    assert (plain.outline, plain.has_attached_pdfs, plain.title) == ([], False, "")


@pytest.mark.parametrize("reader", [PdfiumEngine, PypdfEngine])
def test_what_is_no_pdf_cannot_be_opened(tmp_path: Path, reader: type[PdfiumEngine] | type[PypdfEngine]) -> None:
    path = tmp_path / "some.pdf"
    path.write_bytes(b"%PDF-1.7\nrubbish")
    with pytest.raises(CannotOpen) as cannot:
        reader(str(path)).header()
    assert cannot.value.rejected.code == "DAMAGED"


def test_the_other_engine_reads_lines_without_places(tmp_path: Path) -> None:
    path = tmp_path / "some.pdf"
    path.write_bytes(document([lines("One line.", "", "  Another line."), lines("More.")], title="T"))
    other = PypdfEngine(str(path))
    assert (other.header().page_count, other.header().title) == (2, "T")
    page = other.page(1)
    assert ([line.text for line in page.lines], page.width, page.height, page.engine, page.cut) == (
        ["One line.", "Another line."],
        612,
        792,
        "pypdf",
        False,
    )
    assert [line.text for line in other.page(2).lines] == ["More."]


NO_NAMES = b"/Encoding<</Type/Encoding/Differences[27/x1/x2/x3/x4/x5]>>"
NAMES = b"/Encoding<</Type/Encoding/Differences[27/f_i/f_f_i/t_t]>>"
MORE_NAMES = b"/Encoding<</Type/Encoding/Differences[27/f_i.liga/uni0066_uni0066_uni0069/t_glyph7]>>"


@pytest.mark.parametrize(
    ("encoding", "read"),
    [
        (NO_NAMES, "effect fine – flow office waffle"),
        (NAMES, "efiect ffine – ttow office waffle"),
        (MORE_NAMES, "efiect ffine – flow office waffle"),
    ],
)
def test_codes_of_ligatures_mean_what_their_fonts_name_or_what_they_mean_in_tex(
    tmp_path: Path, encoding: bytes, read: str
) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+SFRM1000/FirstChar 21/LastChar 122/Widths[%b]%b>>"
    more = "".join(f"BT /F2 10 Tf 72 {600 - 12 * i} Td (An ordinary line of the page.) Tj ET " for i in range(9))
    shown = "BT /F1 10 Tf 72 700 Td (e\x1bect \x1cne \x15 \x1dow o\x1ece wa\x1fe) Tj ET " + more
    data = document([shown.encode("latin-1")], extra={3: font % (b"500 " * 102, encoding)})
    assert page_of(tmp_path, data).lines[0].text.startswith(read)


def test_the_newer_encoding_of_tex_has_its_own_quotation_marks_and_sharp_s(tmp_path: Path) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+SFRM1000/FirstChar 16/LastChar 255/Widths[%b]>>" % (
        b"500 " * 240
    )
    more = "".join(f"BT /F2 10 Tf 72 {600 - 12 * i} Td (An ordinary line of the page.) Tj ET " for i in range(9))
    shown = "BT /F1 10 Tf 72 700 Td (\x12groÿ\x10 o\x1een 83 \x1b., \x13so\x14) Tj ET " + more
    data = document([shown.encode("latin-1")], extra={3: font})
    assert page_of(tmp_path, data).lines[0].text.startswith("„groß“ offien 83 ff., «so»")


@pytest.mark.parametrize(
    ("entries", "ligatures"),
    [
        (NAMES, {"SFRM1000": {"\x1b": "fi", "\x1c": "ffi", "\x1d": "tt"}}),
        (NAMES + b"/ToUnicode 9001 0 R", {}),
        (b"/Encoding/WinAnsiEncoding", {}),
        (b"", {}),
    ],
)
def test_ligatures_are_looked_for_in_fonts_that_do_not_say_their_letters(
    tmp_path: Path, entries: bytes, ligatures: dict[str, dict[str, str]]
) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+SFRM1000%b>>" % entries
    path = tmp_path / "page.pdf"
    path.write_bytes(document([text(72, 700, "e")], extra={3: font, 9001: stream(b"begincmap endcmap")}))
    assert GlyphNames(str(path)).ligatures(1) == ligatures


def test_a_code_that_two_subsets_of_a_font_name_differently_stays_unread(tmp_path: Path) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/%b+SFRM1000/FirstChar 21/LastChar 122/Widths[%b]%b>>"
    other = NAMES.replace(b"/f_i", b"/f_l")
    first, second = (font % (tag, b"500 " * 102, names) for tag, names in ((b"ABCDEF", NAMES), (b"GHIJKL", other)))
    data = document(
        [text(72, 700, "e\x1bect \x1cne") + lines(*["An ordinary line."] * 9, font="F2", y=600)],
        extra={3: first, 9001: second},
    ).replace(b"/F1 3 0 R", b"/F1 3 0 R/F9 9001 0 R")
    assert page_of(tmp_path, data).lines[0].text == "e\ufffdect ffine"


def test_letters_of_formulas_are_letters(tmp_path: Path) -> None:
    table = b"1 beginbfchar <61> <D835DC4E> endbfchar 1 beginbfchar <62> <D83DDE00> endbfchar"
    head = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <FF> "
    head += b"endcodespacerange "
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 9001 0 R>>"
    data = document([text(72, 700, "a b c")], extra={3: font, 9001: stream(head + table + b" endcmap end end")})
    assert page_of(tmp_path, data).lines[0].text == "a \U0001f600 c"


def test_a_font_without_a_name_has_a_fixed_pitch_if_all_letters_take_the_same_room(tmp_path: Path) -> None:
    glyphs = b"".join(b"/a%d 9001 0 R" % code for code in range(97, 123))
    names = b"".join(b"/a%d" % code for code in range(97, 123))
    words = "the words of a listing that are set in bitmaps and have the same widths all over"
    for widths, mono in ((b"50 " * 26, True), (b"30 70 " * 13, False)):
        font = (
            b"<</Type/Font/Subtype/Type3/FontMatrix[.01 0 0 .01 0 0]/FontBBox[0 0 90 90]/FirstChar 97/LastChar 122"
            b"/Widths[%b]/CharProcs<<%b>>/Encoding<</Type/Encoding/Differences[97%b]>>>>" % (widths, glyphs, names)
        )
        spaced = b"".join(text(72 + 36 * i, 700, word) for i, word in enumerate(words.split()))
        plain = lines(*["A line of prose that is set in an ordinary font."] * 3, font="F2", y=600)
        drawn = {3: font, 9001: stream(b"50 0 0 0 40 60 d1 0 0 40 60 re f")}
        page = page_of(tmp_path, document([spaced + plain], extra=drawn))
        assert [line.mono for line in page.lines if "listing" in line.text] == [mono]


@pytest.mark.parametrize(
    ("name", "code", "read"), [("MSAM10", "I", "▶"), ("CMSY10", "\x0f I", "• I"), ("Plain", "I", "I")]
)
def test_the_marks_of_items_in_fonts_of_symbols_are_bullets(tmp_path: Path, name: str, code: str, read: str) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+%b/FirstChar 15/LastChar 73/Widths[%b]%b>>"
    encoding = b"/Encoding<</Type/Encoding/Differences[15/x1]>>"
    mark = f"BT /F1 10 Tf 60 700 Td ({code}) Tj ET ".encode("latin-1")
    items = text(60, 720, "Prose above it.", font="F2") + mark + text(80, 700, "An item of a list", font="F2")
    data = document([items], extra={3: font % (name.encode(), b"500 " * 59, encoding)})
    assert page_of(tmp_path, data).lines[1].text == f"{read} An item of a list"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("pages 41\x1548 of it", "pages 41–48 of it"),
        ("wooden looms \x16 another weaver", "wooden looms — another weaver"),
        ("7(1\x152):9", "7(1–2):9"),
        ("\x15 the loom", "the loom"),
        ("called \x10the loom\x11. Then", "called “the loom”. Then"),
        ("it sa\x10d the j\x11b", "it sad the jb"),  # letters without a dot in TeX's older encoding
        ("the looms\x11 (2.1)", "the looms (2.1)"),  # a large bracket of a formula
    ],
)
def test_dashes_of_tex_are_read_on_pages_without_its_ligatures(tmp_path: Path, written: str, shown: str) -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+SFRM1000/FirstChar 21/LastChar 122/Widths[%b]%b>>"
    more = "".join(f"BT /F2 10 Tf 72 {600 - 12 * i} Td (An ordinary line of the page.) Tj ET " for i in range(9))
    escaped = written.replace("(", "\\(").replace(")", "\\)")
    page = f"BT /F1 10 Tf 72 700 Td ({escaped}) Tj ET {more}".encode("latin-1")
    data = document([page], extra={3: font % (b"500 " * 102, NO_NAMES)})
    assert cleaned(page_of(tmp_path, data).lines[0].text) == shown
