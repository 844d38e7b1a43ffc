"""The data: PDFs with questions about them (`DIR/pdfs/*.pdf`, `DIR/questions.jsonl`), and helpers of all readers."""

import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evals.errors import DatasetError
from evals.storage import file_hash
from shared import identity

FORM = """  DIR/pdfs/*.pdf         the documents
  DIR/questions.jsonl    one JSON object a line, for example
    {"id": "q1", "set": "manuals", "question": "What …?", "doc": "handbook.pdf", "pages": [3],
     "answer": "…", "words": ["…"], "answerable": true, "text_answerable": true, "review": "keep"}
  `pages` counts from 1 and is empty for a question the document does not answer; id, set, answer, words,
  answerable and text_answerable may be left out, and doc of a question that no document answers. `words` are what every
  right answer must hold, as printed. A question with "review": "drop" is not asked."""
DROP = "drop"
"""The `review` of a question that must not be asked."""


@dataclass(frozen=True, slots=True)
class PdfQuestion:
    """A question about one PDF, with the pages its answer stands on (from 1).

    `from_text` says that text alone is enough to answer it; else a picture or a chart has to be seen. `words` are what
    every right answer must hold; without them the words of `answer` are looked for.
    """

    id: str
    set: str
    text: str
    doc: str
    pages: tuple[int, ...]
    answer: str = ""
    answerable: bool = True
    from_text: bool = True
    words: tuple[str, ...] = ()

    @property
    def is_ranked(self) -> bool:
        """Whether it has pages to be found."""
        return self.answerable and bool(self.pages)

    @property
    def group(self) -> str:
        """The set it is reported under: questions that need a picture have a set of their own, `{set}/visual`."""
        return self.set if self.from_text else f"{self.set}/visual"


@dataclass(frozen=True, slots=True)
class PdfQa:
    """A data set: the PDFs in the order of their names, and the questions.

    Of files with the same bytes only the first is kept, because nobody can tell which of them a passage is from:
    `copies` maps the others to that one; questions about them count as questions about it.
    """

    name: str
    pdfs: Sequence[Path]
    questions: Sequence[PdfQuestion]
    copies: Mapping[str, str] = field(default_factory=dict)

    @property
    def remarks(self) -> dict[str, str]:
        """What a reader of the figures should know about single files, by name."""
        return {copy: f"the same file as {first}: the two are counted as one" for copy, first in self.copies.items()}


def read_pdf_qa(folder: Path, *, sample: int | None = None) -> PdfQa:
    """Read a folder. Raises `DatasetError` that says which file, line or field is not in the expected form.

    A sample is one of questions; the PDFs are all kept, because a smaller index would make every question easier.
    """
    data_folder(folder, FORM, "pdfs", "questions.jsonl")
    pdfs, copies = pdfs_in(folder / "pdfs")
    # Systems differ in how they write an accent; the file's own name is what everything is reported under.
    names = {_composed(path.name): path.name for path in pdfs}
    names |= {_composed(copy): first for copy, first in copies.items()}
    file = folder / "questions.jsonl"
    questions: list[PdfQuestion] = []
    seen: set[str] = set()
    for number, row in json_lines(file):
        where = f"{file}, line {number}"
        if row.get("review") not in (None, "keep", DROP):
            raise DatasetError(f"{where}: `review` must be keep or {DROP}, not {row['review']!r}.")
        if row.get("review") == DROP:
            continue
        question = _question(row, where, names)
        if question.id in seen and not row.get("id"):
            question = replace(question, id=f"{question.id}-{number}")
        if question.id in seen:
            raise DatasetError(f"{where}: the id {question.id!r} occurs twice. Give each question its own.")
        seen.add(question.id)
        questions.append(question)
    if not questions:
        raise DatasetError(f"{file} holds no question. Expected is:\n{FORM}")
    return PdfQa(folder.resolve().name, pdfs, sampled(questions, sample, key=lambda question: question.id), copies)


def pdfs_in(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Return the PDFs of a folder by name, and the names of copies with the file that stands for them.

    Raises `DatasetError` when there is none, or one cannot be read.
    """
    first: dict[str, Path] = {}
    copies: dict[str, str] = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() == ".pdf" and not path.is_dir()):
        try:
            content = file_hash(path)
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error.strerror}): put it right, or take it away.") from error
        if content in first:
            copies[path.name] = first[content].name
        else:
            first[content] = path
    if not first:
        raise DatasetError(f"{folder} holds no .pdf file.")
    return list(first.values()), copies


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _question(row: dict[str, Any], where: str, names: Mapping[str, str]) -> PdfQuestion:
    # A question that no document answers need not name one.
    for key in ("question", "doc") if row.get("answerable", True) or row.get("doc") else ("question",):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise DatasetError(f"{where}: {key!r} must be a text that is not empty. Expected is:\n{FORM}")
    named = row.get("doc") or ""
    if named and _composed(named) not in names:
        raise DatasetError(
            f"{where}: there is no PDF named {named!r} directly in pdfs/ (folders in it are not looked into). "
            "Put the file there, or correct `doc`."
        )
    doc = names[_composed(named)] if named else ""
    pages = row.get("pages") or []
    if not isinstance(pages, list) or not all(type(page) is int and page >= 1 for page in pages):
        raise DatasetError(f"{where}: `pages` must be a list of page numbers from 1, not {pages!r}.")
    for key in ("answerable", "text_answerable"):
        if not isinstance(row.get(key, True), bool):
            raise DatasetError(f"{where}: {key!r} must be true or false, not {row[key]!r}.")
    words = row.get("words") or []
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise DatasetError(f"{where}: `words` must be a list of texts that are not empty, not {words!r}.")
    answerable = row.get("answerable", True)
    return PdfQuestion(
        id=str(row.get("id") or hashlib.sha256(f"{doc}\0{row['question']}".encode()).hexdigest()[:12]),
        set=str(row.get("set") or "all"),
        text=row["question"],
        doc=doc,
        pages=tuple(dict.fromkeys(pages)),
        answer="" if row.get("answer") is None else str(row["answer"]),
        answerable=answerable,
        from_text=row.get("text_answerable", answerable) or not answerable,
        words=tuple(words),
    )


# --- what all readers share -------------------------------------------------------------------------------------------


def data_folder(path: Path, form: str, *needed: str) -> Path:
    """Return the folder when it holds all of `needed`. Raises `DatasetError` that names what is missing."""
    if not path.is_dir():
        raise DatasetError(f"{path} is not a folder. --data takes a folder of this form:\n{form}")
    missing = [name for name in needed if not (path / name).exists()]
    if missing:
        raise DatasetError(f"{path} lacks {' and '.join(missing)}. Expected is:\n{form}")
    return path


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers (from 1) and objects. Raises `DatasetError` for a line that is no JSON object."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DatasetError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise DatasetError(f"{path}, line {number}: a JSON object is expected, not {type(row).__name__}.")
        yield number, row


def csv_rows(path: Path, form: str, *, delimiter: str = ",") -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield number (from 1), place (for messages) and fields of each row. Raises `DatasetError` if there is none."""
    number = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter=delimiter), start=1):
            yield number, f"{path}, row {number}", row
    if not number:
        raise DatasetError(f"{path} holds no row. Expected is:\n{form}")


def sampled[T](items: Sequence[T], size: int | None, *, key: Callable[[T], str]) -> list[T]:
    """Return `size` of the items, always the same ones for the same keys, in their order; all when `size` is None.

    Chosen by the hash of the key, so that a larger sample holds the smaller one.
    """
    if size is None or size >= len(items):
        return list(items)
    chosen = sorted(range(len(items)), key=lambda at: hashlib.sha256(key(items[at]).encode()).digest())[:size]
    return [items[at] for at in sorted(chosen)]


OTHER_NAMES = ("Tesla", "Honeywell", "Unilever", "Comcast", "Kellogg", "Salesforce")
OTHER_YEARS = {"an earlier year": -13, "a later year": 8}
"""Years by which a question's year is moved: too far for a report that compares years."""


def exchanged(questions: Sequence[PdfQuestion], pdfs: Sequence[Path]) -> list[PdfQuestion]:
    """Return the answerable questions with names, or years, replaced by some that no document is about.

    The names replaced are those in the file name of the question's document. Sets are called "financebench/another
    name", and so on.
    """
    files = {path.name: _letters(path.stem) for path in pdfs}
    others = [name for name in OTHER_NAMES if not any(_letters(name) in file for file in files.values())]
    made: list[PdfQuestion] = []
    for number, question in enumerate(question for question in questions if question.answerable):
        names = [name for name in identity.names_in(question.text) if _letters(name) in files[question.doc]]
        text = question.text
        for name in names:
            text = re.sub(rf"\b{re.escape(name)}\b", others[number % len(others)], text)
        variants = {"another name": text}
        for what, years in OTHER_YEARS.items():
            variants[what] = _in_other_years(identity.with_plain_periods(question.text), years)
        plain = {question.text, identity.with_plain_periods(question.text)}
        made += [
            replace(question, id=f"{question.id}/{what}", set=f"{question.set}/{what}", text=text, answerable=False)
            for what, text in variants.items()
            if text not in plain
        ]
    return made


def _in_other_years(text: str, later: int) -> str:
    return re.sub(r"(?<!\d)(?:19|20)\d\d(?!\d)", lambda year: str(int(year[0]) + later), text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
