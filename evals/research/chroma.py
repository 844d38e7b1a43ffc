"""Chroma's chunking evaluation: its data (corpora, questions, gold excerpts with character offsets) and its scores.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma Technical Report, July 2024, and the
evaluation program published with it. Spans are `(start, end)` character offsets in one corpus, the end not included.

For one question with gold spans G and retrieved chunks R of the gold's corpus:

    recall       = |G ∩ R| / |G|
    precision    = |G ∩ R| / sum of the lengths of all retrieved chunks (repetitions and other corpora counted)
    IoU          = |G ∩ R| / (that sum + |G not in R|)
    precision Ω  = the IoU when exactly the chunks that touch G are retrieved, overlaps counted once
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.data import csv_rows, data_folder, sampled
from evals.errors import DatasetError

Span = tuple[int, int]
FORM = """  DIR/corpora/*.md        the texts; `corpus_id` is the file's name without .md
  DIR/questions_df.csv    question, references, corpus_id; `references` is a JSON list of
    {"content": "…", "start_index": 0, "end_index": 12}, offsets in characters"""


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question with the spans of its corpus that answer it."""

    id: str
    text: str
    corpus: str
    gold: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ChunkingData:
    """Texts by corpus id, and questions about them."""

    corpora: Mapping[str, str]
    questions: Sequence[SpanQuestion]


def read_chroma(folder: Path, *, sample: int | None = None) -> ChunkingData:
    """Read a folder. Raises `DatasetError`; an offset that does not hold its excerpt is one too."""
    data_folder(folder, FORM, "corpora", "questions_df.csv")
    corpora = {}
    for path in sorted((folder / "corpora").glob("*.md")):
        # newline="": offsets count the characters of the file, and a translated \r\n would move them.
        with path.open(encoding="utf-8", newline="") as file:
            corpora[path.stem] = file.read()
    if not corpora:
        raise DatasetError(f"{folder / 'corpora'} holds no .md file. Expected is:\n{FORM}")
    rows = csv_rows(folder / "questions_df.csv", FORM)
    questions = [_question(number, row, corpora, where) for number, where, row in rows]
    return ChunkingData(corpora, sampled(questions, sample, key=lambda question: question.id))


def _question(number: int, row: Mapping[str, str], corpora: Mapping[str, str], where: str) -> SpanQuestion:
    try:
        corpus, text, references = row["corpus_id"], row["question"], json.loads(row["references"])
        gold = tuple((int(each["start_index"]), int(each["end_index"])) for each in references)
        contents = [str(each["content"]) for each in references]
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"{where}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error
    if corpus not in corpora:
        raise DatasetError(f"{where}: there is no corpora/{corpus}.md.")
    for (start, end), content in zip(gold, contents, strict=True):
        if corpora[corpus][start:end] != content:
            raise DatasetError(
                f"{where}: characters {start} to {end} of corpora/{corpus}.md are not the excerpt {content[:60]!r}: "
                "the text and the offsets do not belong together."
            )
    return SpanQuestion(f"{corpus}-{number}", text, corpus, gold)


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpanScores:
    """One question's scores, each between 0 and 1."""

    recall: float
    precision: float
    iou: float
    precision_omega: float


def length(spans: Iterable[Span]) -> int:
    """Return the number of characters, overlaps counted as often as they occur."""
    return sum(end - start for start, end in spans)


def union(spans: Iterable[Span]) -> list[Span]:
    """Return disjoint spans in order that cover the same characters."""
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def intersection(left: Iterable[Span], right: Iterable[Span]) -> list[Span]:
    """Return disjoint spans of the characters in both."""
    a, b = union(left), union(right)
    both: list[Span] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            both.append((start, end))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return both


def score(
    gold: Sequence[Span], retrieved: Sequence[Span], *, elsewhere: int = 0, all_chunks: Sequence[Span] = ()
) -> SpanScores:
    """Score one question.

    `retrieved` are the chunks of the gold's corpus, `elsewhere` the summed lengths of the retrieved chunks of others,
    `all_chunks` every chunk of the gold's corpus (for precision Ω).
    """
    found = length(intersection(gold, retrieved))
    wanted = length(union(gold))
    taken = length(retrieved) + elsewhere
    touching = [chunk for chunk in all_chunks if intersection([chunk], gold)]
    best = length(intersection(gold, touching))
    # Gold that no chunk holds stays in the denominator: a chunker that drops text pays for it.
    best_taken = length(union([*touching, *gold]))
    return SpanScores(
        recall=found / wanted if wanted else 0.0,
        precision=found / taken if taken else 0.0,
        iou=found / (taken + wanted - found) if taken + wanted - found else 0.0,
        precision_omega=best / best_taken if best_taken else 0.0,
    )
