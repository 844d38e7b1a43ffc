"""An answer without a language model: the sentences of the given sources that are closest to the question.

The prompt it reads is Recto's: sources fenced as `<source n="1" title="…" page="3">…</source>`, then `Question: …`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from local.openai.engine import Engine
from shared.sentences import statement_spans

REFUSAL = "I don't have that information in the sources."

_MIN_SIMILARITY = 0.35  # cosine of question and sentence under which MiniLM's best is taken to be about something else
_NEAR_BEST = 0.75  # a further sentence is worth citing from this share of the best similarity on
_SAME = 0.95  # cosine of two sentences that say the same
_MAX_SENTENCES = 3
_PAIR_HANDICAP = 0.06  # two sentences answer better than one only if they are nearer by this
_LONGEST_PAIR = 400  # characters
_FAR = 10_000_000  # sets the positions of different sources apart
_MIN_WORDS = 4  # shorter "sentences" are headings, page numbers and table cells

_SOURCE = re.compile(r'<source\b((?:[^">]|"[^"]*")*)>\n?(.*?)\n?</source>', re.DOTALL)
_NUMBER = re.compile(r'\bn="(\d+)"')
_QUESTION = re.compile(r"^\s*Question:\s*(.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered source as the prompt gives it."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Pick:
    """A sentence, character for character as it stands in source `source`."""

    sentence: str
    source: int
    similarity: float


def read_prompt(texts: Sequence[str]) -> tuple[list[Source], str]:
    """Return the sources of all the messages and the question, which is the end of the last message."""
    sources = []
    for text in texts:
        for attributes, body in _SOURCE.findall(text):
            if number := _NUMBER.search(attributes):
                sources.append(Source(int(number[1]), body))
    rest = _SOURCE.sub("", texts[-1]) if texts else ""
    asked = _QUESTION.search(rest)
    return sources, (asked[1] if asked else rest).strip()


def pick(sources: Sequence[Source], question: str, engine: Engine) -> list[Pick]:
    """Return the one to three sentences that are closest to the question, best first; none if none is close."""
    candidates = [
        (source.text[start:end], source.number, source.number * _FAR + start, source.number * _FAR + end, handicap)
        for source in sources
        for start, end, handicap in _stretches(source.text)
    ]
    if not candidates or not question:
        return []
    vectors = engine.embed([question, *(candidate[0] for candidate in candidates)], urgent=True)
    similarities = vectors[1:] @ vectors[0] - [candidate[-1] for candidate in candidates]
    floor = max(_MIN_SIMILARITY, _NEAR_BEST * float(similarities.max()))
    chosen: list[int] = []
    for row in (-similarities).argsort(kind="stable"):
        if similarities[row] < floor or len(chosen) == _MAX_SENTENCES:
            break
        start, end = candidates[row][2:4]
        apart = all(end <= candidates[other][2] or start >= candidates[other][3] for other in chosen)
        if apart and all(vectors[1 + row] @ vectors[1 + other] < _SAME for other in chosen):
            chosen.append(int(row))
    return [Pick(*candidates[row][:2], float(similarities[row])) for row in chosen]


def _stretches(text: str) -> list[tuple[int, int, float]]:
    """Return the statements of a text, and each with the next of its paragraph, which has to be that much nearer."""
    spans = [span for span in statement_spans(text) if len(text[slice(*span)].split()) >= _MIN_WORDS]
    pairs = [
        (start, end, _PAIR_HANDICAP)
        for (start, stop), (begin, end) in pairwise(spans)
        if text[stop:begin] in {" ", "  "} and end - start <= _LONGEST_PAIR
    ]
    return [(start, end, 0.0) for start, end in spans] + pairs


def as_text(picks: Sequence[Pick]) -> str:
    """Write the answer, each sentence followed by its source's number in brackets."""
    return " ".join(f"{pick.sentence} [{pick.source}]" for pick in picks) or REFUSAL


def as_claims(picks: Sequence[Pick]) -> dict[str, object]:
    """Write the answer as the object that is asked for with a JSON response format."""
    claims = [{"text": pick.sentence, "source": pick.source, "quote": pick.sentence} for pick in picks]
    return {"answer": as_text(picks), "claims": claims}
