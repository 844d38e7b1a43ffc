"""The gate of `evals compare --accepted`: is any figure significantly worse than the one accepted last?

It compares MRR and hit@k for each set and for all ranked questions together and, over all questions with text, the
share of the answerable ones that is answered and of the unanswerable ones that is refused. Each is a paired difference
with a bootstrap's p. With so many figures one of them would look worse by chance in every seventh neutral change
(measured), so the p are judged together by Holm's rule (Holm, Scand. J. Statist. 6, 1979): a neutral change fails the
gate in 2.5 % of the cases at most.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evals.errors import EvalError
from evals.metrics import Difference, paired_difference
from evals.storage import Json, read_json, write_json

Rows = Sequence[Mapping[str, Any]]
RESULT = ("system", "sets", "questions")
"""The keys of a result of `evals retrieval`, and so of the accepted figures."""
LEVEL = 0.05
"""Two-sided; as only losses are looked for, half of it is the chance of a false alarm."""
KEPT = ("id", "set", "question", "doc", "pages", "answerable", "refused", "gold_rank")
FIGURES = ("hit@", "doc@", "chunk@", "mrr", "ndcg")
JUDGED = ("hit@", "mrr")
ALL = "all questions"


@dataclass(frozen=True, slots=True)
class Loss:
    """A figure that is significantly worse than accepted: its name and set, the number of questions, before and now."""

    set: str
    figure: str
    n: int
    accepted: float
    now: float
    p: float

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object, as results are written."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.set}: {self.figure} {self.accepted:.3f} → {self.now:.3f} ({self.n} questions, p {self.p:.4f})"


def read_accepted(path: Path) -> Json:
    """Read accepted figures. Raises `EvalError` that says how to accept some when there are none yet."""
    if not path.exists():
        raise EvalError(f"{path} does not exist: nothing was accepted yet. Add --accept to accept this result.")
    return read_json(path, *RESULT)


def accept(path: Path, result: Mapping[str, Any]) -> None:
    """Write the figures of a result of `evals retrieval`, question by question. Raises `EvalError`."""
    rows = [
        {key: value for key, value in row.items() if key in KEPT or key.startswith(FIGURES)} for row in _rows(result)
    ]
    write_json(path, {key: result.get(key) for key in ("system", "versions", "settings", "sets")} | {"questions": rows})


def not_asked(accepted: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return the ids of accepted questions that the result lacks, because leaving questions out could hide a loss."""
    asked = {row["id"] for row in _rows(result)}
    return [str(row["id"]) for row in _rows(accepted) if row["id"] not in asked]


def losses(accepted: Mapping[str, Any], result: Mapping[str, Any], *, tolerance: float, seed: int) -> list[Loss]:
    """Return the figures that are significantly worse by more than `tolerance` (a share), the worst first."""
    judged = []
    for name, figure, before, now in _pairs(_rows(accepted), _rows(result)):
        judged.append((name, figure, before, now, paired_difference(before, now, seed=seed)))
    real = _holm([each[-1] for each in judged])
    found = [
        Loss(name, figure, len(now), sum(before) / len(now), sum(now) / len(now), difference.p)
        for (name, figure, before, now, difference), is_real in zip(judged, real, strict=True)
        if is_real and difference.mean < -tolerance
    ]
    return sorted(found, key=lambda loss: (loss.now - loss.accepted, loss.set, loss.figure))


def _rows(result: Mapping[str, Any]) -> Rows:
    rows: Rows = result["questions"]
    return rows


def _pairs(accepted: Rows, result: Rows) -> Iterator[tuple[str, str, list[float], list[float]]]:
    """Yield set, figure, and its values then and now, question by question."""
    before = {row["id"]: row for row in accepted}
    pairs = [(before[row["id"]], row) for row in result if row["id"] in before]
    ranked = [pair for pair in pairs if all("gold_rank" in row for row in pair)]
    names = list(dict.fromkeys(row["set"] for _, row in ranked))
    for name in [*names, ALL] if len(names) > 1 else names:
        members = [pair for pair in ranked if name in (ALL, pair[1]["set"])]
        for figure in [key for key in members[0][1] if key.startswith(JUDGED)]:
            if all(figure in row for pair in members for row in pair):
                yield name, figure, [row[figure] for row, _ in members], [row[figure] for _, row in members]
    decided = [
        pair
        for pair in pairs
        if not pair[1]["set"].endswith("/visual") and all(row.get("refused") is not None for row in pair)
    ]
    for figure, answerable in (("answerable answered", True), ("unanswerable refused", False)):
        sides = [
            [float(row["refused"] is not answerable) for row in pair]
            for pair in decided
            if pair[1]["answerable"] is answerable
        ]
        if sides:
            yield ALL, figure, [before for before, _ in sides], [now for _, now in sides]


def _holm(differences: Sequence[Difference]) -> list[bool]:
    """Return which differences are losses that chance does not explain, judged all together."""
    order = sorted(range(len(differences)), key=lambda at: differences[at].p if differences[at].mean < 0 else 1.0)
    real = [False] * len(differences)
    for place, at in enumerate(order):
        if differences[at].mean >= 0 or differences[at].p * (len(differences) - place) >= LEVEL:
            break
        real[at] = True
    return real
