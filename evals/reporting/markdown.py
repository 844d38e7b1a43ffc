"""The Markdown page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evals.reporting import calibration, text
from evals.reporting.facts import ANSWER_FIGURES, Facts, answer_failures, failures

MOST_FAILURES = 40


def markdown(facts: Facts) -> str:
    """Return the page: figures, refusals, cost, threshold, answers, and what went worst."""
    lines = ["# Evaluation", ""]
    for name in facts.sets:
        holding = {system: result["sets"][name] for system, result in facts.results.items() if name in result["sets"]}
        lines += [
            f"## {name}",
            "",
            f"| system | n | {' | '.join(facts.metrics)} |",
            f"|---|---|{'---|' * len(facts.metrics)}",
            *(
                f"| {system} | {each['n']} | {' | '.join(_cell(each, m) for m in facts.metrics)} |"
                for system, each in holding.items()
            ),
            "",
        ]
    if facts.results:
        lines += ["With 95 % bootstrap intervals over questions.", "", "## Refusals", "", *_refusals(facts), ""]
        lines += ["## What it cost", "", *_costs(facts), ""]
    for result in facts.calibrations:
        chosen = result["chosen"]
        lines += [
            "## Threshold",
            "",
            f"{chosen['threshold']:.2f} is the highest that loses at most {100 * result['settings']['lost']:g} % "
            "of the answerable questions. Refused at it, per cent (and the precision of what is answered):",
            "",
            *(f"- {name}: {calibration.cell(chosen, key)}" for key, name in calibration.NAMES.items() if key in chosen),
            "",
        ]
    for result in facts.answers:
        lines += [f"## Answers, model: {result['settings']['model']}", "", *_answers(result), ""]
    lines += ["## Made with", ""]
    lines += [
        f"- {name}: {_pairs(result['versions'])}; {_pairs(result['settings'])}"
        for name, result in facts.made_with.items()
    ]
    if facts.results:
        first, result = next(iter(facts.results.items()))
        missed = failures(result)
        lines += ["", f"## Where {first} fails ({len(missed)} times)", "", *_shown(missed, _failure)]
    for result in facts.answers:
        wrong = answer_failures(result)
        lines += ["", f"## Answers to look at ({len(wrong)})", "", *_shown(wrong, _answer_failure)]
    return "\n".join(lines) + "\n"


def _refusals(facts: Facts) -> Iterator[str]:
    for system, result in facts.results.items():
        refused = result.get("refusals", {})
        if refused.get("threshold") is not None:
            bad, good = refused["unanswerable"], refused["answerable"]
            yield (
                f"{system} at {refused['threshold']:g}: {bad['refused']} of {bad['n']} unanswerable questions refused, "
                f"{good['refused']} of {good['n']} answerable ones{text.in_brackets(refused['auc'])}."
            )


def _costs(facts: Facts) -> Iterator[str]:
    yield "| system | chunks | tokens | ingest, s | a query, ms |"
    yield "|---|---|---|---|---|"
    for system, result in facts.results.items():
        cost = result["cost"]
        query = sum(each["p50"] for each in cost["query_milliseconds"].values())
        yield f"| {system} | {cost['chunks']} | {cost['tokens']} | {cost['ingest_seconds']['all']:.1f} | {query:.1f} |"


def _answers(result: Mapping[str, Any]) -> Iterator[str]:
    yield f"| set | n | {' | '.join(ANSWER_FIGURES)} |"
    yield f"|---|---|{'---|' * len(ANSWER_FIGURES)}"
    for name, figures in result["sets"].items():
        cells = [_cell(figures, figure) if figure in figures else "" for figure in ANSWER_FIGURES]
        yield f"| {name} | {figures['n']} | {' | '.join(cells)} |"


def _shown(rows: Sequence[Mapping[str, Any]], line: Callable[[Mapping[str, Any]], str]) -> Iterator[str]:
    yield from map(line, rows[:MOST_FAILURES])
    if len(rows) > MOST_FAILURES:
        yield f"- … and {len(rows) - MOST_FAILURES} more on the HTML page."


def _failure(row: Mapping[str, Any]) -> str:
    got = "; ".join(f"{each['doc']} p. {each['page']}" for each in row["ranked"][:3])
    pages = f" expected {row['doc']} p. {', '.join(map(str, row['pages']))};" if row["pages"] else ""
    return f"- **{row['question']}** ({row['id']}){pages} {row['why']}. First: {got}"


def _answer_failure(row: Mapping[str, Any]) -> str:
    return f"- **{row['question']}** ({row['id']}) {row['why']}."


def _cell(figures: Mapping[str, Any], metric: str) -> str:
    low, high = figures["ci"][metric]
    return f"{figures[metric]:.3f} ({low:.2f}–{high:.2f})"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
