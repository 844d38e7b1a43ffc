"""What both pages show, taken out of the results once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.errors import EvalError
from evals.reporting import calibration, svg

Result = Mapping[str, Any]
LEAST_SHOWN = 0.01
"""A stage that takes less of the longest bar is not drawn."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Retrieval results by system, and the sets and figures that occur in them."""

    results: Mapping[str, Result]
    sets: Sequence[str]
    metrics: Sequence[str]
    calibrations: Sequence[Result] = ()

    @property
    def hits(self) -> list[str]:
        """The hit@k figures."""
        return [metric for metric in self.metrics if metric.startswith("hit@")]


def facts_of(results: Sequence[Result], calibrations: Sequence[Result] = ()) -> Facts:
    """Gather results of `evals retrieval`; several systems in one file are told apart. Raises `EvalError`."""
    named: dict[str, Result] = {}
    for result in results:
        for each in (result, *result.get("others", {}).values()):
            name, number = each["system"], 2
            while name in named:
                name, number = f"{each['system']} ({number})", number + 1
            named[name] = each
    sets = list(dict.fromkeys(name for result in named.values() for name in result["sets"]))
    figures = [figures for result in named.values() for figures in result["sets"].values()]
    if not figures:
        raise EvalError("These results hold no figures: none of their questions has an expected page.")
    metrics = [name for name in figures[0] if name not in {"n", "ci"} and all(name in each for each in figures)]
    return Facts(named, sets, metrics, calibrations)


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
    """Return the questions whose expected page is not the first, the worst first."""
    missed = [row for row in result["questions"] if "gold_rank" in row and row["gold_rank"] != 1]
    return sorted(missed, key=lambda row: (row["gold_rank"] is not None, -(row["gold_rank"] or 0), row["id"]))


def _medians(result: Result) -> dict[str, float]:
    return {stage: each["p50"] for stage, each in result["cost"].get("query_milliseconds", {}).items()}
