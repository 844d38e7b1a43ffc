"""Turn `[n]` markers into citations whose quotes are cut out of the stored text, and drop what points nowhere.

A citation's quote is always a stretch of the stored chunk, character for character: the service looks for the cited
sentence in the source it names and quotes the sentence there that says most of it. Nothing the model wrote is quoted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.passages import Passage
from functions.query.words import overlap, terms_of
from shared.models import Citation
from shared.sentences import sentence_spans

_MARKERS = re.compile(r"[ \t]*\[\s*(?:source\s*)?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]", re.IGNORECASE)
LEAST_OVERLAP = 0.2
"""Share of a cited sentence's words that its quote has to contain; under it the source does not say that."""

MOST_QUOTED_WORDS = 120


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer whose markers `[1] … [k]` name the citations in order, and how many markers had to be dropped."""

    text: str
    citations: Sequence[Citation]
    dropped: int


def cite(answer: str, passages: Sequence[Passage]) -> CitedAnswer:
    """Check every marker of a model's answer against the passages (source n is `passages[n - 1]`) and renumber them.

    A marker is dropped when no such source was given, or when the source has no sentence that shares enough words
    with the sentence that cites it.
    """
    quotes: dict[tuple[str, int, int], Citation] = {}
    dropped = 0
    written: list[str] = []
    position = claim_start = 0
    for marker in _MARKERS.finditer(answer):
        between = answer[position : marker.start()]
        if between.strip(" \t.,;"):
            claim_start = position
        said = answer[claim_start : marker.start()]
        numbers: list[int] = []
        for source in re.findall(r"\d+", marker.group(1)):
            span = _best_quote(said, passages[int(source) - 1]) if 1 <= int(source) <= len(passages) else None
            if span is None:
                dropped += 1
                continue
            citation = _citation(quotes, passages[int(source) - 1], span)
            if citation.n not in numbers:
                numbers.append(citation.n)
        written.append(between + "".join(f" [{n}]" for n in numbers))
        position = marker.end()
    written.append(answer[position:])
    return CitedAnswer("".join(written).strip(), list(quotes.values()), dropped)


def quoted(sentences: Sequence[tuple[Passage, int, int]]) -> CitedAnswer:
    """Build an answer out of stretches `(passage, start, end)` of the passages' own texts, each with its citation."""
    quotes: dict[tuple[str, int, int], Citation] = {}
    parts: list[str] = []
    for passage, start, end in sentences:
        citation = _citation(quotes, passage, (start, end))
        parts.append(f"{' '.join(citation.quote.split())} [{citation.n}]")
    return CitedAnswer("\n".join(parts), list(quotes.values()), 0)


def keep_verified(answer: CitedAnswer, passages: Sequence[Passage]) -> CitedAnswer:
    """Keep the citations whose quote stands, character for character, where they say; take out the others' markers."""
    failed = {citation.n for citation in answer.citations if not _stands(citation, passages)}
    if not failed:
        return answer
    text = re.sub(r" ?\[(\d+)\]", lambda marker: "" if int(marker[1]) in failed else marker[0], answer.text)
    kept = [citation for citation in answer.citations if citation.n not in failed]
    return CitedAnswer(text, kept, answer.dropped + len(failed))


def _stands(citation: Citation, passages: Sequence[Passage]) -> bool:
    for passage in passages:
        start, end = citation.char_start - passage.char_start, citation.char_end - passage.char_start
        if (
            passage.document_id == citation.document_id
            and 0 <= start < end <= len(passage.text)
            and passage.text[start:end] == citation.quote
        ):
            return True
    return False


def _citation(quotes: dict[tuple[str, int, int], Citation], passage: Passage, span: tuple[int, int]) -> Citation:
    start, end = span
    key = (passage.chunk_id, start, end)
    if key not in quotes:
        first = passage.page_at(passage.char_start + start)
        last = passage.page_at(passage.char_start + end - 1)
        quotes[key] = Citation(
            n=len(quotes) + 1,
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
    return quotes[key]


def _best_quote(said: str, passage: Passage) -> tuple[int, int] | None:
    """Return the stretch of the passage that says what was said before the marker, or None.

    That is all of it or its last sentence, where it stands there; else the sentence nearest to the last one.
    """
    claim = _last_sentence(said)
    exact = _find(said, passage.text) or _find(claim, passage.text)
    if exact is not None:
        return exact
    wanted = terms_of(claim)
    if not wanted:
        return None
    best = max(
        (
            (overlap(wanted, terms_of(passage.text[start:end])), -start, end)
            for start, end in sentence_spans(passage.text)
        ),
        default=(0.0, 0, 0),
    )
    return (-best[1], best[2]) if best[0] >= LEAST_OVERLAP else None


def _find(claim: str, text: str) -> tuple[int, int] | None:
    """Find the claim in the text with white space and line-break hyphens allowed to differ."""
    words = claim.strip(" \t\n.").split()
    if not 3 <= len(words) <= MOST_QUOTED_WORDS:
        return None
    found = re.search(r"[-\u00ad]?\s+".join(map(re.escape, words)) + r"[.!?…]?", text)
    return found.span() if found else None


def _last_sentence(text: str) -> str:
    spans = list(sentence_spans(text))
    return text[spans[-1][0] : spans[-1][1]] if spans else ""
