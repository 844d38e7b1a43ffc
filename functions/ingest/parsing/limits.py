"""How much a document may cost before it is given up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one document. What a bound cuts off is reported, never passed over in silence.

    The defaults keep any file under 30 s and 512 MB (child and parent together), the budget of the ingest function.

    max_bytes: of the file. max_pages: of the document. wall_s: seconds spent on the whole document (waiting for the
    consumer of the pages is not counted). page_s: seconds one page may take. cpu_s: CPU seconds of one child.
    memory_mb: MiB of address space a child may take above what it starts with. max_characters: of text in all.
    """

    max_bytes: int = 100 * 2**20
    max_pages: int = 5_000
    wall_s: float = 25.0
    page_s: float = 5.0
    cpu_s: int = 25
    memory_mb: int = 320
    max_characters: int = 50_000_000
