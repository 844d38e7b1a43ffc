"""How a threshold is chosen and confidence is fitted, on made-up questions whose truth is known."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals import calibrate
from evals.display import line_plot
from evals.fitting import (
    ANSWERABLE,
    MISSING,
    NEAR_TOPIC,
    ScoredQuestion,
    choose,
    confidence_report,
    curve_of,
    fit,
    gaps,
    held_out,
    point,
    reliability,
    second_look_curve,
)
from functions.query.decision import probability
from local.stack.config import LocalConfig


def asked(
    score: float, kind: str = ANSWERABLE, *, n: int = 0, doc: str = "a.pdf", right: bool | None = None
) -> ScoredQuestion:
    return ScoredQuestion(
        f"{kind}{n}{doc}", kind, doc, score, score, None if right is None else (score, score, 0.0), right
    )


def many(count: int, *, seed: int = 1) -> list[ScoredQuestion]:
    """Questions of eight documents that are answered rightly as often as their features say."""
    generator = random.Random(seed)
    found = []
    for n in range(count):
        features = (generator.random(), generator.random(), generator.uniform(-0.2, 0.4))
        right = generator.random() < probability((-3.0, 3.0, 2.0, 4.0), features)
        found.append(ScoredQuestion(f"q{n}", ANSWERABLE, f"{n % 8}.pdf", 0.5, 0.5, features, right))
    return found


def test_the_highest_threshold_that_loses_no_more_than_allowed_is_chosen() -> None:
    rows = [asked(0.305 + n / 100, n=n) for n in range(40)]
    assert choose(rows, 0.0) == 0.30
    assert choose(rows, 0.025) == 0.31
    assert choose(rows, 0.05) == 0.32
    assert choose([asked(0.9, NEAR_TOPIC)], 0.0) == 1.0


def test_a_point_counts_what_lies_under_it_and_how_right_the_rest_is() -> None:
    rows = [asked(0.6, right=True), asked(0.5, n=1, right=False), asked(0.2, n=2, right=False), asked(0.4, MISSING)]
    found = point(0.45, rows, seed=0)
    assert found[ANSWERABLE] == pytest.approx(1 / 3)
    assert found[MISSING] == 1.0
    assert found[NEAR_TOPIC] is None
    assert (found["precision"], found["answered"]) == (0.5, 2)


def test_the_curve_goes_from_nothing_refused_to_everything() -> None:
    curve = curve_of([asked(0.5), asked(0.2, NEAR_TOPIC)], seed=0)
    assert (curve[0]["threshold"], curve[-1]["threshold"]) == (0.0, 1.0)
    assert (curve[0][ANSWERABLE], curve[-1][ANSWERABLE]) == (0.0, 1.0)


def test_a_question_under_the_threshold_is_refused_until_a_statement_is_near_enough() -> None:
    questions = [
        asked(0.5),  # not refused, whatever is near
        replace(asked(0.2, n=1), near=0.44),
        asked(0.2, n=2),  # nothing to compare
        replace(asked(0.2, MISSING), near=0.32),
    ]
    curve = {each["similarity"]: each for each in second_look_curve(questions, 0.35, seed=0)}
    assert list(curve) == sorted(curve)
    assert (curve[0.3][ANSWERABLE], curve[0.44][ANSWERABLE]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert curve[0.46][ANSWERABLE] == pytest.approx(2 / 3)
    assert (curve[0.32][MISSING], curve[0.34][MISSING]) == (0.0, 1.0)
    assert curve[0.3][NEAR_TOPIC] is None


def test_a_document_that_is_unlike_the_others_is_refused_more_often_than_it_seemed() -> None:
    rows = [asked(0.6 + n / 1000, n=n, doc=f"{n % 3}.pdf") for n in range(30)]
    rows += [asked(0.2 + n / 1000, n=n, doc="unlike.pdf") for n in range(10)]
    seen = choose(rows, 0.0)
    assert sum(row.score < seen for row in rows) == 0
    assert held_out(rows, 0.0, seed=0)[ANSWERABLE] == pytest.approx(0.25)


def test_the_gap_is_one_where_the_kinds_do_not_meet() -> None:
    assert gaps([asked(0.8), asked(0.3, NEAR_TOPIC)]) == {NEAR_TOPIC: 1.0}


def test_the_fit_finds_the_weights_that_made_the_answers() -> None:
    assert fit(many(20_000)) == pytest.approx([-3.0, 3.0, 2.0, 4.0], abs=0.25)


def test_confidence_that_is_true_has_a_small_calibration_error_and_one_that_is_not_a_large_one() -> None:
    rows = many(4_000)
    found = confidence_report(rows, 0.0, (5.0, 0.0, 0.0, 0.0))
    assert found["held_out"]["ece"] < 0.03
    assert found["held_out"]["auc"] > 0.7
    assert found["shipped"]["ece"] > 0.3


def test_what_is_fitted_to_other_collections_is_measured_here_and_each_of_them_counts() -> None:
    rows = many(2_000)
    wrong = [replace(each, right=not each.right) for each in many(2_000, seed=2)]
    true = confidence_report(rows, 0.0, None, elsewhere=[many(400, seed=3)])["elsewhere"]
    assert true["ece"] < 0.06
    assert true["high"]["right"] > 0.75
    mixed = confidence_report(rows, 0.0, None, elsewhere=[many(400, seed=3), wrong])["elsewhere"]
    weights = fit([*many(400, seed=3), *wrong])
    flooded = reliability([(probability(weights, each.features or ()), bool(each.right)) for each in rows])
    assert true["brier"] < mixed["brier"] < flooded["brier"]
    assert "elsewhere" not in confidence_report(rows, 0.0, None)


def test_too_few_answers_say_nothing_about_confidence() -> None:
    assert confidence_report(many(20), 0.0, None) == {}


def test_reliability_sets_what_was_said_against_what_was() -> None:
    found = reliability([(0.9, True)] * 9 + [(0.9, False)] + [(0.1, False)] * 9 + [(0.1, True)])
    assert found["ece"] == pytest.approx(0.0, abs=0.11)
    assert sum(each["n"] for each in found["bins"]) == 20


def test_what_is_deployed_every_time_keeps_its_other_parameters(tmp_path: Path) -> None:
    file = tmp_path / calibrate.DEPLOY_PARAMETERS
    file.write_text("# ours\nTopK=5\nScoreThreshold=0.20\n")
    found = {"ScoreThreshold": "0.34", "ConfidenceCoefficients": "-1.00,2.00,0.50"}
    said = calibrate.write(found, calibrate.AWS, project=tmp_path)
    assert file.read_text() == "# ours\nTopK=5\nScoreThreshold=0.34\nConfidenceCoefficients=-1.00,2.00,0.50\n"
    assert "make deploy" in said


@pytest.mark.parametrize(
    ("coefficients", "brier", "shipped", "written"),
    [
        ([-1, 2.005, 0.5], 0.2, None, "-1.00,2.00,0.50"),
        ([-1, 2, 0.5], 0.2, 0.21, "-1.00,2.00,0.50"),
        ([-1, 2, 0.5], 0.2, 0.2, ""),
        ([-1, 2, 0.5], 0.24, None, ""),  # two fifths are right: to know that is worth .24
        ([1, -2, 0.5], 0.2, None, ""),
    ],
    ids=["none shipped", "better than the shipped ones", "no better", "no better than a constant", "upside down"],
)
def test_coefficients_are_written_that_estimate_better_than_what_is_known(
    coefficients: list[float], brier: float, shipped: float | None, written: str
) -> None:
    held_out = {"brier": brier, "bins": [{"n": 30, "right": 0.2}, {"n": 20, "right": 0.7}]}
    found: dict[str, Any] = {"coefficients": coefficients, "held_out": held_out}
    found |= {"shipped": {"brier": shipped}} if shipped else {}
    expected = {"ScoreThreshold": "0.34", "ConfidenceCoefficients": written}
    assert calibrate._parameters(0.337, found) == expected
    assert calibrate._parameters(0.337, {}) == {**expected, "ConfidenceCoefficients": ""}


def test_coefficients_of_an_earlier_run_do_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / calibrate.DEPLOY_PARAMETERS
    file.write_text("ConfidenceCoefficients=9,9,9\n")
    measured = {"ScoreThreshold": "0.34", "ConfidenceCoefficients": ""}
    assert calibrate.write(measured, calibrate.AWS, project=tmp_path).startswith("ScoreThreshold=0.34 is in")
    assert file.read_text() == "ScoreThreshold=0.34\n"
    monkeypatch.setenv("RECTO_STATE", str(tmp_path / "state"))
    LocalConfig(state=tmp_path / "state", parameters={"TopK": "5", "ConfidenceCoefficients": "9,9,9"}).save()
    calibrate.write(measured, calibrate.LAPTOP)
    assert LocalConfig.load(tmp_path / "state", {}).parameters == {"TopK": "5", "ScoreThreshold": "0.34"}


def test_a_plot_for_the_terminal_shows_each_line_and_the_mark() -> None:
    drawn = line_plot("Title", {"up": [(0.0, 0.0), (1.0, 1.0)]}, x_label="x", mark=0.5)
    rows = drawn.splitlines()
    assert rows[0] == "Title"
    assert rows[1].rstrip().endswith("●")
    assert "┊" in rows[5]
    assert rows[-1].strip() == "● up"
