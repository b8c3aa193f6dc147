# SPDX-License-Identifier: Apache-2.0
"""Attributes of ONNX operators that have no meaning beside the others are ignored, as ONNX Runtime ignores them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from tests.formats.onnx_models import Writer, write

Layer = Callable[[Writer, Mapping[str, Any]], str]


def resize(mode: str, **used: Any) -> Layer:
    """An image twice as large, at the coordinates that PyTorch's exporters state."""

    def layer(w: Writer, a: Mapping[str, Any]) -> str:
        scales = w.constant(np.float32([1, 1, 2, 2]))
        places = {"coordinate_transformation_mode": "pytorch_half_pixel", **used}
        return str(w.node("Resize", [w.input([1, 2, 3, 3]), "", scales], mode=mode, **places, **a))

    return layer


def pad(mode: str) -> Layer:
    return lambda w, a: str(w.node("Pad", [w.input([2, 4])], mode=mode, pads=[0, 1, 0, 1], **a))


def gemm(w: Writer, a: Mapping[str, Any]) -> str:
    return str(w.node("Gemm", [w.input([2, 4]), w.weights(4, 3)], **a))


def reduce(kind: str) -> Layer:
    return lambda w, a: str(w.node(kind, [w.input([2, 4]), w.constant(np.array([1]))], **a))


_CELLS = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The gates of each recurrent layer."""


def recurrent(kind: str, gates: int) -> Layer:
    def layer(w: Writer, a: Mapping[str, Any]) -> str:
        given = [w.input([3, 1, 2]), w.weights(1, gates * 2, 2), w.weights(1, gates * 2, 2)]
        return str(w.node(kind, given, results=2, hidden_size=2, **a)[0])

    return layer


def quantized(kind: str) -> Layer:
    def layer(w: Writer, a: Mapping[str, Any]) -> str:
        ends = [w.constant(np.float32(0.5)), w.constant(np.int8(3))]
        stated = [{}, {}]
        stated[kind == "DequantizeLinear"] = dict(a)
        steps = w.node("QuantizeLinear", [w.input([2, 4]), *ends], **stated[0])
        return str(w.node("DequantizeLinear", [steps, *ends], **stated[1]))

    return layer


_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL1", "ReduceProd", "ReduceLogSumExp")
CASES: Mapping[str, tuple[Layer, int, Mapping[str, Any]]] = {
    "nearest": (resize("nearest", nearest_mode="floor"), 13, {"cubic_coeff_a": -0.75}),
    "linear": (resize("linear"), 13, {"cubic_coeff_a": -0.75, "nearest_mode": "floor"}),
    "cubic": (resize("cubic", cubic_coeff_a=-0.75), 13, {"nearest_mode": "floor"}),
    **{f"outside {k}": (resize(k), 19, {"extrapolation_value": 2.0}) for k in ("nearest", "linear", "cubic")},
    **{f"Pad {k}": (pad(k), 9, {"value": 0.5}) for k in ("edge", "reflect")},
    "Gemm": (gemm, 13, {"beta": 0.5}),
    **{k: (reduce(k), 18, {"noop_with_empty_axes": 1}) for k in _REDUCTIONS},
    **{k: (recurrent(k, n), 14, {"activation_alpha": [0.5], "activation_beta": [0.5]}) for k, n in _CELLS.items()},
    "QuantizeLinear": (quantized("QuantizeLinear"), 25, {"precision": 1}),
    "DequantizeLinear": (quantized("DequantizeLinear"), 23, {"output_dtype": 1}),
}
"""A layer, the version of the operators, and attributes that change nothing of it."""


def known(layer: Layer, opset: int, attributes: Mapping[str, Any], folder: Path) -> list[Any]:
    """The operators that a layer becomes, and the data of their constants."""
    w = Writer(opset)
    graph = read.load(write(w.model(layer(w, attributes)), folder), registry.load())
    data = [None if t.data is None else t.data.tobytes() for t in graph.tensors.values()]
    return [[node.op for node in graph.nodes], data]


@pytest.mark.parametrize("name", CASES)
def test_what_has_no_meaning_changes_nothing(name: str, tmp_path: Path) -> None:
    layer, opset, stated = CASES[name]
    assert known(layer, opset, stated, tmp_path) == known(layer, opset, {}, tmp_path)


@pytest.mark.parametrize(
    ("layer", "stated"),
    [
        (resize("nearest"), {"antialias": 1}),
        (quantized("QuantizeLinear"), {"precision": 10}),
    ],
)
def test_what_has_a_meaning_is_refused_by_name(layer: Layer, stated: Mapping[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=next(iter(stated))):
        known(layer, 25, stated, tmp_path)


@pytest.mark.parametrize("axes", [None, []])
@pytest.mark.parametrize(
    "kind", ["ReduceSum", "ReduceMax", "ReduceL2", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp"]
)
def test_reductions_over_no_axis_leave_each_element_by_itself(
    kind: str, axes: list[int] | None, tmp_path: Path
) -> None:
    """The shape stays, and the functions around the sum are applied, as ONNX Runtime does."""
    w = Writer(opset=20)
    operands = [w.input([2, 3]), *([] if axes is None else [w.constant(np.array(axes, np.int64))])]
    model = w.model(w.node(kind, operands, noop_with_empty_axes=1))
    graph = read.load(write(model, tmp_path), registry.load())
    x = np.linspace(0.5, 2.0, 6, dtype=np.float32).reshape(2, 3)
    (found,) = (interpreter.run(graph, [x], "ort")[name] for name in graph.outputs)
    assert np.allclose(found, np.log(x) if kind == "ReduceLogSum" else x, rtol=1e-6)
