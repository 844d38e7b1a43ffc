"""Cross-encoders in this process, each an ONNX file and its tokenizer: one reranks passages, one checks claims.

onnxruntime, tokenizers and numpy are not in the query package (100 MB): they are imported when a setting names a
model, from a Lambda layer or the laptop's own packages.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any, Literal

from shared.adapters.retry import Guard, Retry
from shared.errors import ConfigurationError, DependencyRefused, DependencyTimeout

MODEL, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "config.json"
PACKAGES = ("numpy", "onnxruntime", "tokenizers")
MAX_TOKENS = 512
"""Tokens of both texts of a pair together, as BERT's cross-encoders were trained."""
BATCH_PAIRS = 8
"""Pairs scored at a time: of similar lengths, because shorter ones are padded."""
INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
FARTHEST_LOGIT = 60.0
"""Logits beyond that are as certain as this one; the exponential of a larger one may overflow."""
ENTAILMENT, CONTRADICTION = "entailment", "contradiction"
LABELS = (frozenset({ENTAILMENT, "neutral", CONTRADICTION}), frozenset({ENTAILMENT, "not_entailment"}))
"""What models of natural language inference call their outputs: MNLI's three labels, or two."""


@dataclass(frozen=True, slots=True)
class _Purpose:
    """What a model is for: the step's name, its setting, and which text of a pair may be cut (0 or 1)."""

    step: str
    setting: str
    parameter: str
    kind: str
    cut: Literal[0, 1]


_RERANK = _Purpose("rerank", "RECTO_RERANK_PATH", "RerankPath", "cross-encoder", 1)
_CHECK = _Purpose("check", "RECTO_CHECK_PATH", "CheckPath", "cross-encoder for natural language inference", 0)


class _CrossEncoder:
    """The model in `folder`, which reads two texts together and gives one or more logits. Thread-safe.

    It takes int64 `input_ids`, and `attention_mask` and `token_type_ids` where it has them (batch x tokens).
    """

    def __init__(self, folder: Path, purpose: _Purpose, *, guard: Guard | None, files: Sequence[str] = ()) -> None:
        """Load model and tokenizer. Raises `ConfigurationError` if a file or a package is missing, or does not fit."""
        missing = [name for name in (MODEL, TOKENIZER, *files) if not (folder / name).is_file()]
        if missing:
            raise ConfigurationError(
                f"{purpose.setting} names {folder}, which holds no {' and no '.join(missing)}: name the folder of a "
                f"{purpose.kind} that was exported to ONNX (template parameters {purpose.parameter} and RerankLayer)."
            )
        self._purpose = purpose
        self._numpy, self._runtime, tokenizers = (_imported(name, purpose.setting) for name in PACKAGES)
        self._retry = Retry(purpose.step, attempts=1, guard=guard)
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
            self._session = self._runtime.InferenceSession(str(folder / MODEL), providers=["CPUExecutionProvider"])
        except Exception as error:  # the libraries raise bare exceptions of their own
            raise ConfigurationError(f"The {purpose.kind} in {folder} cannot be loaded: {error}") from error
        self._inputs = [each.name for each in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not INPUTS.issuperset(self._inputs):
            raise ConfigurationError(
                f"{folder / MODEL} is not a {purpose.kind}: it takes {', '.join(self._inputs)}, where only "
                f"{', '.join(sorted(INPUTS))} can be given."
            )
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy=("only_first", "only_second")[purpose.cut])
        self._tokenizer.no_padding()

    def logits(
        self, pairs: Sequence[tuple[str, str]], outputs: Collection[int], *, timeout_s: float
    ) -> Sequence[Sequence[float]]:
        """Return each pair's logits, in their order; `timeout_s` bounds the whole. Raises `DependencyError`.

        A model that gives another number of logits than one of `outputs` is refused.
        """
        return self._retry.run(lambda left_s: self._all_logits(pairs, outputs, left_s), timeout_s=timeout_s)

    def _all_logits(
        self, pairs: Sequence[tuple[str, str]], outputs: Collection[int], left_s: float
    ) -> Sequence[Sequence[float]]:
        end = monotonic() + left_s
        try:
            encoded = self._tokenizer.encode_batch(list(pairs))
        except Exception as error:  # the text that is never cut leaves no room for the other one
            raise DependencyRefused(self._purpose.step, "the tokenizer refused a text") from error
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        found: list[Sequence[float]] = [()] * len(encoded)
        for begin in range(0, len(order), BATCH_PAIRS):
            batch = order[begin : begin + BATCH_PAIRS]
            logits = self._batch([encoded[at] for at in batch], end - monotonic())
            if logits.ndim != 2 or logits.shape[1] not in outputs or not self._numpy.isfinite(logits).all():
                raise DependencyRefused(
                    self._purpose.step,
                    f"{MODEL} gives no scores: set {self._purpose.setting} to a {self._purpose.kind}",
                )
            for at, row in zip(batch, logits.tolist(), strict=True):
                found[at] = row
        return found

    def _batch(self, pairs: Sequence[Any], left_s: float) -> Any:
        """Score some pairs; onnxruntime stops between two steps of the model once the time is over."""
        if left_s <= 0:
            raise DependencyTimeout(self._purpose.step, "the model took too long.")
        options = self._runtime.RunOptions()
        timer = Timer(left_s, lambda: setattr(options, "terminate", True))
        timer.start()
        try:
            (logits, *_) = self._session.run(None, self._padded(pairs), options)
        except Exception as error:  # as above; a run that was told to stop fails like any other
            if options.terminate:
                raise DependencyTimeout(self._purpose.step, "the model took too long.") from error
            raise DependencyRefused(self._purpose.step, "the model failed on its input") from error
        finally:
            timer.cancel()
        return logits

    def _padded(self, pairs: Sequence[Any]) -> dict[str, Any]:
        longest = max(len(pair) for pair in pairs)
        arrays = {name: self._numpy.zeros((len(pairs), longest), dtype="int64") for name in self._inputs}
        for row, pair in enumerate(pairs):
            values = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
            for name, array in arrays.items():
                array[row, : len(pair)] = values[name]
        return arrays


class OnnxReranker:
    """`Reranker` by a cross-encoder that gives one logit a pair, or two of which the second says "relevant".

    `folder` holds `model.onnx` and `tokenizer.json`. A passage that is too long is cut, a question is not. Thread-safe.
    """

    def __init__(self, folder: Path, *, guard: Guard | None = None) -> None:
        """Load the model. Raises `ConfigurationError` if a file or a package is missing, or does not fit."""
        self._model = _CrossEncoder(folder, _RERANK, guard=guard)

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score a text, 0 to 1, in their order; `timeout_s` bounds the whole. Raises `DependencyError`."""
        rows = self._model.logits([(question, text) for text in texts], (1, 2), timeout_s=timeout_s)
        return [_shares([0.0, *row][-2:])[1] for row in rows]


class OnnxEntailment:
    """Says whether texts follow from others, by a cross-encoder for natural language inference. Thread-safe.

    `folder` holds `model.onnx`, `tokenizer.json`, and `config.json`, whose `id2label` names the outputs: entailment,
    neutral and contradiction, or entailment and not_entailment, in any order and case. A premise that is too long is
    cut, a hypothesis is not.
    """

    def __init__(self, folder: Path, *, guard: Guard | None = None) -> None:
        """Load the model. Raises `ConfigurationError` if a file or a package is missing, or does not fit."""
        self._model = _CrossEncoder(folder, _CHECK, guard=guard, files=(CONFIG,))
        self._labels = _labels_in(folder / CONFIG)
        self.name = folder.name

    def entailment(self, pairs: Sequence[tuple[str, str]], *, timeout_s: float) -> Sequence[tuple[float, float]]:
        """Return how likely each premise entails its hypothesis, and how likely it contradicts it (0 to 1).

        `pairs` are premises and hypotheses; `timeout_s` bounds the whole. Raises `DependencyError`.
        """
        rows = self._model.logits(pairs, (len(self._labels),), timeout_s=timeout_s)
        shares = [dict(zip(self._labels, _shares(row), strict=True)) for row in rows]
        return [(each[ENTAILMENT], each.get(CONTRADICTION, 0.0)) for each in shares]


def _labels_in(path: Path) -> Sequence[str]:
    """Return what a model calls its outputs, in their order."""
    try:
        named = json.loads(path.read_bytes())["id2label"]
        labels = [str(named[str(at)]).lower() for at in range(len(named))]
    except (ValueError, LookupError, TypeError):
        labels = []
    if len(labels) != len(set(labels)) or frozenset(labels) not in LABELS:
        choices = "; or ".join(", ".join(sorted(each)) for each in LABELS)
        raise ConfigurationError(
            f"{path} does not name the model's outputs: its id2label must hold {choices} (RECTO_CHECK_PATH)."
        )
    return labels


def _shares(logits: Sequence[float]) -> Sequence[float]:
    """Return the probability of each output (softmax)."""
    highest = max(logits)
    exponentials = [math.exp(max(logit - highest, -FARTHEST_LOGIT)) for logit in logits]
    return [each / sum(exponentials) for each in exponentials]


def _imported(name: str, setting: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{setting} needs {', '.join(PACKAGES)}; {name} is not installed. On AWS, add a layer that holds "
            "them (template parameter RerankLayer); on a laptop, run `uv sync --group local`."
        ) from error
