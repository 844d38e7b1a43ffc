"""`python -m local metrics`: the functions' own metrics, added up from the lines that CloudWatch would read.

Powertools writes metrics as log lines in the embedded metric format (EMF); on AWS CloudWatch turns them into metrics,
and the dashboard shows them.
"""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.table import Table

P95 = 0.95


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """The values of one metric of one function (or provider): how many, their sum, median and 95th percentile."""

    source: str
    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum of all values."""
        return sum(self.values)

    @property
    def median(self) -> float:
        """The median of all values."""
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        """The value that 95 in 100 do not exceed."""
        return p95_of(self.values)


class Series(NamedTuple):
    """What CloudWatch calls a metric: a namespace, a name, and dimensions (name and value)."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]


class Point(NamedTuple):
    """One value of a series. `epoch_s` are seconds since 1970."""

    epoch_s: float
    value: float


def p95_of(values: Sequence[float]) -> float:
    """Return the value that 95 in 100 do not exceed."""
    return sorted(values)[min(len(values) - 1, int(P95 * len(values)))]


def summaries_of(lines: Iterable[str]) -> list[MetricSummary]:
    """Add up the metrics in log lines, by their first dimension and name; other lines are ignored."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for record, described, metric in _metrics_in(lines):
        source = next((str(record[name]) for names in described["Dimensions"] for name in names), "")
        values[source, metric["Name"], metric.get("Unit", "None")] += _values(record, metric)
    return [MetricSummary(*key, tuple(found)) for key, found in sorted(values.items())]


def series_of(lines: Iterable[str]) -> dict[Series, list[Point]]:
    """Return the metrics in log lines as CloudWatch would keep them; other lines are ignored."""
    found: dict[Series, list[Point]] = defaultdict(list)
    for record, described, metric in _metrics_in(lines):
        at = record["_aws"]["Timestamp"] / 1_000
        for names in described["Dimensions"]:
            dimensions = frozenset((name, str(record[name])) for name in names)
            series = Series(described["Namespace"], metric["Name"], dimensions)
            found[series] += [Point(at, value) for value in _values(record, metric)]
    return found


def table_of(summaries: Iterable[MetricSummary]) -> Table:
    """Return the figures as a table: the sum of what is counted, median and p95 of what is timed."""
    table = Table("from", "metric", "n", "sum", "median", "p95")
    for each in summaries:
        timed = each.unit == "Milliseconds"
        shown = ("", f"{each.median:.1f} ms", f"{each.p95:.1f} ms") if timed else (f"{each.total:g}", "", "")
        table.add_row(each.source, each.name, str(len(each.values)), *shown)
    return table


def _metrics_in(lines: Iterable[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield each metric of each EMF line: the line, the description that names the metric, and the metric's entry."""
    for line in lines:
        record = _embedded_metrics(line)
        for described in record.get("_aws", {}).get("CloudWatchMetrics", []):
            for metric in described["Metrics"]:
                yield record, described, metric


def _values(record: dict[str, Any], metric: dict[str, Any]) -> list[float]:
    found = record[metric["Name"]]
    return found if isinstance(found, list) else [found]


def _embedded_metrics(line: str) -> dict[str, Any]:
    if '"_aws"' not in line:
        return {}
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
