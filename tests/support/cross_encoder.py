"""A cross-encoder small enough to build in a test: it counts how many of the question's words the passage holds.

It has the inputs and the output of the real ones (BERT's, exported to ONNX), and weights of its own: none.
"""

from collections.abc import Iterable
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def cross_encoder_in(folder: Path, words: Iterable[str], *, logits: int = 1, inputs: tuple[str, ...] = ()) -> Path:
    """Write `model.onnx` and `tokenizer.json`, which knows these words; return the folder.

    A pair's logit is 8 x (share of the question's words that the passage holds) - 4; of two `logits` the first is 0.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()  # type: ignore[assignment]
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    tokenizer.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    onnx.save(_model(logits, inputs or ("input_ids", "attention_mask", "token_type_ids")), folder / "model.onnx")
    return folder


def _model(logits: int, inputs: tuple[str, ...]) -> onnx.ModelProto:
    constants = {"three": 3, "zero": 0, "one": 1}
    floats = {"eight": 8.0, "four": 4.0, "little": 1e-6}
    nodes = [
        helper.make_node("Greater", ["input_ids", "three"], ["word"]),  # neither padding nor unknown nor a mark
        helper.make_node("Equal", ["token_type_ids", "zero"], ["first"]),
        helper.make_node("Equal", ["token_type_ids", "one"], ["second"]),
        helper.make_node("And", ["word", "first"], ["asked"]),
        helper.make_node("And", ["word", "second"], ["told"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis2"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis1"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["alike"]),
        helper.make_node("Unsqueeze", ["told", "axis1"], ["told_across"]),
        helper.make_node("And", ["alike", "told_across"], ["met"]),
        helper.make_node("Cast", ["met"], ["met_float"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["met_float", "axis2"], ["held"], keepdims=0),
        helper.make_node("Cast", ["asked"], ["asked_float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["held", "asked_float"], ["held_asked"]),
        helper.make_node("ReduceSum", ["held_asked", "axis1"], ["found"], keepdims=1),
        helper.make_node("ReduceSum", ["asked_float", "axis1"], ["all"], keepdims=1),
        helper.make_node("Add", ["all", "little"], ["some"]),
        helper.make_node("Div", ["found", "some"], ["share"]),
        helper.make_node("Mul", ["share", "eight"], ["scaled"]),
        helper.make_node("Sub", ["scaled", "four"], ["relevant"]),
        helper.make_node("Sub", ["relevant", "relevant"], ["nothing"]),
        helper.make_node("Concat", [*["nothing"] * (logits - 1), "relevant"], ["logits"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", logits])],
        [helper.make_tensor(name, TensorProto.INT64, [], [value]) for name, value in constants.items()]
        + [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in floats.items()]
        + [helper.make_tensor(f"axis{axis}", TensorProto.INT64, [1], [axis]) for axis in (1, 2)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
