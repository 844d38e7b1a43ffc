"""Chroma's chunking evaluation: corpora, questions, and gold excerpts with their character offsets."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.errors import DataError
from evals.readers.files import data_folder, sampled
from evals.spans import Span

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
    """Read a folder. Raises `DataError`; an offset that does not hold its excerpt is one too."""
    data_folder(folder, FORM, "corpora", "questions_df.csv")
    corpora = {}
    for path in sorted((folder / "corpora").glob("*.md")):
        # newline="": offsets count the characters of the file, and a translated \r\n would move them.
        with path.open(encoding="utf-8", newline="") as file:
            corpora[path.stem] = file.read()
    if not corpora:
        raise DataError(f"{folder / 'corpora'} holds no .md file. Expected is:\n{FORM}")
    questions = []
    file_path = folder / "questions_df.csv"
    with file_path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=1):
            questions.append(_question(number, row, corpora, f"{file_path}, row {number}"))
    if not questions:
        raise DataError(f"{file_path} holds no question. Expected is:\n{FORM}")
    return ChunkingData(corpora, sampled(questions, sample, key=lambda question: question.id))


def _question(number: int, row: Mapping[str, str], corpora: Mapping[str, str], where: str) -> SpanQuestion:
    try:
        corpus, text, references = row["corpus_id"], row["question"], json.loads(row["references"])
        gold = tuple((int(each["start_index"]), int(each["end_index"])) for each in references)
        contents = [str(each["content"]) for each in references]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error
    if corpus not in corpora:
        raise DataError(f"{where}: there is no corpora/{corpus}.md.")
    for (start, end), content in zip(gold, contents, strict=True):
        if corpora[corpus][start:end] != content:
            raise DataError(
                f"{where}: characters {start} to {end} of corpora/{corpus}.md are not the excerpt {content[:60]!r}: "
                "the text and the offsets do not belong together."
            )
    return SpanQuestion(f"{corpus}-{number}", text, corpus, gold)
