"""`evals retrieval`: does the right page come first?"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

from evals import scoring
from evals.context import Options, SystemContext, open_context
from evals.data import PdfQa, PdfQuestion, read_pdf_qa
from evals.display import plus_minus
from evals.errors import EvalError
from evals.scoring import DEPTH, SHOWN_SNIPPETS, Ranks
from evals.storage import environment, file_hash, source_hash
from evals.systems.base import RankedChunk, SearchResult, System, chosen_systems, open_system


def retrieval(
    options: Options,
    *,
    systems: Sequence[Sequence[str]] | None,
    ks: Sequence[int],
    per_document: bool,
    in_process: bool,
    rerank: Path | None = None,
) -> int:
    """Ask every question of every system; print, and write with `--json`.

    `rerank` is the folder of a cross-encoder, by which Recto reranks.
    """
    if rerank is not None and not in_process:
        raise EvalError("--rerank needs --in-process: the laptop stack reranks as it was deployed (RerankPath).")
    names = chosen_systems(systems)
    data = read_pdf_qa(options.data, sample=options.sample)
    ranks = Ranks(tuple(sorted(set(ks))))
    results: dict[str, dict[str, Any]] = {}
    with open_context(options) as context:
        for name in names:
            system = open_system(name, context, on_stack=not in_process, rerank_path=rerank)
            with options.display.progress(), closing(system):
                results[name] = _measure(system, data, context, options, ranks, per_document=per_document)
            _show(results[name], ranks, options)
    first, *others = names
    output = results[first]
    if others:
        output = {**output, "others": {name: results[name] for name in others}}
        output["differences"] = {
            name: scoring.differences(
                results[name]["questions"], results[first]["questions"], ranks.metrics, seed=options.seed
            )
            for name in others
        }
        _show_differences(first, output["differences"], ranks, options)
    options.save(output)
    return 0


def _measure(
    system: System, data: PdfQa, context: SystemContext, options: Options, ranks: Ranks, *, per_document: bool
) -> dict[str, Any]:
    """Return the result of one system in the form that is written.

    Kept by the bytes of the PDFs, the questions, and everything the system is made of and set to: when none of that
    changed, the times shown are those of the run that did the work.
    """
    depends_on = {
        "pdfs": {path.name: file_hash(path) for path in data.pdfs},
        "questions": [(each.id, each.text, each.doc) for each in data.questions],
        "system": [system.name, system.settings, system.versions],
        "depth": DEPTH,
        "per_document": per_document,
        "evals": source_hash("evals/systems", "evals/embedding.py", "evals/retrieval.py"),
    }
    run = context.cache.get(
        "runs", depends_on, lambda: _run(system, data, context, per_document=per_document), fresh=options.fresh
    )
    indexed = frozenset((doc, page) for doc, page in run["pages"])
    rows = [
        scoring.question_row(question, _found(found), ranks, indexed) | {"gold_text": found["gold_snippet"]}
        for question, found in zip(data.questions, run["found"], strict=True)
    ]
    return {
        "system": system.name,
        "versions": {**system.versions, **environment()},
        "settings": {
            **system.settings,
            "data": data.name,
            "index": "each document apart" if per_document else "all documents together",
            "pdfs": len(data.pdfs),
            "questions": len(data.questions),
            "k": list(ranks.ks),
            "depth": DEPTH,
            **options.chosen,
        },
        "sets": scoring.summaries(rows, ranks, seed=options.seed),
        "refusals": scoring.refusals(rows, system.threshold),
        "cost": {**run["cost"], "query_milliseconds": scoring.stage_milliseconds(rows)},
        "problems": {**data.remarks, **run["problems"]},
        "questions": rows,
    }


def _run(system: System, data: PdfQa, context: SystemContext, *, per_document: bool) -> dict[str, Any]:
    context.embedder.reset_cost()
    started = perf_counter()
    ingested = system.ingest(data.pdfs)
    ingest_s = perf_counter() - started
    embedded = {"computed": context.embedder.computed, "from_cache": context.embedder.cached}
    # Questions are embedded beforehand, so that the stages' times do not depend on which system came first.
    context.embedder.vectors([question.text for question in data.questions])
    found = []
    started = perf_counter()
    for number, question in enumerate(data.questions):
        context.progress(f"{system.name}: asking", number, len(data.questions))
        result = system.search(question.text, DEPTH, doc=question.doc if per_document else None)
        found.append(
            {
                "hits": [[hit.doc, list(hit.pages), hit.score] for hit in result.hits],
                "snippets": list(result.snippets[:SHOWN_SNIPPETS]),
                "gold_snippet": _gold_snippet(question, result),
                "score": result.score,
                "refused": result.refused,
                "milliseconds": dict(result.milliseconds),
            }
        )
    cost = {
        "chunks": ingested.chunks,
        "tokens": ingested.tokens,
        "texts_embedded": embedded,
        "ingest_seconds": {**ingested.seconds, "all": ingest_s},
        "questions_seconds": perf_counter() - started,
    }
    return {"found": found, "pages": sorted(ingested.pages), "problems": ingested.problems, "cost": cost}


def _gold_snippet(question: PdfQuestion, found: SearchResult) -> str:
    """Return the first words of the best chunk on an expected page, wherever it came."""
    return next(
        (
            text
            for hit, text in zip(found.hits, found.snippets, strict=False)
            if hit.doc == question.doc and set(hit.pages) & set(question.pages)
        ),
        "",
    )


def _found(kept: Mapping[str, Any]) -> SearchResult:
    hits = [RankedChunk(doc, tuple(pages), score) for doc, pages, score in kept["hits"]]
    return SearchResult(hits, kept["snippets"], kept["score"], kept["refused"], kept["milliseconds"])


# --- for people -------------------------------------------------------------------------------------------------------


def _show(result: Mapping[str, Any], ranks: Ranks, options: Options) -> None:
    """Print one system's figures."""
    cost = result["cost"]
    sets = result["sets"]
    rows = [[metric, *(plus_minus(figures, metric) for figures in sets.values())] for metric in ranks.metrics]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    options.display.say()
    options.display.table(
        f"{result['system']} ({result['settings']['index']})",
        ["", *(f"{name} ({figures['n']})" for name, figures in sets.items())],
        rows,
    )
    options.display.say(versions)
    seconds = ", ".join(f"{stage} {value:.1f}" for stage, value in cost["ingest_seconds"].items())
    options.display.say(f"{cost['chunks']} chunks, {cost['tokens']} tokens; ingest seconds: {seconds}")
    stages = ", ".join(f"{stage} {each['p50']:.1f}" for stage, each in cost["query_milliseconds"].items())
    options.display.say(f"query milliseconds (median): {stages}")
    if result["refusals"].get("threshold") is not None:
        refused = result["refusals"]
        auc = "" if refused["auc"] is None else f" (AUC {refused['auc']:.2f})"
        options.display.say(
            f"refused at {refused['threshold']:g}: {refused['unanswerable']['refused']} of "
            f"{refused['unanswerable']['n']} unanswerable, {refused['answerable']['refused']} of "
            f"{refused['answerable']['n']} answerable from text{auc}"
        )
    if unplaced := sum(row["answerable"] and not row["pages"] for row in result["questions"]):
        options.display.say(f"{unplaced} answerable questions name no page: they are not ranked and count in no set.")
    for name, problem in result["problems"].items():
        options.display.say(f"{name}: {problem}")


def _show_differences(first: str, found: Mapping[str, Any], ranks: Ranks, options: Options) -> None:
    """Print how much the first system is above each of the others."""
    for name, sets in found.items():
        rows = [[metric, *(_difference(figures.get(metric)) for figures in sets.values())] for metric in ranks.metrics]
        columns = ["", *(f"{part} ({figures['n']})" for part, figures in sets.items())]
        options.display.say()
        options.display.table(f"{first} above {name} (* the 95 % interval leaves zero out)", columns, rows)


def _difference(figure: Mapping[str, Any] | None) -> str:
    return f"{figure['mean']:+.3f}{'*' if figure['real'] else ''}" if figure else ""
