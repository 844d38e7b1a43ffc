"""What is read of made documents of every kind stays as it is stored; `make snapshots` rewrites it (decision 76).

The first documents of a kind are stored as they are read. Of many more a line says how much was read, and a sum of all
of it; `python -m tests.support.looking_back KIND NUMBER` prints such a document, at this commit or at an earlier one.
"""

from collections import Counter
from itertools import groupby
from pathlib import Path
from unicodedata import normalize
from zlib import crc32

import pytest

from functions.ingest.parsing.text import cleaned, is_cjk
from tests.support import looking_back
from tests.support.retold import parsed, retold
from tests.support.snapshots import check, check_names
from tests.support.varied_documents import KINDS, document_of

FOLDER = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_read_before(kind: str) -> None:
    _, count, _ = KINDS[kind]
    told: list[str] = []
    for number in range(count):
        told += [f"=== {kind} {number}", retold(*parsed(*document_of(kind, number)))]
    check(FOLDER / "reading" / f"{kind}.txt", "\n".join(told))


@pytest.mark.parametrize("kind", KINDS)
def test_as_much_is_read_of_many_documents_as_before(kind: str) -> None:
    _, count, more = KINDS[kind]
    told: list[str] = []
    for number in range(count, count + more):
        parse, pages = parsed(*document_of(kind, number))
        kinds = Counter(block.kind for page in pages for block in page.blocks)
        counted = ", ".join(f"{name} {times}" for name, times in sorted(kinds.items()))
        length = sum(len(page.text) for page in pages)
        told.append(f"{number}: {length} characters, {counted}, {crc32(retold(parse, pages).encode()):08x}")
    check(FOLDER / "counted" / f"{kind}.txt", "\n".join(told))


def test_characters_are_cleaned_and_told_apart_as_before() -> None:
    """Every character of the first two planes that is changed, beyond NFC, or needs no spaces."""
    told: list[str] = []
    for code in range(0x20000):
        character = chr(code)
        raw = f"a{character}b", f"{character} {character}"
        made = [cleaned(text) for text in raw]
        shown = [text.replace(normalize("NFC", character), "#") for text in made]
        what = "" if made == [normalize("NFC", text) for text in raw] else f" {shown[0]!a} {shown[1]!a}"
        what += " without spaces" if is_cjk(character) else ""
        if what:
            told.append(f"{code:05x}{what}")
    numbered = enumerate(told)
    runs = [list(run) for _, run in groupby(numbered, key=lambda each: (each[1][5:], int(each[1][:5], 16) - each[0]))]
    check(FOLDER / "characters.txt", "\n".join(f"{run[0][1][:5]}-{run[-1][1]}" for run in runs))


def test_a_document_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    looking_back.main("forms", "1")
    assert f"=== forms 1\n{capsys.readouterr().out}" in (FOLDER / "reading" / "forms.txt").read_text(encoding="utf-8")


def test_every_stored_text_is_compared() -> None:
    for folder in ("reading", "counted"):
        check_names(FOLDER / folder, KINDS)
