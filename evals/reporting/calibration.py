"""The page of `evals calibrate`: the curve, the gaps apart, and whether confidence means what it says."""

from collections.abc import Mapping
from html import escape
from typing import Any

from evals.reporting import svg

NAMES = {
    "answerable": "answerable",
    "near_topic": "unanswerable, near the topic",
    "missing": "document missing",
    "off_topic": "off-topic",
    "precision": "precision of what is answered",
}


def series(curve: list[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Return the curve's lines by name; a kind the data does not have is left out."""
    found = {}
    for key, name in NAMES.items():
        points = [(each["threshold"], each[key]) for each in curve if each.get(key) is not None]
        if points:
            found[name] = points
    return found


def plots(result: Mapping[str, Any]) -> dict[str, str]:
    """Return the plots by title, as SVG."""
    curve, chosen = result["curve"], result["chosen"]["threshold"]
    bands = {
        name: [(each["threshold"], *each["ci"][key]) for each in curve if each.get(key) is not None]
        for key, name in NAMES.items()
    }
    found = {
        "Refused by threshold": svg.lines(
            f"Refused by threshold (the broken line: {chosen:g}, as chosen)",
            series(curve),
            x_label="relevance of the best passage",
            mark=chosen,
            bands=bands,
        )
    }
    for key, title in (("held_out", "fitted to other documents"), ("shipped", "as shipped")):
        known = result["confidence"].get(key)
        if known:
            found[f"Confidence, {title}"] = svg.lines(
                f"Confidence, {title} (expected calibration error {known['ece']:.3f})",
                {
                    "right": [(each["estimated"], each["right"]) for each in known["bins"]],
                    "as it should be": [(0.0, 0.0), (1.0, 1.0)],
                },
                x_label="confidence",
                bands={"right": [(each["estimated"], *each["ci"]) for each in known["bins"]]},
            )
    return found


def html(result: Mapping[str, Any]) -> str:
    """Return a page that stands alone."""
    figures = "".join(f"<figure>{each}</figure>" for each in plots(result).values())
    shown = result["curve"][::5]
    head = "".join(f"<th>{escape(name)}</th>" for name in NAMES.values())
    rows = "".join(
        f"<tr><td>{each['threshold']:.2f}</td>{''.join(f'<td>{cell(each, key)}</td>' for key in NAMES)}</tr>"
        for each in shown
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Calibration</title>'
        '<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark}'
        "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
        "td,th{padding:.2rem .6rem;border-bottom:1px solid #8884;text-align:right}small{opacity:.75}"
        "figure{margin:1rem 0}svg{width:100%;height:auto}</style></head><body><h1>Calibration</h1>"
        f"<p>Embedding model {escape(str(result['settings']['embedding']))}; threshold chosen: "
        f"{result['chosen']['threshold']:.2f}.</p>{figures}"
        "<h2>Refused, per cent, and precision</h2><table><tr><th>threshold</th>"
        f"{head}</tr>{rows}</table><p><small>With 95 % bootstrap intervals over questions.</small></p></body></html>\n"
    )


def cell(point: Mapping[str, Any], key: str) -> str:
    """Return a share in per cent with its interval."""
    if point.get(key) is None:
        return ""
    low, high = point["ci"][key]
    return f"{100 * point[key]:.1f} ({100 * low:.0f}–{100 * high:.0f})"
