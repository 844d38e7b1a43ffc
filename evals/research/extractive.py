"""`evals extractive`: does the answer without a model point at the words that answer the question?"""

from collections.abc import Sequence
from typing import Any

from evals.context import Options, SystemContext, open_context
from evals.display import plus_minus
from evals.metrics import summary
from evals.research.chroma import ChunkingData, Span, SpanQuestion, read_chroma
from evals.research.chunkers import Chunker, chunker
from evals.research.passages import PassagePool
from evals.storage import environment, source_hash
from functions.query.retrieval.passages import Passage
from functions.query.writing.extractive import ranked_spans

METRICS = ("hit@1", "hit@3", "retrieved")


def extractive(options: Options, *, k: int, size: int) -> int:
    """Choose sentences for every question; print, and write with `--json`."""
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
    chosen = [
        (places[at][0], places[at][1] + start, places[at][1] + end)
        for _, (at, start, end) in ranked_spans(question.text, passages)[:3]
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
