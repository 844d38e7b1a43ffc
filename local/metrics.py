"""`python -m local metrics`: the functions' own metrics, added up from the lines that CloudWatch would read.

Powertools writes metrics as log lines in the embedded metric format (EMF); on AWS CloudWatch turns them into metrics,
and the dashboard shows them.
"""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
        return sorted(self.values)[min(len(self.values) - 1, int(P95 * len(self.values)))]


def summaries_of(lines: Iterable[str]) -> list[MetricSummary]:
    """Add up the metrics in log lines, by their first dimension and name; other lines are ignored."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for line in lines:
        record = _embedded_metrics(line)
        for described in record.get("_aws", {}).get("CloudWatchMetrics", []):
            source = next((str(record[name]) for names in described["Dimensions"] for name in names), "")
            for metric in described["Metrics"]:
                found = record[metric["Name"]]
                key = source, metric["Name"], metric.get("Unit", "None")
                values[key] += found if isinstance(found, list) else [found]
    return [MetricSummary(*key, tuple(found)) for key, found in sorted(values.items())]


def table_of(summaries: Iterable[MetricSummary]) -> Table:
    """Return the figures as a table: the sum of what is counted, median and p95 of what is timed."""
    table = Table("from", "metric", "n", "sum", "median", "p95")
    for each in summaries:
        timed = each.unit == "Milliseconds"
        shown = ("", f"{each.median:.1f} ms", f"{each.p95:.1f} ms") if timed else (f"{each.total:g}", "", "")
        table.add_row(each.source, each.name, str(len(each.values)), *shown)
    return table


def _embedded_metrics(line: str) -> dict[str, Any]:
    if '"_aws"' not in line:
        return {}
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
