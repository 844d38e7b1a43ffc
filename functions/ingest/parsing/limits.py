"""How much a document may cost before it is given up."""

from dataclasses import dataclass

EARNED_S_PER_CHARACTER = 1 / 100_000
EARNED_PAGE_CHARACTERS = 5_000
"""Text earns time: a page of 2,000 new characters 20 ms, what it needs where there is but a third of a core."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one document. What a bound cuts off is reported, never passed over in silence.

    The defaults keep any hostile file under 30 s and 512 MB (child and parent together). They do not cut off a long
    honest one: each page of text that was not there before adds to `wall_s` (see above); bombs have none.

    max_bytes: of the file. max_pages: of the document. wall_s: seconds spent on the whole document (waiting for the
    consumer of the pages is not counted). page_s: seconds one page may take. cpu_s: CPU seconds a child may use for
    opening the file, and for each page. memory_mb: MiB of address space a child may take above what it starts with.
    max_characters: of text in all.
    """

    max_bytes: int = 100 * 2**20
    max_pages: int = 5_000
    wall_s: float = 25.0
    page_s: float = 5.0
    cpu_s: int = 10
    memory_mb: int = 320
    max_characters: int = 50_000_000
