"""`evals compare`: is B better than A, and on which questions? With `--accepted`, a gate for CI."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals import gate
from evals.display import Display
from evals.errors import EvalError
from evals.gate import FIGURES, Loss
from evals.scoring import differences
from evals.storage import read_json, write_json

SHOWN = 25


def compare(
    display: Display,
    *,
    results: Sequence[Path],
    accepted: Path | None,
    tolerance: float,
    accept: bool,
    json: Path | None,
    seed: int,
) -> int:
    """Compare two results of `evals retrieval`, or one with the accepted figures; print, and write with `--json`.

    Returns 1 when a figure is significantly worse than accepted by more than `tolerance`, unless it is accepted now.
    """
    if len(results) != (1 if accepted else 2) or (accept and not accepted):
        raise EvalError("Give two results; or one, and --accepted FILE (with --accept to accept its figures).")
    if accepted and accept and not accepted.exists():
        return _accepted(accepted, results[-1], display)
    if accepted:
        gate.read_accepted(accepted)
    a, b = (accepted, results[0]) if accepted else (results[0], results[1])
    left, right = (read_json(path, *gate.RESULT) for path in (a, b))
    result = _compared(a, b, left, right, seed)
    failed = False
    if accepted:
        lost, missing = gate.losses(left, right, tolerance=tolerance, seed=seed), gate.not_asked(left, right)
        result |= {"losses": [each.as_json() for each in lost], "not_asked": missing}
        failed = bool(lost or missing)
    _show(result, display)
    if json:
        write_json(json, result)
    if accepted and accept:
        return _accepted(accepted, b, display)
    return int(failed)


def _accepted(path: Path, result: Path, display: Display) -> int:
    gate.accept(path, read_json(result, *gate.RESULT))
    display.say(f"The figures of {result} are accepted in {path}.")
    return 0


def _compared(a: Path, b: Path, left: Mapping[str, Any], right: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the comparison in the form that is written. Raises `EvalError` when there is nothing to compare."""
    rows_a, rows_b = left["questions"], right["questions"]
    common = {row["id"] for row in rows_a} & {row["id"] for row in rows_b}
    if not common:
        raise EvalError(f"{a} and {b} have no question in common: were they made from the same --data?")
    metrics = _metrics(rows_a, rows_b)
    if not metrics:
        raise EvalError(f"{a} and {b} have no figure in common: write both with `python -m evals retrieval --json`.")
    result = {
        "a": _made_with(a, left),
        "b": _made_with(b, right),
        "common": len(common),
        "sets": differences(rows_a, rows_b, metrics, seed=seed),
        "changed": changed_questions(rows_a, rows_b),
        "refusals_changed": changed_refusals(rows_a, rows_b),
        "settings_changed": _changed(left.get("settings") or {}, right.get("settings") or {}),
        "versions_changed": _changed(left.get("versions") or {}, right.get("versions") or {}),
    }
    if not result["sets"]:
        raise EvalError(f"No question that {a} and {b} have in common was ranked in both: there is nothing to compare.")
    return result


def changed_questions(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the questions whose expected page moved, those that moved most (in reciprocal rank) first."""
    before = {row["id"]: row for row in a}
    moved = []
    for row in b:
        old = before.get(row["id"])
        if old is None or "gold_rank" not in row or "gold_rank" not in old or old["gold_rank"] == row["gold_rank"]:
            continue
        moved.append(
            {
                "id": row["id"],
                "set": row["set"],
                "question": row["question"],
                "expected": {"doc": row["doc"], "pages": row["pages"]},
                "rank_a": old["gold_rank"],
                "rank_b": row["gold_rank"],
                "gain": _reciprocal(row["gold_rank"]) - _reciprocal(old["gold_rank"]),
            }
        )
    return sorted(moved, key=lambda each: (-abs(each["gain"]), each["id"]))


def changed_refusals(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the questions that one refuses and the other answers; a system that never refuses changes nothing."""
    before = {row["id"]: row.get("refused") for row in a}
    return [
        {"id": row["id"], "set": row["set"], "question": row["question"], "answerable": row.get("answerable"), "b": now}
        for row in b
        if (now := row.get("refused")) is not None and before.get(row["id"]) is not None and before[row["id"]] != now
    ]


def _made_with(path: Path, result: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: result.get(key) for key in ("system", "versions", "settings")}
    return {"file": path.name, "questions": len(result["questions"]), **made}


def _metrics(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> list[str]:
    ranked = [row for row in (*a, *b) if "gold_rank" in row]
    return [
        name for name in (ranked[0] if ranked else {}) if name.startswith(FIGURES) and all(name in r for r in ranked)
    ]


def _reciprocal(rank: int | None) -> float:
    return 1.0 / rank if rank else 0.0


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {key: [a.get(key), b.get(key)] for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)}


def _show(result: Mapping[str, Any], display: Display) -> None:
    count_a, count_b = result["a"]["questions"], result["b"]["questions"]
    metrics = [key for key in next(iter(result["sets"].values())) if key.startswith(FIGURES)]
    display.say(
        f"A: {result['a']['system']} ({result['a']['file']}), B: {result['b']['system']} ({result['b']['file']})"
    )
    if count_a != result["common"] or count_b != result["common"]:
        display.say(f"Only the {result['common']} questions both have are compared (A has {count_a}, B {count_b}).")
    for kind in ("settings_changed", "versions_changed"):
        for key, (old, new) in result[kind].items():
            display.say(f"  {kind.removesuffix('_changed')}: {key} {old} → {new}")
    rows = [
        [metric, *(_cell(figures[metric]) if metric in figures else "" for figures in result["sets"].values())]
        for metric in metrics
    ]
    names = [f"{name} ({figures['n']})" for name, figures in result["sets"].items()]
    display.table("B above A (95 % interval; * leaves zero out)", ["", *names], rows)
    for name, figures in result["sets"].items():
        display.say(f"{name}: {_verdict(figures, metrics)}")
    gained = [each for each in result["changed"] if each["gain"] > 0]
    lost = [each for each in result["changed"] if each["gain"] < 0]
    display.say(f"\nThe expected page moved up in {len(gained)} questions, down in {len(lost)}.")
    for title, moved in (("Up", gained), ("Down", lost)):
        for each in moved[:SHOWN]:
            pages = ", ".join(map(str, each["expected"]["pages"]))
            display.say(
                f"{title:4} {each['rank_a'] or '–'} → {each['rank_b'] or '–'}  {each['id']}  {each['question'][:90]} "
                f"[{each['expected']['doc'][:30]} p. {pages}]"
            )
        if len(moved) > SHOWN:
            display.say(f"     and {len(moved) - SHOWN} more (all of them with --json)")
    for each in result["refusals_changed"][:SHOWN]:
        kind = "answerable" if each["answerable"] else "unanswerable"
        display.say(f"{'refused now' if each['b'] else 'answered now'} ({kind})  {each['id']}  {each['question'][:90]}")
    if "losses" in result:
        _show_gate(result, display)


def _cell(figure: Mapping[str, Any]) -> str:
    low, high = figure["ci"]
    return f"{figure['mean']:+.3f}{'*' if figure['real'] else ' '} ({low:+.2f}, {high:+.2f})"


def _verdict(figures: Mapping[str, Any], metrics: Sequence[str]) -> str:
    real = [f"{metric} {figures[metric]['mean']:+.3f}" for metric in metrics if figures.get(metric, {}).get("real")]
    return f"real: {', '.join(real)}" if real else "no difference that can be told apart from chance"


def _show_gate(result: Mapping[str, Any], display: Display) -> None:
    display.say()
    if missing := result["not_asked"]:
        display.say(
            f"Not asked: {len(missing)} accepted questions, {', '.join(missing[:SHOWN])}. Ask them, or --accept."
        )
    for loss in result["losses"]:
        display.say(f"Worse than accepted: {Loss(**loss)}")
    if not missing and not result["losses"]:
        display.say("Nothing is really worse than accepted.")
