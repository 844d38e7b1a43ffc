"""A cross-encoder small enough to build in a test: it counts how many of the first text's words the second holds.

It has the inputs and the output of the real ones (BERT's, exported to ONNX), and weights of its own: none.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def cross_encoder_in(folder: Path, words: Iterable[str], *, logits: int = 1, inputs: tuple[str, ...] = ()) -> Path:
    """Write `model.onnx` and `tokenizer.json`, which knows these words; return the folder.

    A pair's logit is 8 x (share of the question's words that the passage holds) - 4; of two `logits` the first is 0.
    """
    _write_tokenizer(folder, words)
    outputs = [*["nothing"] * (logits - 1), "relevant"]
    onnx.save(_model(outputs, inputs or INPUTS), folder / "model.onnx")
    return folder


def entailment_model_in(folder: Path, words: Iterable[str], labels: Sequence[str]) -> Path:
    """Write `model.onnx`, `tokenizer.json` and `config.json`, which names the outputs so; return the folder.

    Entailment has the logit 8 x (share of the second text's words that the first holds) - 4, contradiction and
    "not_entailment" its opposite, "neutral" 0.
    """
    _write_tokenizer(folder, words)
    logits = {"entailment": "relevant", "neutral": "nothing"}
    outputs = [logits.get(label.lower(), "opposed") for label in labels]
    onnx.save(_model(outputs, INPUTS, asked="one", told="zero"), folder / "model.onnx")
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    return folder


def _write_tokenizer(folder: Path, words: Iterable[str]) -> None:
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


def _model(
    outputs: Sequence[str], inputs: tuple[str, ...], *, asked: str = "zero", told: str = "one"
) -> onnx.ModelProto:
    constants = {"three": 3, "zero": 0, "one": 1}
    floats = {"eight": 8.0, "four": 4.0, "little": 1e-6}
    nodes = [
        helper.make_node("Greater", ["input_ids", "three"], ["word"]),  # neither padding nor unknown nor a mark
        helper.make_node("Equal", ["token_type_ids", asked], ["first"]),
        helper.make_node("Equal", ["token_type_ids", told], ["second"]),
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
        helper.make_node("Neg", ["relevant"], ["opposed"]),
        helper.make_node("Concat", list(outputs), ["logits"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(outputs)])],
        [helper.make_tensor(name, TensorProto.INT64, [], [value]) for name, value in constants.items()]
        + [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in floats.items()]
        + [helper.make_tensor(f"axis{axis}", TensorProto.INT64, [1], [axis]) for axis in (1, 2)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
