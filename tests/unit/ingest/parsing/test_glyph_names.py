"""Fonts that name their glyphs by number can be read."""

from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pypdf import letter_of, ligature_of, lost_letters
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from tests.support.pdfs import document, text

LINES = [
    "Growth of the gross product was 6.7 per cent, GDP was 4.3",
    "Directors have pleasure in showing the accounts for the year",
    "Great Gatsby, and some of the others (90%) of the same Group: Box, Zoe Quick",
]


def numbered_font(alphabet: str) -> bytes:
    """A font whose codes count the letters of `alphabet` from 1, with nothing but glyph names to tell so."""
    names = b"".join(b"/G%02X" % ord(letter) for letter in alphabet)
    widths = b"500 " * len(alphabet)
    return (
        b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+MSTT31c20b/FirstChar 1/LastChar %d/Widths[%b]"
        b"/Encoding<</Type/Encoding/Differences[1%b]>>>>" % (len(alphabet), widths, names)
    )


def coded(line: str, alphabet: str) -> bytes:
    """Operators that set a line word by word (a space is room, not a code, in such fonts)."""
    out, x = b"", 72.0
    for word in line.split():
        codes = "".join(f"{alphabet.index(letter) + 1:02x}" for letter in word)
        out += b"BT /F1 10 Tf %.2f %%d Td <%b> Tj ET\n" % (x, codes.encode())
        x += 5 * len(word) + 3
    return out


def test_numbered_glyph_names_give_the_words_back_whole(tmp_path: Path) -> None:
    letters = dict.fromkeys("".join(LINES).replace(" ", "").replace("G", ""))
    # The 32nd code is what pdfium takes for a space: here it is the capital G.
    alphabet = "".join(letters)[:31] + "G" + "".join(letters)[31:]
    content = b"".join(coded(line, alphabet).replace(b"%d", b"%d" % (700 - 14 * i)) for i, line in enumerate(LINES * 4))
    path = tmp_path / "coded.pdf"
    path.write_bytes(
        document([content, text(72, 700, "An ordinary page.", font="F2")], extra={3: numbered_font(alphabet)})
    )
    with open_pdf(path, file_name="coded.pdf", limits=Limits()) as parsed:
        first, second = parsed.pages()
    assert "".join(first.text.split()) == "".join(LINES * 4).replace(" ", "")
    assert "Growth of the gross product was 6.7 per cent" in first.text
    assert second.text == "An ordinary page."
    assert [report.state for report in parsed.reports] == ["text", "text"]


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("/G59", "Y"),
        ("/G46._", "F"),
        ("/G93", "“"),
        ("/C089", "Y"),
        ("/cid97", "a"),
        ("/g0105", "ą"),
        ("/A", ""),
        ("/G0A", ""),
    ],
)
def test_a_glyph_is_named_by_its_code(name: str, letter: str) -> None:
    assert letter_of(name) == letter


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("/f_f_i", "ffi"),
        ("/T_h.liga", "Th"),
        ("/uni0066_uni0069", "fi"),
        ("/f_uni0069.alt", "fi"),
        ("/f_quoteright", ""),
        ("/f_uni0007", ""),
        ("/f_", ""),
        ("/f", ""),
    ],
)
def test_a_ligature_is_named_by_its_letters(name: str, letters: str) -> None:
    assert ligature_of(name) == letters


def test_letters_are_put_back_where_the_two_readings_differ() -> None:
    assert lost_letters("a DP of ross", "aGDPofGross", {"G"}) == {2: "G", 8: "G"}
    assert lost_letters("another text altogether", "GGGG", {"G"}) == {}
