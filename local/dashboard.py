"""The deployed dashboard as a picture: `python -m local metrics --picture FILE`, for docs/operating.md.

Titles, places and metrics are those of the dashboard that the template has deployed; the values are those of the
laptop stack. A laptop's run takes minutes, so a point covers seconds instead of the dashboard's five minutes.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure
from PIL import Image

from local.metrics import Point, Series, p95_of

type Values = list[float]
STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "p50": statistics.median,
    "p95": p95_of,
}
COLORS = 64
"""Colours of the picture: plots have few, so the file stays small."""
POINTS = 40
"""Points of a line at most."""
COLUMN_IN, ROW_IN = 0.62, 0.44
"""Inches of a column and a row of the dashboard's grid."""
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 0.5, 0.12, 0.36, 0.66
"""Inches of a widget around its plot: axis, nothing, title, times and legend."""
STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "axes.prop_cycle": "cycler('color', ['#3b7dd8', '#d1662b', '#3f9f56', '#9a5fb0', '#b8972f', '#4f9f9f', '#c05a7a'])",
}


def draw(body: Mapping[str, Any], series: Mapping[Series, Sequence[Point]], file: Path) -> None:
    """Draw a dashboard's body (CloudWatch's JSON) with these values, as PNG."""
    widgets = body["widgets"]
    rows = max(each["y"] + each["height"] for each in widgets)
    columns = max(each["x"] + each["width"] for each in widgets)
    moments = [point.epoch_s for points in series.values() for point in points]
    begin, end = min(moments), max(moments) + 1
    step_s = max(5, 5 * math.ceil((end - begin) / POINTS / 5))
    starts = [begin + step_s * number for number in range(math.ceil((end - begin) / step_s))]
    width, height = columns * COLUMN_IN, rows * ROW_IN
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        for widget in widgets:
            left, top = widget["x"] * COLUMN_IN, height - widget["y"] * ROW_IN
            if widget["type"] == "text":
                heading = widget["properties"]["markdown"].lstrip("# ")
                figure.text((left + 0.1) / width, (top - 0.36) / height, heading, fontsize=12, fontweight="bold")
                continue
            wide, high = widget["width"] * COLUMN_IN, widget["height"] * ROW_IN
            plot = (
                (left + MARGIN_LEFT) / width,
                (top - high + MARGIN_BOTTOM) / height,
                (wide - MARGIN_LEFT - MARGIN_RIGHT) / width,
                (high - MARGIN_TOP - MARGIN_BOTTOM) / height,
            )
            _draw_widget(figure.add_axes(plot), widget["properties"], series, starts, step_s)
        drawn = BytesIO()
        figure.savefig(drawn, dpi=100, format="png")
    Image.open(drawn).convert("RGB").quantize(COLORS).save(file, format="png", optimize=True)


def series_in(body: Mapping[str, Any]) -> set[Series]:
    """Return every series that a dashboard's body names."""
    shown = [each["properties"] for each in body["widgets"] if each["type"] == "metric"]
    return {_series_of(metric) for properties in shown for metric in properties["metrics"]}


def _draw_widget(
    axes: Axes,
    properties: Mapping[str, Any],
    series: Mapping[Series, Sequence[Point]],
    starts: Sequence[float],
    step_s: float,
) -> None:
    axes.set_title(properties["title"])
    times: Any = [datetime.fromtimestamp(each, UTC) for each in (*starts, starts[-1] + step_s)]
    is_stacked = properties["stacked"]
    floor = [0.0] * len(starts)
    drawn = False
    highest = 0.0
    for metric in properties["metrics"]:
        given = metric[-1] if isinstance(metric[-1], dict) else {}
        stat = given.get("stat", properties["stat"])
        points = series.get(_series_of(metric), ())
        values = _binned(points, STATISTICS[stat], starts, step_s, empty=0.0 if stat == "Sum" else math.nan)
        label = given.get("label", metric[1])
        drawn |= bool(points)
        highest = max(highest, *(each.value for each in points), 0.0)
        if is_stacked:
            top = [low + value for low, value in zip(floor, values, strict=True)]
            axes.fill_between(times[:-1], floor, top, label=label, step="post", linewidth=0)
            floor = top
        else:
            axes.plot(times[:-1], values, label=label, marker="o", markersize=2.5, linewidth=1.2)
    axes.set_xlim(times[0], times[-1])
    axes.set_ylim(bottom=0, top=None if highest > 0 else 1)
    axes.xaxis.set_major_locator(AutoDateLocator(minticks=3, maxticks=6))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M:%S"))  # type: ignore[no-untyped-call]
    axes.locator_params(axis="y", nbins=5)
    axes.tick_params(length=2)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.1, -0.14), ncols=3, borderpad=0, columnspacing=1, handlelength=1.2)
    if not drawn:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing counted", transform=axes.transAxes, ha="center", color="#888888")


def _series_of(metric: Sequence[Any]) -> Series:
    """Return the series that an entry of a widget names: namespace, name, then dimensions in pairs."""
    namespace, name, *pairs = [each for each in metric if not isinstance(each, dict)]
    return Series(namespace, name, frozenset(zip(pairs[::2], pairs[1::2], strict=True)))


def _binned(
    points: Sequence[Point],
    statistic: Callable[[Sequence[float]], float],
    starts: Sequence[float],
    step_s: float,
    *,
    empty: float,
) -> Values:
    bins: list[Values] = [[] for _ in starts]
    for point in points:
        bins[min(len(bins) - 1, int((point.epoch_s - starts[0]) / step_s))].append(point.value)
    return [statistic(each) if each else empty for each in bins]
