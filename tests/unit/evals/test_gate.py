"""The gate of `evals compare --accepted`: it fails on a real loss, and only on one."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from evals import gate
from evals.cli import main

Row = dict[str, Any]
SETS = ("faq", "manuals")


def ranked(number: int, rank: int | None, *, refused: bool = False) -> Row:
    figures = {f"hit@{k}": float(rank is not None and rank <= k) for k in (1, 5)}
    return {
        "id": f"q{number}",
        "set": SETS[number % 2],
        "question": f"What is {number}?",
        "doc": "a.pdf",
        "pages": [number],
        "answerable": True,
        "refused": refused,
        "gold_rank": rank,
        **figures,
        "mrr": 1 / rank if rank else 0.0,
        "snippet": "text of the document",
    }


def unanswerable(number: int, *, refused: bool) -> Row:
    kept = ("id", "set", "question", "doc")
    return {**{key: ranked(number, 1)[key] for key in kept}, "pages": [], "answerable": False, "refused": refused}


def result(rows: list[Row]) -> Row:
    return {"system": "recto", "versions": {}, "settings": {}, "sets": {}, "questions": rows}


def written(path: Path, rows: list[Row]) -> str:
    path.write_text(json.dumps(result(rows)))
    return str(path)


def good(count: int = 80) -> list[Row]:
    return [ranked(number, 1 if number % 4 else 3) for number in range(count)]


def with_lost(rows: list[Row], count: int) -> list[Row]:
    """Return the rows with the expected page of the first `count` lost."""
    return [ranked(number, None) if number < count else row for number, row in enumerate(rows)]


def losses(before: list[Row], now: list[Row], tolerance: float = 0.0) -> set[tuple[str, str]]:
    found = gate.losses(result(before), result(now), tolerance=tolerance, seed=0)
    return {(loss.set, loss.figure) for loss in found}


def test_the_same_figures_are_no_loss() -> None:
    assert losses(good(), good()) == set()


def test_a_gain_is_no_loss() -> None:
    assert losses(with_lost(good(), 40), good()) == set()


def test_a_real_loss_is_named_by_set_and_figure_and_over_all() -> None:
    assert {(gate.ALL, "mrr"), (gate.ALL, "hit@1"), ("faq", "mrr")} <= losses(good(), with_lost(good(), 20))


def test_a_loss_in_one_set_is_seen_even_if_another_set_gains_as_much() -> None:
    worse_faq = [ranked(n, None) if n % 2 == 0 and n < 40 else ranked(n, 1) for n in range(80)]
    accepted = [ranked(n, None) if n % 2 == 1 and n < 40 else ranked(n, 1) for n in range(80)]
    assert losses(accepted, worse_faq) == {("faq", "hit@1"), ("faq", "hit@5"), ("faq", "mrr")}


def test_one_question_lost_of_eighty_is_noise() -> None:
    assert losses(good(), with_lost(good(), 1)) == set()


def test_a_loss_within_the_tolerance_is_let_through() -> None:
    assert losses(good(), with_lost(good(), 20), tolerance=0.3) == set()
    assert losses(good(), with_lost(good(), 20), tolerance=0.1)


def test_more_refusals_of_answerable_questions_are_a_loss() -> None:
    now = [{**row, "refused": number < 15} for number, row in enumerate(good())]
    assert losses(good(), now) == {(gate.ALL, "answerable answered")}


def test_fewer_refusals_of_unanswerable_questions_are_a_loss() -> None:
    before = [unanswerable(number, refused=True) for number in range(100, 140)]
    now = [unanswerable(number, refused=number > 120) for number in range(100, 140)]
    assert losses([*good(), *before], [*good(), *now]) == {(gate.ALL, "unanswerable refused")}


def test_a_system_that_never_refuses_is_judged_by_its_ranks() -> None:
    rows = [{**row, "refused": None} for row in good()]
    assert losses(rows, rows) == set()


def test_neutral_changes_rarely_fail() -> None:
    """A tenth of the ranks drawn anew, before and after alike: at most 2.5 % may fail, so of 40 tries none or one."""
    chance = random.Random(7)
    failed = 0
    for _ in range(40):
        drawn = [[ranked(n, chance.choice([1, 1, 2, 6, None])) for n in range(80)] for _ in range(2)]
        moved = {n for n in range(80) if chance.random() < 0.1}
        before, now = ([side[n] if n in moved else good()[n] for n in range(80)] for side in drawn)
        failed += bool(losses(before, now))
    assert failed <= 1


def test_accept_then_pass_then_fail_then_accept_the_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = str(tmp_path / "accepted.json")
    fine, worse = written(tmp_path / "fine.json", good()), written(tmp_path / "worse.json", with_lost(good(), 20))
    assert main(["compare", fine, "--accepted", accepted]) == 1
    assert "nothing was accepted yet. Add --accept" in capsys.readouterr().err
    assert main(["compare", fine, "--accepted", accepted, "--accept"]) == 0
    assert "snippet" not in Path(accepted).read_text()
    assert main(["compare", fine, "--accepted", accepted]) == 0
    assert "Nothing is really worse than accepted." in capsys.readouterr().out
    assert main(["compare", worse, "--accepted", accepted, "--json", str(tmp_path / "out.json")]) == 1
    assert "Worse than accepted: all questions: mrr" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())["losses"]
    assert main(["compare", worse, "--accepted", accepted, "--tolerance", "0.5"]) == 0
    assert main(["compare", worse, "--accepted", accepted, "--accept"]) == 0
    assert main(["compare", worse, "--accepted", accepted]) == 0


def test_questions_that_are_no_longer_asked_fail_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = str(tmp_path / "accepted.json")
    assert main(["compare", written(tmp_path / "a.json", good()), "--accepted", accepted, "--accept"]) == 0
    assert main(["compare", written(tmp_path / "b.json", good()[:-2]), "--accepted", accepted]) == 1
    assert "Not asked: 2 accepted questions, q78, q79." in capsys.readouterr().out


@pytest.mark.parametrize("given", [["a.json"], ["a.json", "b.json", "--accept"], ["a.json", "b.json", "c.json"]])
def test_what_is_compared_must_be_clear(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *given]) == 1
    assert "Give two results; or one, and --accepted FILE" in capsys.readouterr().err
