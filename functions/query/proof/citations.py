"""Citations: quotes cut out of the stored text, numbered, with the very page and section they stand on."""

from collections.abc import Sequence

from functions.query.retrieval.passages import Passage
from shared.models import Citation


class Quotes:
    """The citations of one answer, numbered from 1 as they are first needed; each quote is there once."""

    def __init__(self) -> None:
        self._quotes: dict[tuple[str, int, int], Citation] = {}

    @property
    def citations(self) -> list[Citation]:
        """Every citation, by number."""
        return list(self._quotes.values())

    def number(self, passage: Passage, start: int, end: int) -> int:
        """Return the number of the citation that quotes `passage.text[start:end]`."""
        key = (passage.chunk_id, start, end)
        if key not in self._quotes:
            self._quotes[key] = _citation(len(self._quotes) + 1, passage, start, end)
        return self._quotes[key].n


def with_markers(text: str, numbers: Sequence[int]) -> str:
    """Return a claim with its markers behind it."""
    return text.rstrip() + "".join(f" [{number}]" for number in dict.fromkeys(numbers))


def _citation(n: int, passage: Passage, start: int, end: int) -> Citation:
    first = passage.page_at(passage.char_start + start)
    last = passage.page_at(passage.char_start + end - 1)
    return Citation(
        n=n,
        document_id=passage.document_id,
        title=passage.title,
        source_type=passage.source_type,
        page_start=first.number,
        page_end=last.number,
        page_label=first.label,
        section=passage.section_at(passage.char_start + start),
        quote=passage.text[start:end],
        char_start=passage.char_start + start,
        char_end=passage.char_start + end,
        score=round(passage.score, 4),
    )
