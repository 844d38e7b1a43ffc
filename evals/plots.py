"""Plots of results as SVG text, drawn by matplotlib, so that a page contains them and loads nothing.

Lines drawn in `INK` take the colour of the page's text, so that a plot can be read on a light and a dark page.
"""

from collections.abc import Mapping, Sequence
from html import escape
from io import StringIO
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evals import fitting

Result = Mapping[str, Any]
INK = "#010203"
MIN_SHOWN = 0.01
"""A stage that takes less of the longest bar than this is not drawn."""
WIDTH = 5.2
"""Inches: small enough that a label of ten points can be read on a telephone."""
STYLE: Any = {
    "svg.fonttype": "none",
    "font.size": 10,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.02,
    "legend.frameon": False,
    "axes.prop_cycle": "cycler('color', ['#3b7dd8', '#d1662b', '#3f9f56', '#9a5fb0', '#b8972f', '#4f9f9f', '#c05a7a'])",
}


def plots_of(results: Mapping[str, Result], calibrations: Sequence[Result]) -> list[str]:
    """Return every plot of retrieval results by system, and of calibrations."""
    sets = dict.fromkeys(name for result in results.values() for name in result["sets"])
    found = [_hits(name, {s: r["sets"][name] for s, r in results.items() if name in r["sets"]}) for name in sets]
    found += [_refusals(s, r["refusals"]) for s, r in results.items() if r["refusals"].get("threshold") is not None]
    for result in calibrations:
        found.append(_calibration(result))
        found += [
            _confidence(title, result["confidence"][key])
            for key, title in (("held_out", "fitted to other documents"), ("shipped", "as shipped"))
            if result["confidence"].get(key)
        ]
    if results:
        query = {s: {k: v["p50"] for k, v in r["cost"]["query_milliseconds"].items()} for s, r in results.items()}
        ingest = {
            s: {k: v for k, v in r["cost"]["ingest_seconds"].items() if k not in {"all", "build"}}
            for s, r in results.items()
        }
        found += [
            _stages("Time of a query by stage, medians (ms)", query),
            _stages("Time of ingest by stage (s)", ingest),
        ]
    return found


def _hits(name: str, systems: Mapping[str, Result]) -> str:
    """Draw the share of questions with a right page among the first k, one bar a system."""
    metrics = [metric for metric in next(iter(systems.values())) if metric.startswith("hit@")]

    def draw(axes: Axes) -> None:
        width = 0.8 / len(systems)
        for number, (system, figures) in enumerate(systems.items()):
            values = [figures[metric] for metric in metrics]
            bounds = [figures["ci"][metric] for metric in metrics]
            errors = [[v - b[0] for v, b in zip(values, bounds, strict=True)]]
            errors += [[b[1] - v for v, b in zip(values, bounds, strict=True)]]
            places = [at - 0.4 + (number + 0.5) * width for at in range(len(metrics))]
            axes.bar(places, values, 0.92 * width, label=system, yerr=errors, ecolor=INK)
        axes.set_xticks(range(len(metrics)), metrics)

    return _shares(f"Page hits, {name} ({max(each['n'] for each in systems.values())} questions)", draw)


def _refusals(system: str, refused: Result) -> str:
    curve = refused["curve"]
    lines = {
        kind: [(each["threshold"], each[f"{kind}_refused"]) for each in curve]
        for kind in ("answerable", "unanswerable")
    }
    return _by_relevance(f"Refused by threshold, {system}", lines, {}, refused["threshold"], "deployed")


def _calibration(result: Result) -> str:
    curve = result["curve"]
    bands = {
        name: [(each["threshold"], *each["ci"][key]) for each in curve if each.get(key) is not None]
        for key, name in fitting.NAMES.items()
    }
    return _by_relevance(
        "Refused by threshold", fitting.series(curve), bands, result["chosen"]["threshold"], "chosen threshold"
    )


def _by_relevance(
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    bands: Mapping[str, Sequence[tuple[float, float, float]]],
    mark: float,
    mark_name: str,
) -> str:
    def draw(axes: Axes) -> None:
        for name, points in lines.items():
            (line,) = axes.plot(*zip(*points, strict=True), label=name)
            if band := bands.get(name):
                x, low, high = zip(*band, strict=True)
                axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        axes.axvline(mark, color=INK, linestyle="--", linewidth=1, label=f"{mark_name} ({mark:g})")
        axes.set(xlim=(0, 1), xlabel="relevance of the best passage")

    return _shares(title, draw)


def _confidence(title: str, known: Result) -> str:
    """Draw how often the first citation is right against the estimated confidence, with the ideal diagonal."""
    x = [each["estimated"] for each in known["bins"]]

    def draw(axes: Axes) -> None:
        (line,) = axes.plot(x, [each["right"] for each in known["bins"]], marker="o", label="first citation right")
        low, high = zip(*(each["ci"] for each in known["bins"]), strict=True)
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        axes.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1, label="ideal")
        axes.set(xlim=(0, 1), xlabel="confidence")

    return _shares(f"Confidence, {title} (error {known['ece']:.3f})", draw)


def _stages(title: str, systems: Mapping[str, Mapping[str, float]]) -> str:
    """Draw one horizontal bar for each system, made of its stages in order."""
    longest = max((sum(each.values()) for each in systems.values()), default=0.0)
    names = [
        name
        for name in dict.fromkeys(name for each in systems.values() for name in each)
        if max(each.get(name, 0.0) for each in systems.values()) >= MIN_SHOWN * longest
    ]

    def draw(axes: Axes) -> None:
        left = dict.fromkeys(systems, 0.0)
        for name in names:
            values = [each.get(name, 0.0) for each in systems.values()]
            axes.barh(list(systems), values, 0.7, left=list(left.values()), label=name)
            left = {system: left[system] + value for system, value in zip(systems, values, strict=True)}
        for row, (end, stages) in enumerate(zip(left.values(), systems.values(), strict=True)):
            axes.text(end, row, f" {sum(stages.values()):.1f}", va="center")
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_xlim(0, 1.12 * longest or 1)

    return _svg(title, draw, height=1.3 + 0.35 * len(systems))


def _shares(title: str, draw: Any) -> str:
    def with_axis(axes: Axes) -> None:
        draw(axes)
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter("{x:.0%}")

    return _svg(title, with_axis, height=3.4)


def _svg(title: str, draw: Any, *, height: float) -> str:
    """Return the plot as an `svg` element; equal plots give equal text."""
    with rc_context({**STYLE, "svg.hashsalt": title}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        draw(axes)
        names = axes.get_legend_handles_labels()[1]
        figure.legend(loc="outside lower center", ncols=3 if max(map(len, names), default=0) < 14 else 2)
        drawn = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(drawn, format="svg", transparent=True, metadata=nothing)
    svg = drawn.getvalue()
    label = f'<svg role="img" aria-label="{escape(title)}"'
    return label + svg[svg.index("<svg") + len("<svg") :].replace(INK, "currentColor")
