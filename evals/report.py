"""`evals report`: a Markdown and an HTML page out of results written with `--json`. The pages are in `templates/`."""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from evals import fitting
from evals.display import Display
from evals.errors import EvalError, not_installed
from evals.storage import Json, read_json, write_text

Result = Mapping[str, Any]
TEMPLATES = Path(__file__).with_name("templates")
RETRIEVAL_KEYS = {"system", "sets", "questions", "cost"}
ANSWER_FIGURES = ("refused", "valid", "exact", "supported", "claims", "on_expected_page", "first", "found")
"""The figures of `evals answers` that are shown, each a share of the questions."""


def report(display: Display, *, results: Sequence[Path], out: Path) -> int:
    """Write `OUT.md` and `OUT.html` from results of `evals retrieval`, `evals calibrate` and `evals answers`."""
    read = [read_json(path) for path in results]
    for path, result in zip(results, read, strict=True):
        command = result.get("command", "retrieval" if result.keys() >= RETRIEVAL_KEYS else "")
        if command not in {"retrieval", "calibrate", "answers"}:
            raise EvalError(f"{path} was not written by `evals retrieval`, `calibrate` or `answers` with --json.")
    for suffix, page in ((".md", markdown_page(read)), (".html", html_page(read))):
        path = out.with_name(out.name + suffix)
        write_text(path, page)
        display.say(str(path))
    return 0


def check_installed() -> None:
    """Raise `EvalError` when the libraries for the HTML page are not installed."""
    try:
        import_module("jinja2")
        import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise not_installed("The report", error) from error


def markdown_page(results: Sequence[Result]) -> str:
    """Return the Markdown page: figures, refusals, cost, threshold, answers, and what went worst."""
    return _rendered("report.md", results)


def html_page(results: Sequence[Result]) -> str:
    """Return the HTML page: one file with its plots and a list of failures that can be searched and filtered."""
    check_installed()  # evals.plots imports matplotlib
    from evals.plots import plots_of

    plots = plots_of(*_retrieval_and_calibrations(results))
    return _rendered("report.html", results, plots=plots)


def _rendered(template: str, results: Sequence[Result], **more: object) -> str:
    check_installed()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=template.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"pairs": _pairs, "reason": _reason, "cell": fitting.cell}
    environment.tests["expected"] = _is_expected
    return environment.get_template(template).render(**_facts(results), **more)


def _facts(results: Sequence[Result]) -> dict[str, Any]:
    """Return the values that both pages show."""
    systems, calibrations = _retrieval_and_calibrations(results)
    answers = [result for result in results if result.get("command") == "answers"]
    figures = [figures for result in systems.values() for figures in result["sets"].values()]
    # Without questions that name a page there are no figures, but refusals, costs and wrong refusals still.
    names = figures[0] if figures else {}
    others = {f"{each['command']} {n}": each for n, each in enumerate([*calibrations, *answers], start=1)}
    made_with = {**systems, **others}
    metrics = [name for name in names if name not in {"n", "ci"} and all(name in each for each in figures)]
    sets = list(dict.fromkeys(name for result in systems.values() for name in result["sets"]))
    hits = [metric for metric in metrics if metric.startswith("hit@")]
    missed = {name: failures(result) for name, result in systems.items()}
    wrong = {f"answers {n}": answer_failures(result) for n, result in enumerate(answers, start=1)}
    return {
        "systems": systems,
        "sets": sets,
        "metrics": metrics,
        "hits": hits,
        "best": {
            (name, metric): max(each["sets"][name][metric] for each in systems.values() if name in each["sets"])
            for name in sets
            for metric in hits
        },
        "calibrations": calibrations,
        "kinds": fitting.NAMES,
        "answers": answers,
        "answer_figures": ANSWER_FIGURES,
        "made_with": made_with,
        "problems": [
            (name, file, problem)
            for name, result in made_with.items()
            for file, problem in result.get("problems", {}).items()
        ],
        "missed": missed,
        "wrong": wrong,
        "failed": [(name, row) for group in (missed, wrong) for name, rows in group.items() for row in rows],
    }


def _retrieval_and_calibrations(results: Sequence[Result]) -> tuple[dict[str, Result], list[Result]]:
    """Return retrieval results by system (two results of one system get a number), and the calibrations."""
    systems: dict[str, Result] = {}
    for result in results:
        if "command" in result:
            continue
        for each in (result, *result.get("others", {}).values()):
            name, number = each["system"], 2
            while name in systems:
                name, number = f"{each['system']} ({number})", number + 1
            systems[name] = each
    return systems, [result for result in results if result.get("command") == "calibrate"]


def failures(result: Result) -> list[Json]:
    """Return the questions that went wrong, each with `why`: those refused or answered against what is expected first,
    then those whose expected page is not the first, the worst in front.
    """
    threshold = result.get("refusals", {}).get("threshold")
    decided = [dict(row, why=why) for row in result["questions"] if (why := _wrongly_decided(row, threshold))]
    missed = [row for row in result["questions"] if "gold_rank" in row and row["gold_rank"] != 1]
    missed.sort(key=lambda row: (row["gold_rank"] is not None, -(row["gold_rank"] or 0), row["id"]))
    return [*decided, *missed]


def _wrongly_decided(row: Result, threshold: float | None) -> str:
    """Say what was wrong with refusing or answering; questions that need a picture may well be refused."""
    if row.get("refused") is None or threshold is None or row["set"].endswith("/visual"):
        return ""
    score = "nothing found" if row.get("score") is None else f"relevance {row['score']:.2f}"
    if row["answerable"] and row["refused"]:
        return f"refused although it can be answered ({score}, threshold {threshold:g})"
    if not row["answerable"] and not row["refused"]:
        return f"answered although nothing answers it ({score}, threshold {threshold:g})"
    return ""


def answer_failures(result: Result) -> list[Json]:
    """Return the wrong answers, each with `why`; those that need a picture are left out."""
    found = []
    for row in result["questions"]:
        wrong = [
            reason
            for reason, is_so in (
                ("refused although it can be answered", row["answerable"] and row["refused"]),
                ("answered although nothing answers it", not row["answerable"] and not row["refused"]),
                ("a marker names no citation", _is_short(row.get("valid"))),
                ("a quote is not exact", _is_short(row.get("exact"))),
                ("a sentence is not supported by its quotes", _is_short(row.get("supported"))),
                ("no citation on the expected page", row["answerable"] and row.get("on_expected_page") == 0.0),
            )
            if is_so
        ]
        if wrong and not row["set"].endswith("/visual"):
            found.append(dict(row, why="; ".join(wrong)))
    return found


def _is_short(share: float | None) -> bool:
    return share is not None and share < 1.0


def _is_expected(retrieved: Result, row: Result) -> bool:
    return retrieved["doc"] == row["doc"] and bool(set(retrieved["pages"]) & set(row["pages"]))


def _pairs(values: Result) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _reason(row: Result) -> str:
    """Return why a row failed without its numbers, so that reasons can be chosen from a list."""
    return re.sub(r" at rank \d+$| \(.*\)$", "", str(row["why"])).partition(";")[0]
