"""Reranking by a cross-encoder in this process: an ONNX file and its tokenizer, behind the port `Reranker`.

onnxruntime, tokenizers and numpy are not in the query package (100 MB): they are imported when the setting names a
model, from a Lambda layer or the laptop's own packages.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

from shared.adapters.retry import Guard, Retry
from shared.errors import ConfigurationError, DependencyRefused, DependencyTimeout

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
PACKAGES = ("numpy", "onnxruntime", "tokenizers")
MAX_TOKENS = 512
"""Tokens of question and passage together, as BERT's cross-encoders were trained; a longer passage is cut."""
BATCH_TEXTS = 8
"""Passages scored at a time: of similar lengths, because shorter ones are padded."""
INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
FARTHEST_LOGIT = 60.0
"""Logits beyond that are as certain as this one; the exponential of a larger one may overflow."""


class OnnxReranker:
    """`Reranker` by the cross-encoder in `folder` (`model.onnx`, `tokenizer.json`). Thread-safe.

    The model takes int64 `input_ids`, and `attention_mask` and `token_type_ids` where it has them (batch x tokens); it
    gives one logit a pair, or two of which the second says "relevant".
    """

    def __init__(self, folder: Path, *, guard: Guard | None = None) -> None:
        """Load model and tokenizer. Raises `ConfigurationError` if a file or a package is missing, or does not fit."""
        missing = [name for name in (MODEL, TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise ConfigurationError(
                f"RECTO_RERANK_PATH names {folder}, which holds no {' and no '.join(missing)}: name the folder of a "
                "cross-encoder that was exported to ONNX (template parameters RerankPath and RerankLayer)."
            )
        self._numpy, self._runtime, tokenizers = map(_imported, PACKAGES)
        self._retry = Retry("rerank", attempts=1, guard=guard)
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
            self._session = self._runtime.InferenceSession(str(folder / MODEL), providers=["CPUExecutionProvider"])
        except Exception as error:  # the libraries raise bare exceptions of their own
            raise ConfigurationError(f"The cross-encoder in {folder} cannot be loaded: {error}") from error
        self._inputs = [each.name for each in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not INPUTS.issuperset(self._inputs):
            raise ConfigurationError(
                f"{folder / MODEL} is not a cross-encoder: it takes {', '.join(self._inputs)}, where only "
                f"{', '.join(sorted(INPUTS))} can be given."
            )
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        self._tokenizer.no_padding()

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score a text, 0 to 1, in their order; `timeout_s` bounds the whole. Raises `DependencyError`."""
        return self._retry.run(lambda left_s: self._scores(question, texts, left_s), timeout_s=timeout_s)

    def _scores(self, question: str, texts: Sequence[str], left_s: float) -> Sequence[float]:
        end = monotonic() + left_s
        try:
            pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        except Exception as error:  # a question that leaves no room for the passage
            raise DependencyRefused("rerank", "the tokenizer refused the question") from error
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at]))
        scores = [0.0] * len(pairs)
        for begin in range(0, len(order), BATCH_TEXTS):
            batch = order[begin : begin + BATCH_TEXTS]
            for at, score in zip(batch, self._batch([pairs[at] for at in batch], end - monotonic()), strict=True):
                scores[at] = score
        return scores

    def _batch(self, pairs: Sequence[Any], left_s: float) -> Sequence[float]:
        """Score some pairs; onnxruntime stops between two steps of the model once the time is over."""
        if left_s <= 0:
            raise DependencyTimeout("rerank", "the cross-encoder took too long.")
        options = self._runtime.RunOptions()
        timer = Timer(left_s, lambda: setattr(options, "terminate", True))
        timer.start()
        try:
            (logits, *_) = self._session.run(None, self._padded(pairs), options)
        except Exception as error:  # as above; a run that was told to stop fails like any other
            if options.terminate:
                raise DependencyTimeout("rerank", "the cross-encoder took too long.") from error
            raise DependencyRefused("rerank", "the cross-encoder failed on its input") from error
        finally:
            timer.cancel()
        return self._between_0_and_1(logits)

    def _padded(self, pairs: Sequence[Any]) -> dict[str, Any]:
        longest = max(len(pair) for pair in pairs)
        arrays = {name: self._numpy.zeros((len(pairs), longest), dtype="int64") for name in self._inputs}
        for row, pair in enumerate(pairs):
            values = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
            for name, array in arrays.items():
                array[row, : len(pair)] = values[name]
        return arrays

    def _between_0_and_1(self, logits: Any) -> Sequence[float]:
        """Return the probability of "relevant": of one logit by the logistic function, of two by softmax."""
        if logits.ndim != 2 or logits.shape[1] not in (1, 2) or not self._numpy.isfinite(logits).all():
            raise DependencyRefused("rerank", f"{MODEL} gives no scores: set RECTO_RERANK_PATH to a cross-encoder")
        apart = logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0)
        clipped = self._numpy.clip(apart.astype("float64"), -FARTHEST_LOGIT, FARTHEST_LOGIT)
        return [float(score) for score in 1.0 / (1.0 + self._numpy.exp(-clipped))]


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"RECTO_RERANK_PATH needs {', '.join(PACKAGES)}; {name} is not installed. On AWS, add a layer that holds "
            "them (template parameter RerankLayer); on a laptop, run `uv sync --group local`."
        ) from error
