"""Neighbours: the chunks next to the best passages, fetched in one request and joined with them where they touch.

A chunk may end just before the sentence that answers. Neighbours are fetched by document, published generation and
number, in the tenant's namespace and under the request's own filter, so only chunks that the search may return are
added. Positions stay exact: two passages are joined only if the text between them is known to the character.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from functions.query.retrieval.filters import both
from functions.query.retrieval.passages import Passage
from shared.models import Filter, content_hash_of
from shared.text import SEPARATOR

EXPANDED = 3
"""Best passages whose neighbours are fetched: the others seldom answer."""
MAX_PIECES = 3
"""Maximum further pieces of a table on each side of a passage that begins or ends with one."""

Tables = Literal["", "begun", "whole"]
"""Which tables are completed: none, those that a passage begins, also those that it goes on with."""

Place = tuple[str, str, int]
"""Document, generation, number of the chunk."""


def place_of(passage: Passage, step: int = 0) -> Place:
    """Return the place of a passage, or of the chunk `step` chunks after it."""
    return (passage.document_id, passage.generation, passage.chunk_index + step)


def places_beside(passages: Sequence[Passage], *, neighbours: int, tables: Tables = "") -> list[Place]:
    """Return the places within `neighbours` of the best passages that none of `passages` holds.

    Of `tables` also where more of one may stand that one of them begins or ends with.
    """
    wanted = {
        place_of(passage, direction * step)
        for passage in passages[:EXPANDED]
        for direction in (-1, 1)
        for step in range(1, (MAX_PIECES if _is_completed(passage, direction, tables) else neighbours) + 1)
        if passage.chunk_index + direction * step >= 0
    }
    return sorted(wanted - set(map(place_of, passages)))


def filter_for(places: Sequence[Place], own: Filter | None) -> Filter:
    """Return the filter for exactly these places, combined with the request's `own` filter."""
    of_document: dict[tuple[str, str], list[int]] = {}
    for document_id, generation, chunk_index in places:
        of_document.setdefault((document_id, generation), []).append(chunk_index)
    parts = [
        {"document_id": {"$eq": document}, "generation": {"$eq": generation}, "chunk_index": {"$in": numbers}}
        for (document, generation), numbers in of_document.items()
    ]
    return both(own, parts[0] if len(parts) == 1 else {"$or": parts}) or {}


def expanded(
    passages: Sequence[Passage],
    found: Mapping[Place, Passage],
    *,
    neighbours: int,
    budget_tokens: int,
    tables: Tables = "",
) -> list[Passage]:
    """Return the passages in their order, the best joined with their neighbours, and their `tables` completed.

    `found` holds the neighbours. If two of `passages` come to touch, the better one absorbs the other. At most
    `budget_tokens` are added, the nearest neighbours of the best passages first.
    """
    known = dict(found) | {place_of(passage): passage for passage in reversed(passages)}
    used: set[Place] = set()
    result: list[Passage] = []
    for rank, passage in enumerate(passages):
        if place_of(passage) in used:
            continue
        used.add(place_of(passage))
        whole = passage
        for direction in (-1, 1) if rank < EXPANDED else ():
            for distance in range(1, max(neighbours, MAX_PIECES if tables else 0) + 1):
                is_cut = _is_completed(whole, direction, tables)
                place = place_of(passage, direction * distance)
                beside = known.get(place)
                if is_cut and direction > 0:
                    whole = whole._replace(table_ends=beside is None or SEPARATOR not in beside.text.partition("\n")[0])
                if beside is None or place in used or not (is_cut or distance <= neighbours):
                    break
                if distance > neighbours and whole.table_ends:
                    break
                cost = beside.token_count if place in found else 0
                joined = _joined(beside, whole) if direction < 0 else _joined(whole, beside)
                if joined is None or cost > budget_tokens:
                    break
                budget_tokens -= cost
                used.add(place)
                whole = joined
        result.append(whole._replace(chunk_id=passage.chunk_id, chunk_index=passage.chunk_index))
    return result


def _is_completed(passage: Passage, direction: int, tables: Tables) -> bool:
    is_wanted = tables == "whole" or (tables == "begun" and direction > 0 and not passage.table)
    return is_wanted and _is_cut(passage, direction)


def _is_cut(passage: Passage, direction: int) -> bool:
    """Say whether a table that a passage begins (-1) or ends (1) with may have more rows beside it."""
    lines = passage.text.partition("\n")[0], passage.text.rpartition("\n")[2]
    return SEPARATOR in lines[direction > 0]


def _joined(first: Passage, second: Passage) -> Passage | None:
    """Return the two as one, None where the text between them is not known."""
    is_apart = first.corrected or second.corrected or first.described_by or second.described_by
    between = None if is_apart else _between(first, second)
    if between is None:
        return None
    text = first.text + between + second.text[max(0, first.char_end - second.char_start) :]
    pages = dict.fromkeys((*first.pages, *second.pages))
    sections = dict.fromkeys((*first.sections, *second.sections))
    return first._replace(
        text=text,
        content_hash=content_hash_of(text),
        rects="\n".join(filter(None, (first.rects, second.rects))),
        token_count=first.token_count + second.token_count,
        page_end=max(first.page_end, second.page_end),
        pages=tuple(sorted(pages, key=lambda page: (page.char_start, page.number))),
        sections=tuple(sorted(sections, key=lambda section: section.char_start)),
        score=max(first.score, second.score),
        has_similarity=first.has_similarity and second.has_similarity,
        table_ends=second.table_ends,
        rank_score=max(first.rank_score, second.rank_score),
    )


def _between(first: Passage, second: Passage) -> str | None:
    """Return the text between two passages of the cleaned text: nothing, a blank line, or a single newline.

    Overlapping texts must agree. One character inside a page may be a space or a newline, so it is not known, but for
    that between two rows of a table.
    """
    gap = second.char_start - first.char_end
    if gap <= 0:
        shared = second.text[: -gap or None] if gap else ""
        agree = first.char_start <= second.char_start and first.text.endswith(shared) and -gap <= len(second.text)
        return "" if agree else None
    if gap == 2:
        return "\n\n"
    at_page = any(page.char_start == second.char_start for page in second.pages) and second.page_start > first.page_end
    is_row = bool(second.table) and _is_cut(first, 1) and _is_cut(second, -1)
    return "\n" if gap == 1 and (at_page or is_row) else None
