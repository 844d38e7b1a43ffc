"""The Markdown page."""

from collections.abc import Mapping
from typing import Any

from evals.reporting.facts import Facts, failures

MOST_FAILURES = 40


def markdown(facts: Facts) -> str:
    """Return the page: figures, refusals, cost, and the worst questions of the first system."""
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
    lines += ["With 95 % bootstrap intervals over questions.", "", "## Refusals", ""]
    for system, result in facts.results.items():
        refused = result.get("refusals", {})
        if refused.get("threshold") is not None:
            bad, good = refused["unanswerable"], refused["answerable"]
            lines.append(
                f"{system} at {refused['threshold']:g}: {bad['refused']} of {bad['n']} unanswerable questions refused, "
                f"{good['refused']} of {good['n']} answerable ones (AUC {refused['auc']:.2f})."
            )
    lines += [
        "",
        "## What it cost",
        "",
        "| system | chunks | tokens | ingest, s | a query, ms |",
        "|---|---|---|---|---|",
    ]
    for system, result in facts.results.items():
        cost = result["cost"]
        query = sum(each["p50"] for each in cost["query_milliseconds"].values())
        lines.append(
            f"| {system} | {cost['chunks']} | {cost['tokens']} | {cost['ingest_seconds']['all']:.1f} | {query:.1f} |"
        )
    lines += ["", "## Made with", ""]
    lines += [
        f"- {system}: {_pairs(result['versions'])}; {_pairs(result['settings'])}"
        for system, result in facts.results.items()
    ]
    first, result = next(iter(facts.results.items()))
    missed = failures(result)
    lines += ["", f"## Where {first} fails ({len(missed)} questions)", ""]
    for row in missed[:MOST_FAILURES]:
        pages = ", ".join(map(str, row["pages"]))
        got = "; ".join(f"{each['doc']} p. {each['page']}" for each in row["ranked"][:3])
        lines.append(
            f"- **{row['question']}** ({row['id']}) expected {row['doc']} p. {pages}; {row['why']}. First: {got}"
        )
    if len(missed) > MOST_FAILURES:
        lines.append(f"- … and {len(missed) - MOST_FAILURES} more on the HTML page.")
    return "\n".join(lines) + "\n"


def _cell(figures: Mapping[str, Any], metric: str) -> str:
    low, high = figures["ci"][metric]
    return f"{figures[metric]:.3f} ({low:.2f}–{high:.2f})"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
