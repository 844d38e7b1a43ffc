"""A version of ingest cuts a text at the same places in every build: other chunks would be embedded and paid for anew.

If a change moves these borders on purpose, see that they are better ones, and increase `INGEST_VERSION`, so that all
documents are ingested again.
"""

import random
from collections.abc import Callable, Sequence

import pytest

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from shared.models import Page

WORDS = [
    *("river", "stone", "harbour", "engine", "ledger", "copper", "orchard"),
    *("signal", "winter", "market", "bridge", "lantern", "cargo"),
]


def words(made: random.Random, least: int, most: int) -> str:
    return " ".join(made.choices(WORDS, k=made.randint(least, most)))


def text(made: random.Random, paragraphs: int) -> str:
    return "\n\n".join(
        " ".join(words(made, 4, 22).capitalize() + made.choice(".?!") for _ in range(made.randint(2, 6)))
        for _ in range(paragraphs)
    )


def prose(made: random.Random) -> list[Page]:
    return [Page(number, text(made, 4), continues=number % 3 == 0) for number in range(1, 7)]


def sections(made: random.Random) -> list[Page]:
    def section(number: int, at: int) -> str:
        return f"{'#' * (1 + at % 2)} {made.choice(WORDS)} {number}.{at}\n\n{text(made, 1 + at)}"

    return [Page(number, "\n\n".join(section(number, at) for at in range(3))) for number in range(1, 5)]


def items(made: random.Random) -> list[Page]:
    lines = [f"- valve {made.randint(100, 999)}, {made.choice(WORDS)}: {words(made, 1, 9)}" for _ in range(80)]
    return [Page(1, "\n".join(lines))]


def table(made: random.Random) -> list[Page]:
    rows = [f"| {made.choice(WORDS)} | {made.randint(1990, 2024)} | {made.randint(10, 9999)} |" for _ in range(60)]
    return [Page(1, "\n".join(["| Part | Year | Sum |", "|---|---|---|", *rows]))]


def endless(made: random.Random) -> list[Page]:
    return [Page(1, ", ".join(words(made, 4, 12) for _ in range(60)) + "."), Page(2, f"{'x' * 900} {'字' * 400}")]


SMALL, LARGE = ChunkSettings(64, 16), ChunkSettings(200, 0)


@pytest.mark.parametrize(
    ("make", "size", "starts"),
    [
        (prose, SMALL, [
            0, 200, 441, 594, 919, 1024, 1341, 1719, 1968, 2297, 2521, 2766, 3084, 3410, 3694, 3873,
            4078, 4317, 4638, 4859, 5071, 5298, 5567, 5752, 5968, 6149, 6478, 6686, 6999, 7228,
            7538, 7909, 8253, 8498, 8861, 8957, 9260, 9440, 9811
        ]),
        (prose, LARGE, [
            0, 1125, 1968, 2617, 3440, 4638, 5567, 6686, 7613, 8498, 9260
        ]),
        (sections, SMALL, [
            0, 240, 460, 808, 1104, 1242, 1557, 1859, 2145, 2409, 2617, 2781, 3103, 3383, 3681,
            3938, 4283, 4482, 4793, 5104, 5331, 5600, 5877, 6181, 6372, 6503, 6807, 7124, 7440,
            7633, 7920, 8221, 8361, 8684, 9024
        ]),
        (sections, LARGE, [
            0, 808, 1613, 2409, 3383, 4283, 5331, 5877, 6807, 7266, 8221
        ]),
        (items, SMALL, [
            0, 206, 361, 525, 708, 895, 1058, 1231, 1383, 1574, 1779, 1944, 2155, 2381, 2590, 2834,
            2942, 3137, 3333, 3523, 3720, 3869, 4020
        ]),
        (items, LARGE, [
            0, 749, 1503, 2155, 2906, 3523
        ]),
        (table, SMALL, [
            0, 134, 259, 383, 510, 635, 758, 856, 955, 1077, 1175, 1300, 1424
        ]),
        (table, LARGE, [
            0, 383, 807, 1126
        ]),
        (endless, SMALL, [
            0, 329, 689, 1015, 1335, 1680, 1998, 2290, 2594, 2934, 3213, 3547, 3799, 4037, 4275,
            4462, 4518, 4574, 4630, 4686, 4742, 4798
        ]),
        (endless, LARGE, [
            0, 689, 1412, 2531, 3547, 4496, 4688
        ]),
    ],
)  # fmt: skip
def test_a_text_is_cut_where_it_was(
    make: Callable[[random.Random], list[Page]], size: ChunkSettings, starts: Sequence[int]
) -> None:
    chunks = chunk_pages(make(random.Random(5)), title="A title", settings=size)
    assert [chunk.char_start for chunk in chunks] == starts
