"""`evals extractive`: does the answer without a model point at the words that answer the question?

On Chroma's data: do the best statements touch the gold excerpt? On PDFs with questions: do the answers hold the
expected words, by set and by kind of question? `short` are those that do in at most `SHORT_WORDS` words; `header` are
answers of nothing but names of columns. `--false-premises FILE` asks about what no document mentions: how much of that
is refused?
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from evals.answer_checks import recall_of
from evals.context import Options, SystemContext, open_context
from evals.data import read_pdf_qa
from evals.display import plus_minus
from evals.metrics import summary
from evals.research.chroma import ChunkingData, Span, SpanQuestion, read_chroma
from evals.research.chunkers import Chunker, chunker
from evals.research.passages import PassagePool
from evals.storage import environment, source_hash
from evals.systems.recto import RectoInProcess
from functions.query.answer import Answer
from functions.query.retrieval.passages import Passage
from functions.query.writing.asked import Asked
from functions.query.writing.statement_scores import asked_of, ranking
from shared.models import Citation
from shared.text import header_at, is_header

METRICS = ("hit@1", "hit@3", "retrieved")


PDF_METRICS = ("refused", "found", "short", "header", "words")
FOUND_FROM = 0.75
"""Minimum share of the expected answer's content words in an answer that counts as found."""
SHORT_WORDS = 60


def extractive(options: Options, *, k: int, size: int, false_premises: Path | None = None) -> int:
    """Answer every question, or choose statements for it; print, and write with `--json`."""
    if (options.data / "pdfs").is_dir():
        return _answered(options, false_premises)
    data = read_chroma(options.data, sample=options.sample)
    cut = chunker("recto", size)
    with open_context(options) as context, options.display.progress():
        rows = _rows(data, cut, k, context)
    sets = {"all": rows} | {name: [row for row in rows if row["corpus"] == name] for name in data.corpora}
    found = {name: summary(members, METRICS, seed=options.seed) for name, members in sets.items() if members}
    options.save(
        {
            "command": "extractive",
            "versions": {**environment(), "source": source_hash("functions", "shared")},
            "settings": {"k": k, "chunker": cut.title, **options.chosen},
            "sets": found,
            "questions": rows,
        }
    )
    options.display.table(
        "Extractive answers: the chosen sentence touches the gold",
        ["corpus", "n", *METRICS],
        [[name, str(each["n"]), *(plus_minus(each, metric) for metric in METRICS)] for name, each in found.items()],
    )
    return 0


def _rows(data: ChunkingData, cut: Chunker, k: int, context: SystemContext) -> list[dict[str, Any]]:
    places: dict[str, tuple[str, int]] = {}
    texts: dict[str, str] = {}
    embedded: list[str] = []
    for corpus, text in data.corpora.items():
        for start, end, shown in cut.split(text):
            name = f"{corpus}:{start}:{end}"
            places[name] = (corpus, start)
            texts[name] = text[start:end]
            embedded.append(shown)
    vectors = context.embedder.vectors([question.text for question in data.questions]).tolist()
    pool = PassagePool(texts, context, embedded=embedded, emulated_ties=True)
    rows = []
    for number, (question, vector) in enumerate(zip(data.questions, vectors, strict=True)):
        context.progress("answering", number + 1, len(data.questions))
        passages = pool.passages(pool.search(question.text, vector), k)
        rows.append(_row(question, passages, [places[passage.document_id] for passage in passages]))
    return rows


def _row(question: SpanQuestion, passages: Sequence[Passage], places: Sequence[tuple[str, int]]) -> dict[str, Any]:
    ranked, _ = ranking(asked_of(question.text, passages), passages)
    chosen = [
        (places[at][0], places[at][1] + start, places[at][1] + end)
        for at, start, end in (each.span for each in ranked[:3])
    ]
    hits = [corpus == question.corpus and _touches((start, end), question.gold) for corpus, start, end in chosen]
    reached = any(
        corpus == question.corpus and _touches((start, start + len(passage.text)), question.gold)
        for (corpus, start), passage in zip(places, passages, strict=True)
    )
    return {
        "id": question.id,
        "corpus": question.corpus,
        "question": question.text,
        "hit@1": float(any(hits[:1])),
        "hit@3": float(any(hits)),
        "retrieved": float(reached),
        "chosen": [list(each) for each in chosen],
    }


def _touches(span: Span, gold: Sequence[Span]) -> bool:
    return any(span[0] < end and span[1] > start for start, end in gold)


# --- answers about PDFs ---


def _answered(options: Options, false_premises: Path | None) -> int:
    data = read_pdf_qa(options.data, sample=options.sample)
    invented = false_premises.read_text(encoding="utf-8").splitlines() if false_premises else []
    with open_context(options) as context, options.display.progress(), closing(RectoInProcess(context)) as system:
        problems = system.ingest(data.pdfs).problems
        rows = []
        for number, question in enumerate(data.questions):
            context.progress("answering", number + 1, len(data.questions))
            group = question.group if question.answerable else f"{question.set}/unanswerable"
            rows.append(_answer_row(question.text, group, question.answer, system.asker.answer(question.text)))
        made = filter(str.strip, invented)
        rows.extend(_answer_row(text, "false premises", "", system.asker.answer(text)) for text in made)
    kinds = {f"{row['set']}, {row['kind']}": row["set"] for row in rows}
    sets = {group: [row for row in rows if row["set"] == group] for group in dict.fromkeys(kinds.values())}
    sets |= {name: [row for row in rows if f"{row['set']}, {row['kind']}" == name] for name in sorted(kinds)}
    found = {name: summary(members, PDF_METRICS, seed=options.seed) for name, members in sets.items()}
    options.save(
        {
            "command": "extractive",
            "versions": {**system.versions, **environment()},
            "settings": {**system.settings, **options.chosen},
            "sets": found,
            "problems": {**data.remarks, **problems},
            "questions": rows,
        }
    )
    table = [
        [name, str(each["n"]), *(plus_minus(each, metric) if metric in each else "" for metric in PDF_METRICS)]
        for name, each in found.items()
    ]
    options.display.table("Answers without a model: the expected words are in them", ["set", "n", *PDF_METRICS], table)
    return 0


def _answer_row(question: str, group: str, expected: str, answer: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {
        "set": group,
        "kind": Asked.of(question).kind.value,
        "question": question,
        "expected": expected,
        "answer": answer.text,
        "refusal": answer.refusal,
        "refused": float(answer.no_relevant_info),
    }
    if not answer.no_relevant_info:
        words = len(answer.text.split())
        row |= {"words": float(words), "header": float(all(_is_header(each, answer) for each in answer.citations))}
    # "Yes" need not be said: a sentence that says so answers as well.
    recall = None if expected.strip(" .").casefold() in {"yes", "no"} else recall_of(expected, [answer.text])
    if recall is not None and group != "false premises":
        row["found"] = float(recall >= FOUND_FROM and not answer.no_relevant_info)
        row["short"] = float(bool(row["found"]) and len(answer.text.split()) <= SHORT_WORDS)
    return row


def _is_header(citation: Citation, answer: Answer) -> bool:
    """Say whether a citation quotes a row that only names columns."""
    places = (
        (source.text, citation.char_start - source.char_start)
        for source in answer.sources
        if source.document_id == citation.document_id and citation.quote in source.text
    )
    return any(
        is_header(text, start) or header_at(text, start) == (start, start + len(citation.quote))
        for text, start in places
        if "\n" not in citation.quote
    )
