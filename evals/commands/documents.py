"""`evals documents`: among many documents that read alike, does the one a question names come first?"""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.bootstrap import interval
from evals.cache import file_hash, source_hash
from evals.commands.common import Options, context_of, embedding
from evals.metrics import hit_at, reciprocal_rank
from evals.ranking import DEPTH
from evals.readers.filings import Filings, read_filings
from evals.results import environment, write_json
from evals.systems import System, SystemContext, open_system
from evals.systems.catalogue import chosen_systems

KS = (1, 3, 5)
METRICS = (*(f"doc@{k}" for k in KS), "mrr")


def documents(options: Options, *, systems: Sequence[Sequence[str]] | None) -> int:
    """Ask every question of every system; print, and write with `--json`."""
    data = read_filings(options.data, sample=options.sample)
    results = {}
    with embedding(options) as embedder:
        context = context_of(options, embedder)
        for name in chosen_systems(systems):
            with options.display.progress():
                system = open_system(name, context)
                try:
                    results[name] = _measure(system, data, context, options)
                finally:
                    system.close()
            _show(results[name], options)
    first, *others = results.values()
    if options.json:
        write_json(options.json, {**first, "others": {each["system"]: each for each in others}})
    return 0


def _measure(system: System, data: Filings, context: SystemContext, options: Options) -> dict[str, Any]:
    depends_on = {
        "pdfs": {path.name: file_hash(path) for path in data.pdfs},
        "questions": [question.text for question in data.questions],
        "system": [system.name, system.settings, system.versions],
        "evals": source_hash("evals/systems", "evals/commands/documents.py"),
    }
    ranked: list[list[str]] = context.cache.get(
        "documents", depends_on, lambda: _run(system, data, context), fresh=options.fresh
    )
    rows: list[dict[str, Any]] = [
        {
            "id": question.id,
            "set": question.set,
            "question": question.text,
            "docs": sorted(question.docs),
            "ranked": order[: max(KS)],
            **{f"doc@{k}": hit_at(order, question.docs, k) for k in KS},
            "mrr": reciprocal_rank(order, question.docs, len(order)),
        }
        for question, order in zip(data.questions, ranked, strict=True)
    ]
    return {
        "command": "documents",
        "system": system.name,
        "versions": {**system.versions, **environment()},
        "settings": {**system.settings, "pdfs": len(data.pdfs), "sample": options.sample, "seed": options.seed},
        "sets": _summaries(rows, options.seed),
        "questions": rows,
    }


def _run(system: System, data: Filings, context: SystemContext) -> list[list[str]]:
    """Return the documents of each question in the order their best chunks came."""
    system.ingest(data.pdfs)
    found = []
    for number, question in enumerate(data.questions):
        context.progress(f"{system.name}: asking", number, len(data.questions))
        hits = system.search(question.text, DEPTH).hits
        found.append(list(dict.fromkeys(hit.doc for hit in hits)))
    return found


def _summaries(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in sorted({row["set"] for row in rows}):
        members = [row for row in rows if row["set"] == name]
        values = {metric: interval([row[metric] for row in members], seed=seed) for metric in METRICS}
        found[name] = {
            "n": len(members),
            **{metric: value.mean for metric, value in values.items()},
            "ci": {metric: [value.low, value.high] for metric, value in values.items()},
        }
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = [
        [
            name,
            str(figures["n"]),
            *(f"{figures[m]:.3f} ({figures['ci'][m][0]:.2f}–{figures['ci'][m][1]:.2f})" for m in METRICS),
        ]
        for name, figures in result["sets"].items()
    ]
    options.display.table(f"Right document, {result['system']}", ["asked about", "n", *METRICS], rows)
