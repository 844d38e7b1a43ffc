"""PDFs with what only an engine sees: fonts, colours, drawings, pictures, forms, turned and cropped pages, an outline.

They are written by hand, so that they are the same everywhere; what is set in them is as wide as reportlab says.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from reportlab.pdfbase.pdfmetrics import stringWidth

from functions.ingest.parsing.words import Word
from tests.support.pdfs import document, lines, stream, text
from tests.support.varied_pages import Press
from tests.support.varied_running import Running
from tests.support.varied_text import LONG, PLACES, Author

NAMES = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier"}
IMAGE = stream(
    b"\x40\x80\xc0" * 4, b"/Type/XObject/Subtype/Image/Width 2/Height 2/ColorSpace/DeviceRGB/BitsPerComponent 8"
)
RESOURCES = (
    b"/Resources<</XObject<</I 9500 0 R/X 9501 0 R>>/ExtGState<</G0<</ca 0>>/G1<</ca .5>>>>/Pattern<</P 9502 0 R>>"
)
GRADIENT = (
    b"<</Type/Pattern/PatternType 2/Shading<</ShadingType 2/ColorSpace/DeviceRGB/Coords[0 0 612 0]"
    b"/Function<</FunctionType 2/Domain[0 1]/C0[.1 .2 .8]/C1[.8 .1 .1]/N 1>>/Extend[true true]>>>>"
)

type Pdf = Callable[[random.Random], bytes]


def drawn(words: Sequence[Word]) -> bytes:
    """Return operators that draw words where they stand: those of one line with a space between them in one go."""
    runs: list[list[Word]] = []
    for word in words:
        last = runs[-1][-1] if runs else None
        goes_on = last and not last.ends and (last.y0, last.style) == (word.y0, word.style)
        if goes_on and last and 0 <= word.x0 - last.x1 <= 0.5 * word.style.size:
            runs[-1].append(word)
        else:
            runs.append([word])
    return b"".join(map(_run, runs))


def _run(run: Sequence[Word]) -> bytes:
    style, y = run[0].style, run[0].y0 + 0.2 * run[0].style.size
    shown = " ".join(word.text for word in run).encode("cp1252", "replace").decode("cp1252")
    font = "F3" if style.mono else "F2" if style.bold else "F1"
    scale = 100 * (run[-1].x1 - run[0].x0) / (stringWidth(shown, NAMES[font], style.size) or 1.0)
    return text(run[0].x0, y, shown, size=style.size, font=font, before=f"{scale:.1f} Tz")


def written(
    contents: Sequence[bytes],
    *,
    title: str = "",
    catalog: bytes = b"",
    page: bytes = b"",
    extra: Mapping[int, bytes] = {},
) -> bytes:
    """Return a file with these contents of pages, and a picture, a form and a pattern to use in them."""
    font = b"/Resources<</Font<</F1 3 0 R>>>>"
    form = stream(text(72, 700, "Within a form"), b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]" + font)
    more = {9500: IMAGE, 9501: form, 9502: GRADIENT, **extra}
    data = document(contents, title=title, catalog=catalog, page=page, extra=more)
    return data.replace(b"/Resources<</Font<</F1 3 0 R/F2", RESOURCES + b"/Font<</F1 3 0 R/F2")


def press(pick: random.Random) -> Press:
    """Return an empty page of some size of print.

    Its measures are on no limit of the code: pdfium's numbers differ a little from processor to processor.
    """
    made = Press(pick, size=pick.choice((8.0, 10.0, 12.0)))
    made.on_grid = False
    made.width = made.some(240, 480)
    return made


def pages(pick: random.Random) -> bytes:
    """Pages of every element, turned or cropped, with an outline, a title, labels, and a PDF attached."""
    contents, title = [], Author(pick).topic()
    running = Running(pick, title)
    count = pick.randint(1, 4)
    for number in range(1, count + 1):
        page = press(pick)
        page.heading(str(number))
        for _ in range(4):
            pick.choice((page.paragraph, page.items, page.table, page.code, page.form, page.contents, page.marked))()
        contents.append(drawn(running.on(page, number)))
    box = pick.choice((b"", b"", b"/CropBox[30 30 580 800]", b"/MediaBox[-20 -40 600 780]"))
    turn = b"/Rotate %d" % pick.choice((0, 0, 0, 90, 180, 270))
    links = {
        9001: b"<</First 9002 0 R/Last 9003 0 R/Count 3>>",
        9002: b"<</Title(1 %b)/Parent 9001 0 R/Next 9003 0 R/First 9004 0 R/Dest[10 0 R/Fit]>>" % title.encode(),
        9003: b"<</Title(  The   rest )/Parent 9001 0 R/A<</S/GoTo/D[%d 0 R/Fit]>>>>" % (8 + 2 * count),
        9004: b"<</Title(Within)/Parent 9002 0 R/Dest[%d 0 R/Fit]>>" % pick.choice((10, 999)),
        9010: stream(b"x", b"/Type/EmbeddedFile"),
        9011: b"<</Type/Filespec/F(%b)/EF<</F 9010 0 R>>>>" % pick.choice((b"a.PDF", b"a.txt")),
    }
    catalog = b"/Outlines 9001 0 R" if pick.random() < 0.6 else b""
    catalog += b"/Names<</EmbeddedFiles<</Names[(a) 9011 0 R]>>>>" if pick.random() < 0.3 else b""
    catalog += b"/PageLabels<</Nums[0<</S/r/St 3>>2<</S/D/P(A-)>>]>>" if pick.random() < 0.5 else b""
    return written(contents, title=pick.choice((title, "", "Untitled")), catalog=catalog, page=box + turn, extra=links)


def hidden(pick: random.Random) -> bytes:
    """Text that nobody can see, or only just: invisible, white, tiny, or off the page."""
    page = press(pick)
    page.paragraph()
    out, y = drawn(page.words), 420.0
    size = pick.choice((0.2, 0.5, 0.62, 0.64, 0.8, 1.0))
    share = b"q %.1f 0 0 %.1f 0 0 cm /I Do Q\n" % (612 * size, 792 * size)
    out += share if pick.random() < 0.5 else b""
    for number in range(pick.randint(2, 6)):
        how = pick.choice(
            (
                "3 Tr",
                "7 Tr",
                "1 Tr",
                "1 1 1 rg",
                "0.96 0.97 0.96 rg",
                "0.94 g",
                "/G0 gs",
                "/G1 gs",
                "",
                "/Pattern cs /P scn",
            )
        )
        high, x = pick.choice((10.0, 10.0, 1.0, 1.1, 1.3, 2.0)), pick.choice((72.0, 72.0, 72.0, 605.0, 640.0, -40.0))
        behind = pick.choice((b"", b"", b"0 0 .4 rg", b"1 1 1 rg", b".97 g", b"/Pattern cs /P scn"))
        if behind:
            operator = pick.choice((b"f", b"f", b"S", b"n"))
            out += b"q %b 60 %.1f %.1f 16 re %b Q\n" % (behind, y - 4, pick.choice((200.0, 80.0)), operator)
        out += b"q " + text(x, y, f"Words number {number} of some", size=high, before=how) + b"Q\n"
        y -= 24
    doubled = "".join(2 * letter for letter in pick.choice((*PLACES, "aaa", "book")))
    return written([out + text(72, 100, f"{doubled} 1100 aall")], page=b"/Rotate %d" % pick.choice((0, 0, 90)))


def drawings(pick: random.Random) -> bytes:
    """Rules around tables, bands of colour, frames, curves, pictures with captions, forms drawn smaller or turned."""
    page = press(pick)
    page.paragraph()
    out, left, top = b"", page.x, page.y
    rows, columns, high = pick.randint(2, 5), pick.randint(2, 4), page.some(1.4 * page.em, 2.4 * page.em)
    how = pick.choice(("lines", "boxes", "frames", "bands", "across"))
    for row in range(rows + 1):
        y = top - row * high
        if how in {"lines", "across"}:
            out += b"%.2f w %.1f %.1f m %.1f %.1f l S\n" % (page.some(0.2, 3), left, y, left + 100 * columns, y)
        elif how == "boxes":
            out += b"%.1f %.1f %d %.2f re f\n" % (left, y, 100 * columns, page.some(0.3, 3))
        elif how == "bands" and row % 2 and row < rows:
            out += b"q .9 g %.1f %.1f %d %.1f re f Q\n" % (left, y - high, 100 * columns, high)
        for column in range(columns + 1):
            x = left + 100 * column
            if row == rows:
                continue
            if how == "lines":
                out += b"%.1f %.1f m %.1f %.1f l S\n" % (x, y, x, y - high)
            elif how == "boxes":
                out += b"%.1f %.1f %.2f %.1f re f\n" % (x, y - high, page.some(0.3, 3), high)
            elif how == "frames" and column < columns:
                out += b"%.1f %.1f 100 %.1f re %b\n" % (
                    x,
                    y - high,
                    high,
                    pick.choice((b"S", b"S", b"B")) if row else b"S",
                )
            if column < columns:
                page.y = y - page.em - 2
                page.line(page.author.figure() if row and column else page.author.words(1, 2), x=x + 4)
    out += b"q .8 1 .8 rg 20 20 3 4 re f Q\n" * pick.choice((0, 0, 70))
    page.y = top - rows * high - 30
    page.paragraph()
    box = page.some(30, 300), page.some(20, 110)
    x, y = page.x + page.some(0, 100), page.y - box[1]
    kind = pick.choice(
        (b"%.1f 0 0 %.1f %.1f %.1f cm /I Do", b"%.1f 0 0 %.1f %.1f %.1f cm 0 0 1 1 re S 0 0 m .3 .9 .6 .2 1 1 c S")
    )
    out += b"q " + kind % (*box, x, y) + b" Q\n"
    page.y = y - page.some(4, 40)
    page.prose(f"{pick.choice(('Figure', 'Fig.'))} {pick.randint(1, 9)}: {page.author.topic()}")
    out += b"q %b cm /X Do Q\n" % pick.choice(
        (b"1 0 0 1 0 -640", b".5 0 0 .5 0 -300", b"0 1 -1 0 700 0", b".1 0 0 .1 10 0")
    )
    return written([out + drawn(page.words)])


def fields(pick: random.Random) -> bytes:
    """A form: fields with labels beside, above or behind them, near or far, boxes to tick, notes, what is hidden."""
    out, extra, y = lines("A form", y=760), dict[int, bytes](), 720.0
    for number in range(pick.randint(3, 9)):
        x, wide, high = (
            pick.choice((72.0, 200.0)),
            pick.choice((12.0, 15.0, 120.0)),
            pick.choice((12.0, 16.0, 19.6, 20.4)),
        )
        rect = b"/Rect[%.1f %.1f %.1f %.1f]" % (x, y, x + wide, y + high)
        label = pick.choice(("Full name:", "Due back", "Child seat", "Tel.", f"{Author(pick).words(3, 12)}"))
        width, gap = stringWidth(label, "Helvetica", 10), pick.choice((-4.2, -2.6, 0.3, 3.3, 10, 29.6, 30.4, 60))
        place = pick.choice(("before", "behind", "above", "none"))
        if place != "none":
            at = {
                "before": (x - gap - width, y + 3),
                "behind": (x + wide + gap, y + 3),
                "above": (x + gap / 8, y + high + gap / 3),
            }
            out += text(*at[place], label)
        value = pick.choice((b"/V(Ann  Lee)", b"/V/Yes", b"/V/Off", b"/V()", b"/V(12 May 2026)"))
        named = pick.choice(
            (b"/T(f%d)" % number, b"/T(Name:)", b"", b"/T(x)/TU(Mobile)", b"/T(y)/TU(%b)" % (b"long " * 20))
        )
        flags = pick.choice((b"", b"", b"", b"/F 2", b"/F 4"))
        kind = pick.choice(
            (b"/Subtype/Widget/FT/Tx", b"/Subtype/Widget/FT/Btn", b"/Subtype/FreeText/Contents(A   note)")
        )
        extra[9001 + number] = b"<</Type/Annot%b%b%b%b%b>>" % (kind, rect, value, named, flags)
        y -= pick.choice((36.0, 60.0))
    extra[9090] = b"<</FT/Tx/T(Both)/V(Ada Lovelace)/Kids[9091 0 R]>>"
    extra[9091] = b"<</Type/Annot/Subtype/Widget/Parent 9090 0 R/Rect[400 100 500 120]>>"
    names = b" ".join(b"%d 0 R" % number for number in extra if number != 9090)
    page = b"/Annots[%b]/Rotate %d" % (names, pick.choice((0, 0, 0, 90)))
    return written([out], page=page, catalog=b"/AcroForm<</Fields[9090 0 R]>>", extra=extra)


ENCODED = (
    b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+%b/FirstChar %d/LastChar %d/Widths[%b]"
    b"/Encoding<</Type/Encoding/Differences[%b]>>>>"
)


def fonts(pick: random.Random) -> bytes:
    """Text in fonts that name their letters by number, with codes of ligatures, symbols or no names."""
    author = Author(pick)
    prose = lines(*[author.words(4, 8) for _ in range(6)], font="F2", y=400)
    kind = pick.choice(("numbered", "ligatures", "accents", "symbols", "fixed", "formulas"))
    extra: Mapping[int, bytes] = {}
    if kind == "numbered":
        said = [author.words(4, 9) for _ in range(pick.randint(6, 14))]
        alphabet = "".join(dict.fromkeys("".join(said).replace(" ", "")))
        names = b"".join(b"/G%02X" % ord(letter) for letter in alphabet)
        extra = {3: ENCODED % (b"MSTT31", 1, len(alphabet), b"500 " * len(alphabet), b"1" + names)}
        prose = b"" if pick.random() < 0.6 else prose
        shown = b"".join(_coded(line, alphabet, 720 - 14 * at) for at, line in enumerate(said))
    elif kind == "ligatures":
        names = pick.choice(
            (b"27/x1/x2/x3/x4/x5", b"27/f_i/f_f_i/t_t", b"27/f_i.liga/uni0066_uni0066_uni0069/t_glyph7")
        )
        extra = {3: ENCODED % (b"SFRM1000", 11, 122, b"500 560 610 " * 38, names)}
        words = ["e\x1bect", "\x1cne", "o\x1ece", "wa\x1fe", "\x15", "\x1dow", "e\x0bect", "\x0cne", *LONG[:3]]
        shown = b"".join(lines(" ".join(pick.sample(words, 6)), y=720 - 14 * at) for at in range(4))
    elif kind == "accents":
        shown = b"".join(
            text(72 + 5 * at, 700, letter) + text(72 + 5 * at + pick.uniform(-2, 3), 700, accent)
            for at, (letter, accent) in enumerate(zip("aeioucnz", "´`¨ˆ´¸˜´", strict=True))
        )
        shown += text(72, 680, "Universit´e de Gen`eve, caf´e") + text(72, 660, "´ 5 and ´ x")
    elif kind == "symbols":
        name, code = pick.choice(((b"MSAM10", "I"), (b"CMSY10", "\x0f"), (b"CMSY10", "ˆ"), (b"Plain", "I")))
        extra = {3: ENCODED % (name, 15, 140, b"500 560 610 " * 42, b"15/x1")}
        shown = b"".join(
            text(60, 700 - 20 * at, code) + text(80, 700 - 20 * at, author.sentence(), font="F2") for at in range(4)
        )
    elif kind == "fixed":
        letters = range(97, 123)
        even = pick.choice((b"50 " * 26, b"30 70 " * 13, b"50 " * 20 + b"51 52 49 50 50 50"))
        glyphs = b"".join(b"/a%d 9001 0 R" % code for code in letters)
        names = b"".join(b"/a%d" % code for code in letters)
        extra = {
            3: b"<</Type/Font/Subtype/Type3/FontMatrix[.01 0 0 .01 0 0]/FontBBox[0 0 90 90]/FirstChar 97/LastChar 122"
            b"/Widths[%b]/CharProcs<<%b>>/Encoding<</Type/Encoding/Differences[97%b]>>>>" % (even, glyphs, names),
            9001: stream(b"50 0 0 0 40 60 d1 0 0 40 60 re f"),
        }
        said = [word for word in author.paragraph(3, 4).lower().split() if word.isalpha() and word.isascii()]
        shown = b"".join(text(72 + 60 * (at % 7), 720 - 14 * (at // 7), word) for at, word in enumerate(said))
    else:
        table = b"2 beginbfchar <61> <D835DC4E> <62> <D83DDE00> endbfchar 1 beginbfchar <63> <F0B7> endbfchar"
        head = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <FF> "
        extra = {
            3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 9001 0 R>>",
            9001: stream(head + b"endcodespacerange " + table + b" endcmap end end"),
        }
        shown = text(72, 700, "a b c ab abc") + text(72, 680, "d (a + b)")
    return written([shown + prose], extra=extra)


def _coded(line: str, alphabet: str, y: float) -> bytes:
    out, x = b"", 72.0
    for word in line.split():
        codes = "".join(f"{alphabet.index(letter) + 1:02x}" for letter in word)
        out += b"BT /F1 10 Tf %.2f %.2f Td <%b> Tj ET\n" % (x, y, codes.encode())
        x += 5 * len(word) + 3
    return out


PDFS: dict[str, tuple[Pdf, int, int]] = {
    "pages": (pages, 14, 8),
    "hidden": (hidden, 24, 30),
    "drawings": (drawings, 24, 30),
    "fields": (fields, 14, 30),
    "fonts": (fonts, 24, 30),
}
"""The kinds of files, how many of each are stored as they are read, and of how many more a line is stored."""


def pdf_of(kind: str, number: int) -> bytes:
    """Return a file; it is the same wherever and whenever it is made."""
    return PDFS[kind][0](random.Random(f"{kind} pdf {number}"))
