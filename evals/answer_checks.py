"""Checks an answer without a model: citations, quotes, and whether the quotes say what the answer says."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from functions.query.retrieval.passages import Passage
from shared.models import Citation
from shared.text import sentence_spans, table_head

_MARKER = re.compile(r"\[(\d+)\]")
_WORD = re.compile(r"\w+(?:[.,]\d+)*%?")
_STOP = frozenset(
    _WORD.findall("""
    a about also an and are as at be been but by can did do does for from had has have he her his how i if in into is
    it its may more most no not of on one or our she should so such than that the their them there these they this
    those to was we were what when where which who will with would you your
    """)
)
MIN_SHARE = 0.6
"""Share of a sentence's content words its quotes must hold to support it; every number must be there in any case."""


@dataclass(frozen=True, slots=True)
class AnswerChecks:
    """The result of the checks. Shares are between 0 and 1, None where there is nothing to count.

    `valid`: of the markers `[n]`, those that name a citation, and of the citations, those that a marker names.
    `exact`: of the citations, those whose quote stands at its position in the passage that was given.
    `supported`: of the sentences, those whose numbers and content words stand in the quotes they cite.
    """

    citations: int
    valid: float | None
    exact: float | None
    supported: float | None


def check(text: str, citations: Sequence[Citation], sources: Sequence[Passage]) -> AnswerChecks:
    """Check an answer against the passages it was made from, without the pipeline's own checks."""
    markers = [int(number) for number in _MARKER.findall(text)]
    known = {citation.n: citation for citation in citations}
    checked = [number in known for number in markers] + [number in markers for number in known]
    exact = [_stands(citation, sources) for citation in citations]
    quoted = {number: _with_column_names(citation, sources) for number, citation in known.items()}
    supported = [_is_supported(sentence, quoted) for sentence in sentences_with_markers(text)]
    return AnswerChecks(len(citations), _share(checked), _share(exact), _share(supported))


def sentences_with_markers(text: str) -> list[str]:
    """Return the sentences of an answer, each with the markers that follow it; those without letters are left out."""
    found: list[str] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end].strip()
        leading = re.match(r"(?:\s*\[\d+\])+", sentence)
        if leading and found:  # markers behind the full stop belong to the sentence before
            found[-1] += f" {leading.group().strip()}"
            sentence = sentence[leading.end() :].strip()
        if content_words(_MARKER.sub("", sentence)):
            found.append(sentence)
    return found


def content_words(text: str) -> set[str]:
    """Return the content words in lower case, without a plural s; numbers without their separators."""
    words = set()
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        if word[0].isdigit():
            words.add(word.rstrip("%").replace(",", ""))
        elif word not in _STOP and len(word) > 1:
            words.add(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)
    return words


def recall_of(wanted: str, texts: Iterable[str]) -> float | None:
    """Return the share of the wanted text's content words that occur in the texts; None when it has none."""
    words = content_words(wanted)
    if not words:
        return None
    held = set().union(*map(content_words, texts)) if texts else set()
    return len(words & held) / len(words)


def _with_column_names(citation: Citation, sources: Sequence[Passage]) -> str:
    """Return a quote with the first rows of its table, which name its columns."""
    source = next((source for source in sources if _stands(citation, [source])), None)
    head = table_head(source.text, citation.char_start - source.char_start, rows=2) if source else ()
    return "\n".join((*head, citation.quote))


def _is_supported(sentence: str, quoted: Mapping[int, str]) -> bool:
    quotes = " ".join(quoted[int(number)] for number in _MARKER.findall(sentence) if int(number) in quoted)
    said, held = content_words(_MARKER.sub("", sentence)), content_words(quotes)
    numbers = {word for word in said if word[0].isdigit()}
    return numbers <= held and len(said & held) >= MIN_SHARE * len(said)


def _stands(citation: Citation, sources: Sequence[Passage]) -> bool:
    return any(
        source.document_id == citation.document_id
        and citation.char_start >= source.char_start
        and source.text[citation.char_start - source.char_start : citation.char_end - source.char_start]
        == citation.quote
        != ""
        for source in sources
    )


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
