"""The cross-encoders in the function: scores, batches, cut texts, deadlines, and what is said of a wrong folder."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import pytest

from shared.adapters import cross_encoder
from shared.adapters.cross_encoder import CONFIG, MAX_TOKENS, MODEL, TOKENIZER, OnnxEntailment, OnnxReranker
from shared.errors import ConfigurationError, DependencyRefused, DependencyTimeout
from tests.support.cross_encoder import cross_encoder_in, entailment_model_in

QUESTION = "When must the lens be cleaned?"
TEXTS = ["The ferry sails at noon.", "The lens must be cleaned every Thursday.", "Rough sea.", "The lens of the lamp."]
WORDS = " ".join([QUESTION, *TEXTS]).lower().replace(".", "").replace("?", "").split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cross_encoder_in(tmp_path / "reranker", WORDS)


def logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@pytest.mark.parametrize("logits", [1, 2])
def test_scores_are_the_models_in_the_order_of_the_texts(tmp_path: Path, logits: int) -> None:
    reranker = OnnxReranker(cross_encoder_in(tmp_path, WORDS, logits=logits))
    scores = reranker.rerank(QUESTION, TEXTS, timeout_s=10)
    shares = [1 / 6, 5 / 6, 0, 2 / 6]  # of "when must the lens be cleaned"
    assert scores == pytest.approx([logistic(8 * share - 4) for share in shares], abs=1e-4)


def test_batches_and_padding_change_no_score(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    texts = [f"{'rough sea ' * n}{TEXTS[n % 4]}" for n in range(30)]
    together = reranker.rerank(QUESTION, texts, timeout_s=10)
    assert together == pytest.approx([reranker.rerank(QUESTION, [text], timeout_s=10)[0] for text in texts], abs=1e-6)


def test_a_passage_is_cut_at_what_the_model_reads_and_the_question_is_not(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    late = "sea " * (MAX_TOKENS + 10) + "lens cleaned"
    early = "lens cleaned " + "sea " * (MAX_TOKENS + 10)
    first, second = reranker.rerank(QUESTION, [late, early], timeout_s=10)
    assert first == pytest.approx(logistic(-4), abs=1e-4)
    assert second > first


def test_a_question_that_leaves_no_room_for_a_passage_is_refused(folder: Path) -> None:
    with pytest.raises(DependencyRefused) as refused:
        OnnxReranker(folder).rerank("sea " * 2 * MAX_TOKENS, ["lens"], timeout_s=10)
    assert refused.value.warning_about("rerank") == "rerank_refused"


def test_no_texts_have_no_scores(folder: Path) -> None:
    assert list(OnnxReranker(folder).rerank(QUESTION, [], timeout_s=10)) == []


def test_time_that_is_over_ends_it(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    with pytest.raises(DependencyTimeout):
        reranker.rerank(QUESTION, TEXTS, timeout_s=0)
    with pytest.raises(DependencyTimeout):
        reranker.rerank(QUESTION, ["lens " * 400] * 3_000, timeout_s=0.05)


def test_threads_share_it(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    alone = list(reranker.rerank(QUESTION, TEXTS, timeout_s=10))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: list(reranker.rerank(QUESTION, TEXTS, timeout_s=30)), range(40)))
    assert found == [pytest.approx(alone, abs=1e-6)] * 40


@pytest.mark.parametrize("missing", [MODEL, TOKENIZER])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ConfigurationError, match=f"RECTO_RERANK_PATH .* holds no {missing}.*RerankLayer"):
        OnnxReranker(folder)


def test_a_missing_package_says_what_to_add(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "PACKAGES", ("numpy", "onnxruntime_that_is_not_there", "tokenizers"))
    with pytest.raises(
        ConfigurationError, match=r"is not installed\. On AWS, add a layer .*; on a laptop, run `uv sync --group local"
    ):
        OnnxReranker(folder)


def test_a_broken_file_is_no_crash(folder: Path) -> None:
    (folder / MODEL).write_bytes(b"not a graph")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        OnnxReranker(folder)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    inputs = ("input_ids", "token_type_ids", "pixel_values")
    with pytest.raises(ConfigurationError, match="is not a cross-encoder: it takes input_ids"):
        OnnxReranker(cross_encoder_in(tmp_path, WORDS, inputs=inputs))


def test_a_model_that_gives_no_score_is_refused(tmp_path: Path) -> None:
    reranker = OnnxReranker(cross_encoder_in(tmp_path, WORDS, logits=384))
    with pytest.raises(DependencyRefused, match="gives no scores"):
        reranker.rerank(QUESTION, TEXTS, timeout_s=10)


class Failing:
    """A session whose run fails, perhaps only once it is told to stop."""

    def __init__(self, *, waits: bool) -> None:
        self.waits = waits

    def run(self, _outputs: object, _inputs: object, options: Any) -> object:
        while self.waits and not options.terminate:
            pass
        raise RuntimeError


@pytest.mark.parametrize(("waits", "error"), [(False, DependencyRefused), (True, DependencyTimeout)])
def test_a_run_that_fails_is_refused_and_one_that_was_stopped_took_too_long(
    folder: Path, waits: bool, error: type[Exception]
) -> None:
    reranker = OnnxReranker(folder)
    reranker._model._session = Failing(waits=waits)
    with pytest.raises(error):
        reranker.rerank(QUESTION, TEXTS, timeout_s=0.05 if waits else 10)


class Giving:
    """A session that gives prepared logits."""

    def __init__(self, logits: object) -> None:
        self.logits = logits

    def run(self, *_: object) -> object:
        return [numpy.array(self.logits)]


@pytest.mark.parametrize(
    ("logits", "scores"),
    [
        ([[0.0], [-100.0], [100.0]], [0.5, 0.0, 1.0]),
        ([[0.0, 0.0], [1.0, 1.0 + math.log(3)], [2.0, 2.0 - math.log(3)]], [0.5, 0.75, 0.25]),
    ],
)
def test_one_logit_is_a_chance_and_two_are_compared(
    folder: Path, logits: list[list[float]], scores: list[float]
) -> None:
    reranker = OnnxReranker(folder)
    reranker._model._session = Giving(logits)
    assert reranker.rerank(QUESTION, ["lens"] * 3, timeout_s=10) == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize("logits", [[0.5, 0.5], [[math.nan]], [[0.1, math.inf]], [[0.1, 0.2, 0.3]], [[[0.1]]]])
def test_what_is_no_score_is_refused(folder: Path, logits: object) -> None:
    reranker = OnnxReranker(folder)
    reranker._model._session = Giving(logits)
    with pytest.raises(DependencyRefused, match="gives no scores"):
        reranker.rerank(QUESTION, ["lens"], timeout_s=10)


# --- a model of natural language inference ---

PREMISE = "The lens must be cleaned every Thursday."
HYPOTHESES = ["The lens must be cleaned.", "The lens sails at noon.", "Ferry noon sea."]
MNLI = [["contradiction", "entailment", "neutral"], ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]]


def shares(*logits: float) -> list[float]:
    return [math.exp(each) / sum(map(math.exp, logits)) for each in logits]


@pytest.mark.parametrize("labels", MNLI)
def test_entailment_and_contradiction_are_told_by_the_names_of_the_outputs(tmp_path: Path, labels: list[str]) -> None:
    model = OnnxEntailment(entailment_model_in(tmp_path / "nli", WORDS, labels))
    found = model.entailment([(PREMISE, each) for each in HYPOTHESES], timeout_s=10)
    expected = []
    for share in (1, 2 / 5, 0):  # of the hypothesis' words that the premise holds
        entailed, contradicted, _ = shares(8 * share - 4, 4 - 8 * share, 0)
        expected.append((entailed, contradicted))
    assert [pytest.approx(each, abs=1e-4) for each in expected] == list(found)
    assert model.name == "nli"


def test_a_model_of_two_outputs_contradicts_nothing(tmp_path: Path) -> None:
    model = OnnxEntailment(entailment_model_in(tmp_path, WORDS, ["entailment", "not_entailment"]))
    found = model.entailment([(PREMISE, each) for each in HYPOTHESES], timeout_s=10)
    assert [contradicted for _, contradicted in found] == [0, 0, 0]
    assert found[0][0] == pytest.approx(shares(4, -4)[0], abs=1e-4)


def test_a_premise_is_cut_at_what_the_model_reads_and_the_hypothesis_is_not(tmp_path: Path) -> None:
    model = OnnxEntailment(entailment_model_in(tmp_path, WORDS, MNLI[0]))
    long = "sea " * (MAX_TOKENS + 10)
    (late, early) = model.entailment([(f"{long} lens", "lens"), (f"lens {long}", "lens")], timeout_s=10)
    assert late[0] < 0.1 < 0.9 < early[0]
    with pytest.raises(DependencyRefused) as refused:
        model.entailment([("lens", long)], timeout_s=10)
    assert refused.value.warning_about("check") == "check_refused"


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[]",
        "{}",
        json.dumps({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}),
        json.dumps({"id2label": {"0": "entailment", "1": "entailment"}}),
        json.dumps({"id2label": {"1": "entailment", "2": "not_entailment"}}),
        json.dumps({"id2label": {"0": "entailment"}}),
        json.dumps({"id2label": ["entailment", "not_entailment"]}),
    ],
)
def test_a_model_must_name_its_outputs(tmp_path: Path, config: str) -> None:
    folder = entailment_model_in(tmp_path, WORDS, MNLI[0])
    (folder / CONFIG).write_text(config)
    with pytest.raises(ConfigurationError, match=r"its id2label must hold .*entailment.*RECTO_CHECK_PATH"):
        OnnxEntailment(folder)


def test_another_number_of_outputs_than_names_is_refused(tmp_path: Path) -> None:
    folder = entailment_model_in(tmp_path, WORDS, MNLI[0])
    (folder / CONFIG).write_text(json.dumps({"id2label": {"0": "entailment", "1": "not_entailment"}}))
    with pytest.raises(DependencyRefused, match="gives no scores: set RECTO_CHECK_PATH"):
        OnnxEntailment(folder).entailment([(PREMISE, "Lens.")], timeout_s=10)


def test_a_missing_config_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"RECTO_CHECK_PATH .* holds no config\.json.*CheckPath and RerankLayer"
    ):
        OnnxEntailment(cross_encoder_in(tmp_path, WORDS))
