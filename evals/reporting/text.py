"""Plots for a terminal."""

from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 61, 17
MARKS = "●○▲△◆◇"


def lines(title: str, series: Mapping[str, Sequence[tuple[float, float]]], *, x_label: str, mark: float) -> str:
    """Draw shares (0 to 1) over x from 0 to 1, each series with a mark of its own; `mark` is an upright line.

    Where two series meet, the first one is seen.
    """
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    at = round(mark * (WIDTH - 1))
    for row in grid:
        row[at] = "┊"
    for (_, points), sign in reversed(list(zip(series.items(), MARKS, strict=False))):
        for x, y in points:
            grid[HEIGHT - 1 - round(y * (HEIGHT - 1))][round(min(1.0, x) * (WIDTH - 1))] = sign
    drawn = [title]
    for number, row in enumerate(grid):
        share = 1 - number / (HEIGHT - 1)
        label = f"{100 * share:4.0f} %" if number % 4 == 0 else " " * 6
        drawn.append(f"{label} │{''.join(row)}")
    drawn.append(" " * 7 + "└" + "─" * WIDTH)
    ticks = "".join(f"{step / 10:<{(WIDTH - 1) // 5}.1f}" for step in range(0, 10, 2)) + "1.0"
    drawn += [" " * 8 + ticks, " " * 8 + x_label]
    drawn.append(" " * 8 + "   ".join(f"{sign} {name}" for name, sign in zip(series, MARKS, strict=False)))
    return "\n".join(drawn)


def in_brackets(auc: float | None) -> str:
    """Return an AUC as it stands behind a sentence, nothing where there were not both kinds of questions."""
    return "" if auc is None else f" (AUC {auc:.2f})"
