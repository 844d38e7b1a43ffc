"""Claims and their evidence, from a claims file about PDFs, or from FaithBench's or MTRAG's labelled answers.

The form is recognised by the content. Each claim is honest (it follows from its evidence), false (it does not), or
neither.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.data import json_lines
from evals.errors import DatasetError
from functions.query.grounding.claims import Claim, Reference, lead_of, statement_spans_of
from functions.query.grounding.quotes import find_quote
from functions.query.grounding.words import stems_of
from functions.query.retrieval.passages import Passage
from shared.models import SourceType
from shared.settings import Settings
from shared.text import sentence_spans

FORM = """  @ file name without .pdf     starts a group
  ? the question
  q a quote from that document (several lines, several quotes)
  + kind | an honest claim
  - kind | a false claim
or JSON lines with id, source, summary, spans (FaithBench) or with task, sources, answer, faithfulness (MTRAG)"""
QUOTES = 3
"""Quotes of a sentence of FaithBench or MTRAG: the source sentences that share most words with it."""
FAITHFUL = 4
"""MTRAG's best vote."""
TOP_K: int = Settings.model_fields["top_k"].default
HEADER_LINES = 3
_ITEM_NUMBER = re.compile(r"\d{1,2}[.)]\s+(?=\S)")
_CLAIM = re.compile(r"([+-])\s+([^|\s][^|]*?)\s*\|\s*(.+)")

PassagesOf = Callable[[str], Sequence[Passage]]
"""Returns the passages of the PDF with this name (without .pdf). Raises `DatasetError`."""


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim of an answer; `is_honest` is None if it is neither honest nor false."""

    claim: Claim
    kind: str
    is_honest: bool | None


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    """Claims about the same sources: hand-written ones about a few quotes, or the sentences of one real answer.

    `is_answer` says that they are one answer, in order.
    """

    name: str
    question: str
    sources: Sequence[Passage]
    claims: Sequence[LabelledClaim]
    is_answer: bool = False


@dataclass(slots=True)
class _Section:
    """A group of a claims file, as written there."""

    document: str
    where: str
    question: str = ""
    quotes: list[str] = field(default_factory=list)
    claims: list[tuple[bool, str, str]] = field(default_factory=list)


def read_groups(path: Path, passages_of: PassagesOf) -> list[ClaimGroup]:
    """Read a file of any of the three forms. Raises `DatasetError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read as UTF-8 text: {error}") from error
    if text.lstrip().startswith("{"):
        groups = [_labelled_answer(row, f"{path}, line {number}") for number, row in json_lines(path)]
    else:
        groups = [_about_pdf(section, passages_of(section.document)) for section in _sections(text, path)]
    if not any(group.claims for group in groups):
        raise DatasetError(f"{path} holds no claim. Expected is:\n{FORM}")
    return groups


# --- claims about PDFs ---


def _sections(text: str, path: Path) -> Iterator[_Section]:
    section: _Section | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        where, sign, rest = f"{path}, line {number}", line[:2], line[2:].strip()
        if not line.strip():
            continue
        if sign == "@ ":
            if section is not None:
                yield section
            section = _Section(rest, where)
        elif section is None:
            raise DatasetError(f"{where}: a group must begin with `@ file name`. Expected is:\n{FORM}")
        elif sign == "? ":
            if section.claims:  # the next question about the same document
                yield section
                section = _Section(section.document, where)
            section.question = rest
        elif sign == "q ":
            section.quotes.append(rest)
        elif claim := _CLAIM.fullmatch(line):
            section.claims.append((claim[1] == "+", claim[2], claim[3].replace(r"\|", "|")))
        else:
            raise DatasetError(f"{where}: {line[:60]!r} is no line of a claims file. Expected is:\n{FORM}")
    if section is not None:
        yield section


def _about_pdf(section: _Section, passages: Sequence[Passage]) -> ClaimGroup:
    if not section.quotes:
        raise DatasetError(f"{section.where}: the group has no quote (`q …`).")
    held = [_held(quote, passages, section) for quote in section.quotes]
    asked = stems_of(section.question)
    others = sorted(passages, key=lambda passage: -len(asked & stems_of(passage.text)))
    sources = list({passage.chunk_id: passage for passage in (*(passage for passage, _ in held), *others)}.values())[
        :TOP_K
    ]
    references = tuple(Reference(sources.index(passage) + 1, quote) for passage, quote in held)
    claims = [LabelledClaim(Claim(text, references), kind, is_honest) for is_honest, kind, text in section.claims]
    return ClaimGroup(section.document, section.question, sources, claims)


def _held(quote: str, passages: Sequence[Passage], section: _Section) -> tuple[Passage, str]:
    """Return the first passage that holds a quote, with the quote. Raises `DatasetError`.

    A model quotes what it is given. So where a row or header of a table is read otherwise than it is printed, the
    quote is the shortest place that has all its words.
    """
    for passage in passages:
        if any(find_quote(quote, passage.text)):
            return passage, quote
    words = Counter(_words(quote))
    places = [(passage, place) for passage in passages for place in _places(passage.text)]
    with_all = [(passage, place) for passage, place in places if words <= Counter(_words(place))]
    if not with_all:
        raise DatasetError(f"{section.where}: this quote is in no passage of {section.document}.pdf: {quote[:80]!r}")
    return min(with_all, key=lambda found: len(found[1]))


def _places(text: str) -> Iterator[str]:
    """Yield one to three lines that follow each other: a header may stand on as many."""
    lines = text.split("\n")
    for count in range(1, HEADER_LINES + 1):
        for at in range(len(lines) - count + 1):
            yield "\n".join(lines[at : at + count])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


# --- labelled answers of real models ---


def _labelled_answer(row: Mapping[str, Any], where: str) -> ClaimGroup:
    try:
        return _faithbench(row) if "summary" in row else _mtrag(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DatasetError(f"{where}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error


def _faithbench(row: Mapping[str, Any]) -> ClaimGroup:
    spans = [(int(each["start"]), int(each["end"]), list(each["label"])) for each in row["spans"]]

    def label_of(start: int, end: int) -> tuple[str, bool | None]:
        return _faithbench_label([labels for at, stop, labels in spans if at < end and stop > start])

    return _answer(str(row["id"]), "", [row["source"]], row["summary"], label_of)


def _faithbench_label(found: Sequence[Sequence[str]]) -> tuple[str, bool | None]:
    if not found:
        return "right", True
    labels = {label for each in found for label in each}
    unwanted = sorted(label for label in labels if label.startswith("Unwanted"))
    if unwanted:
        return f"wrong {unwanted[-1].partition('.')[2] or 'other'}".lower(), False
    return min(labels, default="unlabelled").lower(), None


def _mtrag(row: Mapping[str, Any]) -> ClaimGroup:
    asked = [turn["text"] for turn in row["conversation"] if turn["speaker"] == "user"]
    is_faithful = all(vote == FAITHFUL for vote in row["faithfulness"])
    label = (f"faithful {row['model']}", True) if is_faithful else (f"doubted {row['model']}", None)
    name = f"{row['task']} {row['model']}"
    return _answer(name, asked[-1], row["sources"], row["answer"], lambda _start, _end: label)


def _answer(
    name: str,
    question: str,
    sources: Sequence[str],
    answer: str,
    label_of: Callable[[int, int], tuple[str, bool | None]],
) -> ClaimGroup:
    passages = [_passage(f"{name}/{number}", text) for number, text in enumerate(sources)]
    sentences = [
        (number, text[start:end])
        for number, text in enumerate(sources, start=1)
        for start, end in sentence_spans(text)
        if any(map(str.isalnum, text[start:end]))
    ]
    claims: list[LabelledClaim] = []
    end_before = 0
    for start, end in statement_spans_of(answer):
        if any(map(str.isalnum, answer[start:end])):
            lead = lead_of(answer[end_before:start]) if claims else ""
            number = item[0] if (item := _ITEM_NUMBER.match(answer, start, end)) else ""
            text = answer[start + len(number) : end]
            claim = Claim(text, _nearest(text, sentences), lead, number)
            claims.append(LabelledClaim(claim, *label_of(start, end)))
        end_before = end
    return ClaimGroup(name, question, passages, claims, is_answer=True)


def _nearest(claim: str, sentences: Sequence[tuple[int, str]]) -> tuple[Reference, ...]:
    said = stems_of(claim)
    ranked = sorted(sentences, key=lambda each: -len(said & stems_of(each[1])))
    return tuple(Reference(number, sentence) for number, sentence in ranked[:QUOTES])


def _passage(name: str, text: str) -> Passage:
    return Passage(
        chunk_id=name,
        document_id=name,
        generation="1",
        source_type=SourceType.PDF,
        title="",
        section="",
        text=text,
        score=0.8,
        chunk_index=0,
        token_count=len(text.split()),
        page_start=1,
        page_end=1,
        page_label="",
        char_start=0,
        content_hash="",
    )
