"""`local metrics`: EMF lines are added up, everything else in the log is ignored."""

import json

from rich.console import Console

from functions.query.answer import Answer
from functions.query.api.answers import counts_of
from local.metrics import summaries_of, table_of
from shared.adapters.provider_health import METRICS
from tests.support.template import properties


def line(*, service: str = "recto-query", unit: str = "Count", **values: object) -> str:
    described = {
        "Namespace": "Recto",
        "Dimensions": [["service"]],
        "Metrics": [{"Name": name, "Unit": unit} for name in values],
    }
    return json.dumps({"_aws": {"CloudWatchMetrics": [described]}, "service": service, **values})


def test_counts_are_added_up_and_times_keep_their_percentile():
    lines = [
        "START RequestId: 1",
        '{"level":"INFO","message":"answered"}',
        '{"_aws": broken',
        line(Requests=[1.0]),
        line(Requests=[1.0, 1.0]),
        line(Requests=1, service="recto-ingest"),
        *[line(unit="Milliseconds", RetrieveTime=[float(ms)]) for ms in range(100)],
    ]
    ingest, requests, times = summaries_of(lines)
    assert (ingest.source, ingest.name, ingest.total) == ("recto-ingest", "Requests", 1)
    assert (requests.source, requests.total) == ("recto-query", 3)
    assert (times.median, times.p95) == (49.5, 95)
    shown = Console(record=True, width=100)
    shown.print(table_of([requests, times]))
    text = shown.export_text()
    assert "49.5 ms" in text
    assert "95.0 ms" in text


def test_the_dashboard_shows_metrics_that_the_functions_write():
    body = json.loads(properties("Dashboard")["DashboardBody"]["Fn::Sub"])
    shown = {
        metric[1]
        for widget in body["widgets"]
        if widget["type"] == "metric"
        for metric in widget["properties"]["metrics"]
        if metric[0].startswith("Recto/")
    }
    modes = ("generated", "extractive", "refused", "service")
    refusals = ("no_relevant_info", "model_does_not_know", "nothing_proven", None)
    found_by = {"both": 1, "dense": 1, "lexical": 1}
    written = {
        name
        for mode in modes
        for refusal in refusals
        for name in counts_of(Answer("", mode=mode, refusal=refusal, found_by=found_by))  # type: ignore[arg-type]
    }
    stages = {
        f"{name}Time" for name in ("History", "Rewrite", "Cache", "Embed", "Retrieve", "Decide", "Generate", "Save")
    }
    ingest = {"Deliveries", "FailedMessages", "Postponed"}
    assert shown <= written | stages | ingest | set(METRICS.values())
