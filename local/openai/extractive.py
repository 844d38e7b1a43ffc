"""The emulated chat model, without a language model: answers, standalone questions and summaries.

An answer is the sentences of the given sources that are closest to the question. The prompt it reads is Recto's:
sources fenced as `<source n="1" title="…" page="3" table="…">…</source>`, then `Question: …`. A follow-up is rewritten
by the heuristic that the query function uses without a model, so that the model's code path runs on a laptop too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from functions.query.grounding.tables import row_text
from functions.query.grounding.words import content_stems
from functions.query.retrieval.numbered import NumberedPart
from functions.query.understanding.parts import parts_of
from functions.query.understanding.rewriting import rewritten_by_rule
from functions.query.writing.asked import Asked
from functions.query.writing.list_items import without_bullet
from local.openai.engine import EmbeddingEngine
from shared.language import language_of
from shared.models import Message, Role
from shared.text import SEPARATOR, column_names, first_row, is_header, names_data, row_cells, statement_spans

REFUSAL = "I don't have that information in the sources."

_MIN_SIMILARITY = 0.35  # cosine of question and sentence; a best one below it is about something else
_NEAR_BEST = 0.75  # a second sentence is worth citing from this share of the best similarity on
_MAX_SENTENCES = 2
_MOST_OF_A_PART = 8  # sentences of a numbered part that are told
_PAIR_HANDICAP = 0.06  # two sentences answer better than one only if they are nearer by this
_LONGEST_PAIR = 400  # characters
_OTHER_YEAR_HANDICAP = 0.15  # a sentence about 2026 hardly answers what is asked about 2025
_MIN_WORDS = 4  # shorter "sentences" are headings, page numbers and table cells

_NUMBERED_HEADING = re.compile(r"\d{1,2}\.? [A-Z][^.!?:;,|\n]*\n\n")
"""The title of a section, alone in its paragraph: "4. What the tenant agrees to do"."""

_SOURCE = re.compile(r'<source\b((?:[^">]|"[^"]*")*)>\n?(.*?)\n?</source>', re.DOTALL)
_TABLE = re.compile(r'\btable="([^"]*)"')
_TITLE = re.compile(r'\btitle="([^"]*)"')
_NUMBER = re.compile(r'\bn="(\d+)"')
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SEARCHED = re.compile(r"\n\(Searched for as: (.*)\)\s*\Z", re.DOTALL)
_QUESTION = re.compile(r"^\s*Question:\s*(.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A numbered source as the prompt gives it."""

    number: int
    text: str
    above: str = ""
    """The lines above the table that its text goes on with."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """A sentence or table row, character for character as in source `source`, and how an answer writes it.

    A row is written with the names of its columns ("Unit: litres; Least: 48").
    """

    sentence: str
    source: int
    similarity: float
    told: str


def read_prompt(texts: Sequence[str]) -> tuple[list[PromptSource], str]:
    """Return the sources of all messages, and the question, which is the end of the last message."""
    sources = [
        PromptSource(
            int(number[1]),
            body,
            f"{table[1].replace(' / ', '\n')}\n" if table else "",
            title[1] if (title := _TITLE.search(attributes)) else "",
        )
        for text in texts
        for attributes, body in _SOURCE.findall(text)
        if (number := _NUMBER.search(attributes))
        for table in [_TABLE.search(attributes)]
    ]
    rest = _SOURCE.sub("", texts[-1]) if texts else ""
    found = _QUESTION.search(rest)
    question = found[1] if found else rest
    # A follow-up says "it"; without a language model only the searched question tells what that is.
    searched = _SEARCHED.search(question)
    return sources, (searched[1] if searched else question).strip()


class _Candidate(NamedTuple):
    """A possible answer: `compared` is compared with the question, and must be closer by `handicap`."""

    text: str
    compared: str
    source: int
    start: int
    end: int
    handicap: float = 0.0


def pick(sources: Sequence[PromptSource], question: str, engine: EmbeddingEngine) -> list[Pick]:
    """Return the sentence or row that is closest to the question, and one that says more of what is asked for.

    None if none is close. A numbered part that the question names is told whole, and each part of a question answered.
    """
    if numbered := _numbered_part(sources, question):
        return numbered
    parts = parts_of(question, language_of(question) or "en")
    if len(parts) > 1:
        found = {
            (each.sentence, each.source): each
            for part in parts
            for each in _nearest(sources, part.question, engine)[:1]
        }
        return list(found.values())
    return _nearest(sources, question, engine)


def _nearest(sources: Sequence[PromptSource], question: str, engine: EmbeddingEngine) -> list[Pick]:
    """Return what is nearest to one question, and one that says more of it."""
    candidates = [candidate for source in sources for candidate in _relevant_candidates(source, question)]
    # "How many visitors …?" is answered by their number alone, however near other sentences are.
    asked = Asked.of(question)
    counted = [each for each in candidates if asked.is_counted_in(each.text)]
    candidates, most = (counted, 1) if counted else (candidates, _MAX_SENTENCES)
    if not candidates or not question:
        return []
    vectors = engine.embed([question, *(candidate.compared for candidate in candidates)], urgent=True)
    handicaps = [each.handicap + _OTHER_YEAR_HANDICAP * _is_of_another_year(each, question) for each in candidates]
    similarities = vectors[1:] @ vectors[0] - handicaps
    best = int(similarities.argmax())
    if similarities[best] < _MIN_SIMILARITY:
        return []
    titles = {source.number: source.title for source in sources}
    wanted = frozenset(content_stems(question)) - set(content_stems(candidates[best].compared))
    chosen = [best]
    for row in (-similarities).argsort(kind="stable"):
        mine = candidates[row]
        if len(chosen) == most or similarities[row] < max(_MIN_SIMILARITY, _NEAR_BEST * float(similarities[best])):
            break
        # A second sentence is told if it answers another part of the question, from the same document.
        is_more = not wanted.isdisjoint(content_stems(mine.text)) and not _overlap(mine, candidates[best])
        if is_more and titles[mine.source] == titles[candidates[best].source]:
            chosen.append(int(row))
    picks: dict[tuple[str, int], Pick] = {}
    by_number = {source.number: source for source in sources}
    for row in chosen:
        one, source = candidates[row], by_number[candidates[row].source]
        text, shift = source.above + source.text, len(source.above)
        is_row = SEPARATOR in one.text
        told = (
            row_text(text, shift + one.start, shift + one.end) if is_row else without_bullet(" ".join(one.text.split()))
        )
        picks.setdefault((one.text, one.source), Pick(one.text, one.source, float(similarities[row]), told))
    return list(picks.values())


def _numbered_part(sources: Sequence[PromptSource], question: str) -> list[Pick]:
    part = NumberedPart.of(question)
    spans = (
        (source, part.span_in(source.text))
        for source in sources
        if part is not None and part.is_asked_of(source.title, "")
    )
    source, span = next(((source, span) for source, span in spans if span is not None), (None, None))
    if source is None or span is None:
        return []
    text = source.text[span.start : span.end]
    sentences = [text[start:end] for start, end in statement_spans(text)][:_MOST_OF_A_PART]
    return [Pick(each, source.number, 1.0, " ".join(each.split())) for each in sentences]


def _overlap(one: "_Candidate", other: "_Candidate") -> bool:
    return one.source == other.source and one.start < other.end and other.start < one.end


def _is_of_another_year(candidate: _Candidate, question: str) -> bool:
    """Return whether a candidate names years, and none of those that the question names."""
    asked, named = set(_YEAR.findall(question)), set(_YEAR.findall(candidate.compared))
    return bool(asked and named) and asked.isdisjoint(named)


def _relevant_candidates(source: PromptSource, question: str) -> Iterator[_Candidate]:
    """Yield the candidates, but of a table's rows only those that share the most words with the question.

    To MiniLM the rows of a table look alike.
    """
    stems = frozenset(content_stems(question))
    candidates = list(_candidates(source))
    text, shift = source.above + source.text, len(source.above)
    shared = [
        len(stems.intersection(content_stems(each.text))) if column_names(text, shift + each.start) else None
        for each in candidates
    ]
    most = max((count for count in shared if count is not None), default=0)
    yield from (each for each, count in zip(candidates, shared, strict=True) if count in {None, most})


def _candidates(source: PromptSource) -> Iterator[_Candidate]:
    """Yield the statements of a source, and each with the next of its paragraph.

    A question is not an answer, but it is compared together with the text after it: an FAQ's answer uses other words.
    """
    text, whole, shift = source.text, source.above + source.text, len(source.above)
    before = (0, 0)
    for start, end in statement_spans(text):
        follows_question = before[1] > 0 and text[before[1] - 1] == "?" and start - before[1] <= 2
        asks = text[end - 1] == "?"
        is_head = _is_header(whole, shift + start) or _NUMBERED_HEADING.match(text[start : end + 2])
        if not asks and not is_head and (follows_question or len(text[start:end].split()) >= _MIN_WORDS):
            compared = text[before[0] if follows_question else start : end]
            yield _Candidate(text[start:end], compared, source.number, start, end)
            if not follows_question and text[before[1] : start] in {" ", "  "} and end - before[0] <= _LONGEST_PAIR:
                pair = text[before[0] : end]
                yield _Candidate(pair, pair, source.number, before[0], end, _PAIR_HANDICAP)
        before = (start, end)


def _is_header(text: str, start: int) -> bool:
    """Return whether a row names the columns of the rows below it."""
    if is_header(text, start):
        return True
    first = first_row(text, start)
    if first is None or not first[0] <= start < first[1]:
        return False
    return names_data(row_cells(text[slice(*first)]), text[first[1] + 1 :])


def as_text(picks: Sequence[Pick]) -> str:
    """Write the answer, each sentence followed by its source's number in brackets."""
    return " ".join(f"{pick.told} [{pick.source}]" for pick in picks) or REFUSAL


def as_claims(picks: Sequence[Pick]) -> dict[str, object]:
    """Write the answer as the object that Recto's JSON schema asks for: claims, each with its source and quote."""
    claims = [
        {
            "citations": [{"source": pick.source, "quote": pick.sentence}],
            "original": "",
            "text": pick.told,
        }
        for pick in picks
    ]
    return {"answered": bool(claims), "claims": claims}


_FENCE = re.compile(r"<conversation>\n(.*)\n</conversation>", re.DOTALL)
_SUMMARY_CHARACTERS = 600


def conversation_reply(texts: Sequence[str]) -> str | None:
    """Return the standalone question or the summary, if the last text requests one of them; else None."""
    match = _FENCE.fullmatch(texts[-1].strip()) if texts else None
    try:
        request = orjson.loads(match[1]) if match else None
    except orjson.JSONDecodeError:
        return None
    match request:
        case {"question": str(question), "conversation": list(conversation)}:
            return _rewrite(question, conversation)
        case {"notes": str(notes), "said": list(said)}:
            return _summary(notes, said)
        case _:
            return None


def _rewrite(question: str, conversation: Sequence[Mapping[str, Any]]) -> str:
    language = language_of(question)
    turns = enumerate(conversation)
    history = [Message(str(number), _role(turn), str(turn.get("text", "")), "") for number, turn in turns]
    text, _ = rewritten_by_rule(question, history, language)
    return orjson.dumps({"question": text, "language": language, "variations": []}).decode()


def _summary(former: str, turns: Sequence[Mapping[str, Any]]) -> str:
    questions = [str(turn.get("text", "")) for turn in turns if _role(turn) == "user"]
    return " ".join([former, *questions])[-_SUMMARY_CHARACTERS:].strip()


def _role(turn: Mapping[str, Any]) -> Role:
    return "assistant" if turn.get("role") == "assistant" else "user"
