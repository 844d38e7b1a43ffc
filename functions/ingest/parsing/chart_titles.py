"""Tells lines in the style of charts' titles from headings: mostly what explains a chart stands right below them."""

from collections import Counter

from functions.ingest.parsing.heading_lines import LineStyle, is_below, style_of, to_half_points
from functions.ingest.parsing.wire import Line

BIGGER = 1.12
"""A heading's size over the body's; TeX's \\large is 1.2, many house styles stay under it."""
SMALLER = 0.93
"""A size under the body's: that of what explains a chart."""
RIGHT_BELOW = 0.8
"""Room below a chart's title, in heights of it, within which that stands; further below it is text."""
SHARE = 0.7
MIN_SEEN = 3
"""Share of a style's lines, and lines of it, with small print right below them that make it that of charts' titles."""
MAX_STYLES = 1_000
"""Styles for which the print below them is kept."""


class ChartTitles:
    """Learns from a document's lines what print stands below each style."""

    def __init__(self) -> None:
        self._below: dict[LineStyle, Counter[float]] = {}

    def learn(self, above: Line, line: Line, body: float) -> None:
        """Count the size of a line below another one's style, if that may be a title's; `body` is the text's so far."""
        if not (above.bold or above.size > line.size) or above.column or line.column:
            return
        style, size = style_of(above), to_half_points(line.size)
        if style == (size, line.bold) or len(self._below) >= MAX_STYLES or not is_below(above, line):
            return
        if size >= SMALLER * body or line.y0 - above.y1 < RIGHT_BELOW * (above.y1 - above.y0):
            self._below.setdefault(style, Counter())[size] += 1

    def has(self, style: LineStyle, body: float) -> bool:
        """Whether lines of a style mostly have small print below them, while headings of another style have text."""
        counts = self._below.get(style) if style[1] or style[0] >= BIGGER * body else None
        if counts is None or counts.total() < MIN_SEEN or not _is_over_small_print(style, counts, body):
            return False
        return any(
            (bold or size >= BIGGER * body) and size >= body and counts.total() > 1
            for (size, bold), counts in self._below.items()
            if not _is_over_small_print((size, bold), counts, body)
        )


def _is_over_small_print(style: LineStyle, below: Counter[float], body: float) -> bool:
    """Whether what stands below lines of a style is mostly smaller than the body and than they are."""
    small = SMALLER * min(body, style[0])
    return sum([count for size, count in below.items() if size < small]) >= SHARE * below.total()
