"""What both pages show, taken out of the results once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.reporting import calibration, svg

Result = Mapping[str, Any]
LEAST_SHOWN = 0.01
"""A stage that takes less of the longest bar is not drawn."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Retrieval results by system, the sets and figures that occur in them, and what else was measured."""

    results: Mapping[str, Result]
    sets: Sequence[str]
    metrics: Sequence[str]
    calibrations: Sequence[Result] = ()
    answers: Sequence[Result] = ()

    @property
    def made_with(self) -> dict[str, Result]:
        """Every result by a name for it."""
        others = [*self.calibrations, *self.answers]
        return {**self.results, **{f"{each['command']} {n}": each for n, each in enumerate(others, start=1)}}

    @property
    def hits(self) -> list[str]:
        """The hit@k figures."""
        return [metric for metric in self.metrics if metric.startswith("hit@")]


def facts_of(results: Sequence[Result], calibrations: Sequence[Result] = (), answers: Sequence[Result] = ()) -> Facts:
    """Gather results of `evals retrieval` and the others; several systems in one file are told apart."""
    named: dict[str, Result] = {}
    for result in results:
        for each in (result, *result.get("others", {}).values()):
            name, number = each["system"], 2
            while name in named:
                name, number = f"{each['system']} ({number})", number + 1
            named[name] = each
    sets = list(dict.fromkeys(name for result in named.values() for name in result["sets"]))
    figures = [figures for result in named.values() for figures in result["sets"].values()]
    # Without questions that name a page there are no figures, but refusals, costs and wrong refusals still.
    names = figures[0] if figures else {}
    metrics = [name for name in names if name not in {"n", "ci"} and all(name in each for each in figures)]
    return Facts(named, sets, metrics, calibrations, answers)


def plots(facts: Facts) -> dict[str, str]:
    """Return the plots by title, as SVG."""
    found: dict[str, str] = {}
    for name in facts.sets:
        holding = {system: result["sets"][name] for system, result in facts.results.items() if name in result["sets"]}
        found[f"Page hits: {name}"] = svg.bars(
            f"Page hits, {name} ({max(each['n'] for each in holding.values())} questions)",
            facts.hits,
            {system: [each[metric] for metric in facts.hits] for system, each in holding.items()},
            {system: [each["ci"][metric] for metric in facts.hits] for system, each in holding.items()},
        )
    for system, result in facts.results.items():
        refused = result.get("refusals", {})
        if refused.get("threshold") is None:
            continue
        curve = refused["curve"]
        found[f"Refusals: {system}"] = svg.lines(
            f"Refused by threshold, {system} (the broken line: {refused['threshold']:g}, as deployed)",
            {
                "answerable": [(point["threshold"], point["answerable_refused"]) for point in curve],
                "unanswerable": [(point["threshold"], point["unanswerable_refused"]) for point in curve],
            },
            x_label="relevance of the best passage",
            mark=refused["threshold"],
        )
    for result in facts.calibrations:
        found |= calibration.plots(result)
    if not facts.results:
        return found
    stages = {system: _medians(result) for system, result in facts.results.items() if _medians(result)}
    longest = max((sum(each.values()) for each in stages.values()), default=0.0)
    seen = {name for each in stages.values() for name, value in each.items() if value >= LEAST_SHOWN * longest}
    stages = {system: {name: each[name] for name in each if name in seen} for system, each in stages.items()}
    found["Time of a query by stage"] = svg.stacked("Time of a query by stage, medians", stages, unit="ms")
    found["Time of ingest by stage"] = svg.stacked(
        "Time of ingest by stage",
        {
            system: {
                stage: value
                for stage, value in result["cost"]["ingest_seconds"].items()
                if stage not in {"all", "build"}
            }
            for system, result in facts.results.items()
        },
        unit="s",
    )
    return found


def failures(result: Result) -> list[dict[str, Any]]:
    """Return the questions that went wrong, each with `why`: those refused or answered against what is expected first,
    then those whose expected page is not the first, the worst in front.
    """
    threshold = result.get("refusals", {}).get("threshold")
    decided = [dict(row, why=why) for row in result["questions"] if (why := _wrongly_decided(row, threshold))]
    missed = [row for row in result["questions"] if "gold_rank" in row and row["gold_rank"] != 1]
    missed.sort(key=lambda row: (row["gold_rank"] is not None, -(row["gold_rank"] or 0), row["id"]))
    return [*decided, *missed]


def _wrongly_decided(row: Mapping[str, Any], threshold: float | None) -> str:
    """Say what was wrong with refusing or answering; questions that need a picture may well be refused."""
    if row.get("refused") is None or threshold is None or row["set"].endswith("/visual"):
        return ""
    score = "nothing found" if row.get("score") is None else f"relevance {row['score']:.2f}"
    if row["answerable"] and row["refused"]:
        return f"refused although it can be answered ({score}, threshold {threshold:g})"
    if not row["answerable"] and not row["refused"]:
        return f"answered although nothing answers it ({score}, threshold {threshold:g})"
    return ""


ANSWER_FIGURES = ("refused", "valid", "exact", "supported", "claims", "on_expected_page", "first", "found")
"""What is shown of `evals answers`, each a share of the questions."""


def answer_failures(result: Result) -> list[dict[str, Any]]:
    """Return the answers that are not as they should be, each with `why`; those that need a picture are left out."""
    found = []
    for row in result["questions"]:
        if row["set"].endswith("/visual"):
            continue
        wrong = [
            said
            for said, is_so in (
                ("refused although it can be answered", row["answerable"] and row["refused"]),
                ("answered although nothing answers it", not row["answerable"] and not row["refused"]),
                ("a marker names no citation", row.get("valid", 1.0) < 1.0),
                ("a quote is not exact", row.get("exact", 1.0) < 1.0),
                ("a sentence is not supported by its quotes", row.get("supported", 1.0) < 1.0),
                ("no citation on the expected page", row["answerable"] and row.get("on_expected_page") == 0.0),
            )
            if is_so
        ]
        if wrong:
            found.append(dict(row, why="; ".join(wrong)))
    return found


def _medians(result: Result) -> dict[str, float]:
    return {stage: each["p50"] for stage, each in result["cost"].get("query_milliseconds", {}).items()}
