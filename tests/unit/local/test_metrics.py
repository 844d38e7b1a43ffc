"""`local metrics`: EMF lines are added up, everything else in the log is ignored."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from functions.ingest.reconcile import ReconcileOutcome
from functions.query.answer import Answer
from functions.query.api.asking import counts_of
from local import cli_stack, dashboard
from local.metrics import Point, Series, series_of, summaries_of, table_of
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from shared.adapters.provider_health import METRICS
from tests.support.readme import PROJECT
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
    ingest = {f"Ingest{outcome.value.capitalize()}" for outcome in ReconcileOutcome}
    ingest |= {"FailedMessages", "Postponed", "EmbeddedTokens", "CostUsd", "OldestUnfinishedDocument"}
    assert counts_of(Answer("", mode="generated", refusal="model_does_not_know"))["AnswersRefused"] == 1
    assert shown <= written | stages | ingest | set(METRICS.values())
    assert shown >= written | stages | set(METRICS.values())
    assert shown >= {"IngestPublished", "IngestRejected", "OldestUnfinishedDocument", "Postponed", "FailedMessages"}


def test_series_are_kept_by_every_set_of_dimensions():
    described = {"Namespace": "Recto", "Dimensions": [["Dependency"], []], "Metrics": [{"Name": "ProviderBusy"}]}
    told = {"_aws": {"Timestamp": 2_000, "CloudWatchMetrics": [described]}, "Dependency": "chat", "ProviderBusy": 1}
    point = [Point(2.0, 1)]
    assert series_of([json.dumps(told)]) == {
        Series("Recto", "ProviderBusy", frozenset({("Dependency", "chat")})): point,
        Series("Recto", "ProviderBusy", frozenset()): point,
    }


def widget(*metrics: list[object], **more: object) -> dict[str, object]:
    properties = {"title": "One", "stat": "Sum", "stacked": False, "metrics": list(metrics), **more}
    return {"type": "metric", "x": 0, "y": 0, "width": 12, "height": 6, "properties": properties}


def test_a_dashboard_is_drawn_with_its_own_titles_labels_and_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    drawn: list[Figure] = []
    savefig = Figure.savefig

    def saved(figure: Figure, *args: Any, **kwargs: Any) -> None:
        drawn.append(figure)
        savefig(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", saved)
    hits = ["Recto", "Hits", "service", "query"]
    body = {
        "widgets": [
            {"type": "text", "x": 0, "y": 6, "width": 24, "height": 1, "properties": {"markdown": "## Row"}},
            widget(hits, [*hits, {"stat": "Maximum", "label": "most"}]),
            widget(["Recto", "Nothing"], title="Two", stacked=True),
        ]
    }
    series = Series("Recto", "Hits", frozenset({("service", "query")}))
    assert dashboard.series_in(body) == {series, Series("Recto", "Nothing", frozenset())}
    dashboard.draw(body, {series: [Point(0, 3), Point(1, 4), Point(30, 5)]}, tmp_path / "d.png")
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")
    (figure,) = drawn
    one, two = figure.axes
    assert [one.get_title(loc="left"), two.get_title(loc="left")] == ["One", "Two"]
    assert [text.get_text() for text in figure.texts] == ["Row"]
    assert [text.get_text() for text in two.texts] == ["nothing counted"]
    total, most = one.lines
    assert (total.get_label(), most.get_label()) == ("Hits", "most")
    assert [value for value in total.get_ydata() if value] == [7, 5]
    assert [value for value in most.get_ydata() if value == value] == [4, 5]


def test_the_picture_in_the_docs_is_small():
    assert 20_000 < (PROJECT / "docs" / "images" / "dashboard.png").stat().st_size <= 200_000


def test_a_picture_that_cannot_be_written_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laptop = MagicMock(spec=Laptop)
    laptop.log_lines.return_value = {"streaming": []}
    laptop.aws.client.return_value.get_dashboard.return_value = {"DashboardBody": "{}"}
    monkeypatch.setattr(dashboard, "series_in", lambda _body: [Series("Recto", "Answers", frozenset())])
    monkeypatch.setattr(cli_stack, "_measured_by_aws", lambda _client, _series: [Point(0.0, 1.0)])
    monkeypatch.setattr(dashboard, "draw", lambda _body, _series, file: file.write_bytes(b""))
    with pytest.raises(LocalStackError, match=r"a\.png cannot be written: No such file or directory\."):
        cli_stack.show_metrics(laptop, tmp_path / "missing" / "a.png")
