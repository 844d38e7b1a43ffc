"""all-MiniLM-L6-v2 on onnxruntime: texts become windows of tokens, windows become vectors.

A text of up to 254 tokens is one window, and its vector is that of sentence-transformers. A longer one is split into
windows of about the same length, cut after a sentence or at least between words; its vector is the mean over the
tokens of all its windows. Nothing of a text is ignored.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from local.openai.build_graph import HIDDEN

WINDOW_TOKENS = 256  # sentence_bert_config.json: max_seq_length, [CLS] and [SEP] included
_ROOM = WINDOW_TOKENS - 2
_LOOK_BACK = 40  # tokens a cut may move forward in the text's favour; a sixth of a window

Window = list[int]
Vectors = npt.NDArray[np.float32]


class MiniLM:
    """The model and its tokenizer; `means` may be called by several threads at once."""

    def __init__(self, model_dir: Path, graph: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
        self._tokenizer.no_truncation()  # the file asks for 128 tokens
        self._tokenizer.no_padding()
        vocabulary = self._tokenizer.get_vocab()
        self._cls, self._sep = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._continues = frozenset(number for token, number in vocabulary.items() if token.startswith("##"))
        self._ends = frozenset(vocabulary[mark] for mark in ".!?。" if mark in vocabulary)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # parallel over windows (see engine.py), not inside one product
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(graph),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # the fused operator costs a quarter of the whole
        )

    def windows(self, texts: Sequence[str]) -> list[list[Window]]:
        """Return each text's windows of token ids, [CLS] and [SEP] included; at least one a text."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [[[self._cls, *part, self._sep] for part in self.split(encoding.ids)] for encoding in encodings]

    def split(self, ids: Sequence[int]) -> list[Sequence[int]]:
        """Cut token ids into as few parts of at most 254 as possible, about equally long."""
        parts = []
        start = 0
        while (left := len(ids) - start) > _ROOM:
            even = -(-left // -(-left // _ROOM))
            end = self._cut(ids, start, start + even)
            parts.append(ids[start:end])
            start = end
        parts.append(ids[start:])
        return parts

    def _cut(self, ids: Sequence[int], start: int, end: int) -> int:
        earliest = max(start + 1, end - _LOOK_BACK)
        for position in range(end, earliest, -1):
            if ids[position - 1] in self._ends and ids[position] not in self._continues:
                return position
        for position in range(end, earliest, -1):
            if ids[position] not in self._continues:
                return position
        return end

    def means(self, windows: Sequence[Window]) -> Vectors:
        """Return the mean over each window's tokens, shape (windows, 384), not of unit length."""
        longest = max(map(len, windows))
        ids = np.zeros((len(windows), longest), np.int64)
        mask = np.zeros((len(windows), longest), np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        means: Vectors = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return means


def pool(means: Vectors, token_counts: Sequence[int]) -> Vectors:
    """Return the unit vector of one text from its windows' means, each weighing as many as it has tokens."""
    mean = np.average(means, axis=0, weights=token_counts)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def resize(vectors: Vectors, dimensions: int) -> Vectors:
    """Return unit vectors of `dimensions`: longer by zeros (same cosines), shorter by cutting and renormalising."""
    if dimensions >= HIDDEN:
        return np.pad(vectors, ((0, 0), (0, dimensions - HIDDEN)))
    cut = vectors[:, :dimensions]
    return np.asarray(cut / np.maximum(np.linalg.norm(cut, axis=1, keepdims=True), 1e-12), np.float32)
