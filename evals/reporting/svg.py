"""Plots as plain SVG text, so that a page holds them itself and needs no library to show them."""

from collections.abc import Mapping, Sequence
from html import escape

Series = Mapping[str, Sequence[tuple[float, float]]]
COLOURS = ("#1f5fa8", "#d1662b", "#3f8f4f", "#8a4fa0", "#a8871f", "#4f8f8f", "#b04a6a", "#6b6b6b")
WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 30, 40


def bars(
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    intervals: Mapping[str, Sequence[Sequence[float]]],
) -> str:
    """Draw grouped bars between 0 and 1 with their intervals: `series[name][i]` is the bar of `groups[i]`."""
    plot_w, plot_h = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    parts = [_frame(title), _y_axis(1.0, percent=True)]
    slot = plot_w / max(1, len(groups))
    bar = 0.8 * slot / max(1, len(series))
    for g, group in enumerate(groups):
        centre = _LEFT + slot * (g + 0.5)
        parts.append(_text(centre, HEIGHT - _BOTTOM + 16, group, anchor="middle"))
        for s, (name, values) in enumerate(series.items()):
            x = centre - 0.4 * slot + s * bar
            top = _TOP + plot_h * (1 - values[g])
            label = f"{name}, {group}: {values[g]:.3f}"
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{bar * 0.92:.1f}" height="{plot_h * values[g]:.1f}" '
                f'fill="{_colour(s)}"><title>{escape(label)}</title></rect>'
            )
            low, high = intervals[name][g]
            middle = x + bar * 0.46
            parts.append(
                f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{_TOP + plot_h * (1 - high):.1f}" '
                f'y2="{_TOP + plot_h * (1 - low):.1f}" stroke="currentColor" stroke-width="1.2"/>'
            )
    return _with_legend(parts, list(series), HEIGHT)


def lines(
    title: str,
    series: Series,
    *,
    x_label: str,
    x_max: float = 1.0,
    mark: float | None = None,
    bands: Mapping[str, Sequence[tuple[float, float, float]]] | None = None,
) -> str:
    """Draw lines of shares (0 to 1) over `x`; `mark` draws an upright line.

    `bands` has `(x, low, high)` of a line's interval, by the line's name.
    """
    plot_w, plot_h = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    parts = [_frame(title), _y_axis(1.0, percent=True)]
    for tick in range(0, 11, 2):
        x = _LEFT + plot_w * tick / 10
        parts.append(_text(x, HEIGHT - _BOTTOM + 16, f"{x_max * tick / 10:g}", anchor="middle"))
    parts.append(_text(_LEFT + plot_w / 2, HEIGHT - _BOTTOM + 32, x_label, anchor="middle"))
    for s, (name, points) in enumerate(series.items()):
        held = (bands or {}).get(name, ())
        edge = [(x, high) for x, _, high in held] + [(x, low) for x, low, _ in reversed(held)]
        if edge:
            around = " ".join(
                f"{_LEFT + plot_w * min(1, x / x_max):.1f},{_TOP + plot_h * (1 - y):.1f}" for x, y in edge
            )
            parts.append(f'<polygon points="{around}" fill="{_colour(s)}" opacity="0.15"/>')
        path = " ".join(f"{_LEFT + plot_w * min(1, x / x_max):.1f},{_TOP + plot_h * (1 - y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{_colour(s)}" stroke-width="2"/>')
    if mark is not None:
        x = _LEFT + plot_w * mark / x_max
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + plot_h}" stroke="currentColor" '
            'stroke-dasharray="4 3"/>'
        )
    return _with_legend(parts, list(series), HEIGHT)


def stacked(title: str, rows: Mapping[str, Mapping[str, float]], *, unit: str) -> str:
    """Draw one bar a row, lying, made of its parts in the order they come."""
    names = list(dict.fromkeys(name for parts in rows.values() for name in parts))
    longest = max((sum(parts.values()) for parts in rows.values()), default=1.0) or 1.0
    left, line = 110, 34
    height = 34 + line * len(rows)
    parts_svg = [_text(4, 18, title, weight="bold")]
    for r, (row, parts) in enumerate(rows.items()):
        y, x = 34 + line * r, float(left)
        parts_svg.append(_text(left - 6, y + 15, row, anchor="end"))
        for name, value in parts.items():
            width = (WIDTH - left - 90) * value / longest
            colour = _colour(names.index(name))
            parts_svg.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="20" fill="{colour}">'
                f"<title>{escape(f'{row}, {name}: {value:.2f} {unit}')}</title></rect>"
            )
            x += width
        parts_svg.append(_text(x + 4, y + 15, f"{sum(parts.values()):.1f} {unit}"))
    return _with_legend(parts_svg, names, height)


def _svg(parts: Sequence[str], *, height: int) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'


def _frame(title: str) -> str:
    return _text(4, 18, title, weight="bold")


def _y_axis(top: float, *, percent: bool) -> str:
    plot_h = HEIGHT - _TOP - _BOTTOM
    parts = []
    for tick in range(0, 11, 2):
        y = _TOP + plot_h * (1 - tick / 10)
        label = f"{10 * tick} %" if percent else f"{top * tick / 10:g}"
        parts.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" opacity="0.15"/>'
        )
        parts.append(_text(_LEFT - 6, y + 4, label, anchor="end"))
    return "".join(parts)


def _with_legend(parts: Sequence[str], names: Sequence[str], height: int) -> str:
    """Put the legend under what was drawn, on as many lines as it needs."""
    legend: list[str] = []
    x, y = float(_LEFT), height + 14
    for s, name in enumerate(names):
        width = 30 + 6.6 * len(name)
        if x > _LEFT and x + width > WIDTH - _RIGHT:
            x, y = float(_LEFT), y + 18
        legend.append(f'<rect x="{x:.1f}" y="{y - 9}" width="10" height="10" fill="{_colour(s)}"/>')
        legend.append(_text(x + 14, y, name))
        x += width
    return _svg([*parts, *legend], height=y + 8)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" font-size="11" '
        f'fill="currentColor">{escape(text)}</text>'
    )


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
