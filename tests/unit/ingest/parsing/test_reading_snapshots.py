"""What is read of made documents of every kind stays as it is stored; `make snapshots` rewrites it (decision 76)."""

from pathlib import Path

import pytest

from tests.support.retold import parsed, retold
from tests.support.snapshots import check, check_names
from tests.support.varied_documents import KINDS, document_of

FOLDER = Path(__file__).parent / "snapshots" / "reading"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_read_before(kind: str) -> None:
    _, count = KINDS[kind]
    told: list[str] = []
    for number in range(count):
        made = document_of(kind, number)
        told += [f"=== {kind} {number}", retold(*parsed(made.pages, made.header, made.file_name, made.read_pages))]
    check(FOLDER / f"{kind}.txt", "\n".join(told))


def test_every_stored_text_is_compared() -> None:
    check_names(FOLDER, KINDS)
