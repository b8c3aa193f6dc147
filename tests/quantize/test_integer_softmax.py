# SPDX-License-Identifier: Apache-2.0
"""Softmax in integers: near the real value, with masks of keys, and the same integers when the .onnx is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import integer_softmax
from mcugen.ops.integer_softmax import IntegerSoftmax
from mcugen.oracle import interpreter
from mcugen.quantize import quantize_model
from tests.formats.onnx_models import Writer, write

_SHAPE = (1, 3, 6, 6)
_CAUSAL = np.tril(np.ones((6, 6), bool))
_HOLES = np.random.default_rng(5).integers(0, 2, (1, 1, 6, 6)).astype(bool)
_HOLES[0, 0, 2] = False
_ONE_LEFT = _HOLES.copy()
_ONE_LEFT[0, 0, 2, 1] = True
_LEAST = float(np.finfo(np.float32).min)
_PADDED = np.broadcast_to(np.arange(6) < 4, (1, 1, 1, 6))
Make = Callable[[Writer, str], str]


def _added(keys: np.ndarray, hidden: float) -> Make:
    return lambda w, x: w.node("Add", [x, w.constant(np.where(keys, np.float32(0), np.float32(hidden)))])


def _chosen(keys: np.ndarray, hidden: float) -> Make:
    return lambda w, x: w.node("Where", [w.constant(keys), x, w.constant(np.float32(hidden))])


def _hidden(keys: np.ndarray, hidden: float) -> Make:
    return lambda w, x: w.node("Where", [w.constant(~keys), w.constant(np.float32(hidden)), x])


def _twice(w: Writer, x: str) -> str:
    scaled = w.node("Mul", [_added(_CAUSAL, -np.inf)(w, x), w.constant(np.float32(0.5))])
    return _chosen(_PADDED, -np.inf)(w, w.node("Mul", [scaled, w.constant(np.float32(0.5))]))


_MASKS: dict[str, tuple[Make, np.ndarray | None, int, float]] = {
    "none": (lambda w, x: x, None, 1, 1.0),
    "scaled": (lambda w, x: w.node("Div", [x, w.constant(np.float32(4))]), None, 1, 0.25),
    "causal": (_added(_CAUSAL, -np.inf), _CAUSAL, 6, 1.0),
    "causal, -1e4": (_added(_CAUSAL[None], -1e4), _CAUSAL, 6, 1.0),
    "holes": (_chosen(_HOLES, -np.inf), _HOLES, 6, 1.0),
    "holes, least float": (_hidden(_ONE_LEFT, _LEAST), _ONE_LEFT, 6, 1.0),
    "padded": (_added(_PADDED, -np.inf), _PADDED, 1, 1.0),
    "both": (_twice, _CAUSAL & _PADDED, 6, 0.25),
}
"""Nodes before the softmax; the keys, how many rows of them are kept, and the factor."""


def _quantized(folder: Path, make: Make, file_format: str = "onnx") -> quantize_model.Quantized:
    w = Writer(17)
    y = w.node("Softmax", [make(w, w.input(_SHAPE))], axis=-1)
    values = np.random.default_rng(1).normal(0, 2, (8, *_SHAPE)).astype(np.float32)
    np.savez(folder / "calib.npz", input0=values)
    choices = quantize_model.QuantizeOptions(method="min-max", file_format=file_format)
    return quantize_model.quantize(write(w.model(y), folder), folder / "calib.npz", choices)


@pytest.mark.parametrize("name", _MASKS)
def test_masks_and_factors_are_part_of_the_softmax(name: str, tmp_path: Path) -> None:
    make, keys, rows, beta = _MASKS[name]
    found = _quantized(tmp_path, make)
    (node,) = found.graph.nodes
    assert node.op == IntegerSoftmax(beta)
    (tmp_path / "net.int8.onnx").write_bytes(found.written("onnx"))
    graph = read.load(tmp_path / "net.int8.onnx", registry.load(()))
    (again,) = [n for n in graph.nodes if isinstance(n.op, IntegerSoftmax)]
    assert again.op == node.op
    assert len(integer_softmax.mask_rows(graph.call(again, "ort"))) == rows
    x = np.random.default_rng(2).integers(-128, 128, _SHAPE).astype(np.int8)
    wanted = interpreter.run(found.graph, [x], "tflm")[found.graph.outputs[0]]
    np.testing.assert_array_equal(interpreter.run(graph, [x], "ort")[graph.outputs[0]], wanted)
    if keys is not None:
        assert (wanted[~np.broadcast_to(keys, _SHAPE)] == -128).all()
        assert (wanted[np.broadcast_to(keys, _SHAPE)] > -128).any()


@pytest.mark.parametrize("before", [_added(_CAUSAL, -3.0), lambda w, x: w.node("Mul", [x, w.constant(np.float32(-1))])])
def test_finite_addends_and_negative_factors_are_not_masks(before: Make, tmp_path: Path) -> None:
    found = _quantized(tmp_path, before)
    assert len(found.graph.nodes) == 2
    assert found.graph.nodes[-1].op == IntegerSoftmax()


def test_a_tflite_with_a_mask_asks_for_onnx(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no softmax with a mask") as caught:
        _quantized(tmp_path, lambda w, x: _MASKS["causal"][0](w, w.node("MatMul", [x, w.weights(6, 6)])), "tflite")
    assert caught.value.hint.startswith("write an .onnx")


def test_a_file_that_does_not_state_the_integers_keeps_its_own(tmp_path: Path) -> None:
    """Without the text, Softmax between DequantizeLinear and QuantizeLinear is the table of floats, as ever."""
    data = _quantized(tmp_path, _MASKS["none"][0]).written("onnx")
    steps = integer_softmax.STEPS.encode()
    (tmp_path / "other.onnx").write_bytes(data.replace(steps, b"x" * len(steps)))
    graph = read.load(tmp_path / "other.onnx", registry.load(()))
    assert "TableSoftmax" in [type(node.op).__name__ for node in graph.nodes]


@pytest.mark.parametrize(("classes", "scale"), [(2, 0.05), (49, 0.02), (49, 0.3), (300, 0.004), (1000, 0.1)])
def test_results_are_the_real_ones_rounded_once(classes: int, scale: float) -> None:
    count = 200_000 // classes
    x = np.random.default_rng(classes).integers(-128, 128, (count, classes)).astype(np.int8)
    t = TensorType(x.shape, "s8", QuantParams((scale,), (0,)))
    op = IntegerSoftmax()
    call = Call(op, (t,), (TensorType(x.shape, "s8", integer_softmax.RESULT["s8"]),), (None,), "ort")
    real = op.reference(x.astype(np.float64) * np.float32(scale)) * 256
    differs = op.reference_q(call, x).astype(np.int64) - (np.minimum(np.rint(real), 255) - 128).astype(np.int64)
    assert np.abs(differs).max() <= 1
    assert np.count_nonzero(differs) <= 2


def test_rows_that_are_flat_hot_or_empty() -> None:
    t, y = TensorType((4, 5), "s8", QuantParams((0.1,), (7,))), integer_softmax.RESULT["s8"]
    keys = np.array([[1] * 5, [1] * 5, [0] * 5, [0, 0, 0, 1, 0]], bool)
    types = (t, TensorType(keys.shape, "bool"))
    call = Call(IntegerSoftmax(), types, (TensorType((4, 5), "s8", y),), (None, keys), "ort")
    x = np.array([[9] * 5, [-128, 127, -128, -128, -128], [3] * 5, [127, 0, 1, -128, 5]], np.int8)
    found = call.op.reference_q(call, x, keys).astype(int) + 128
    np.testing.assert_array_equal(found, [[51] * 5, [0, 255, 0, 0, 0], [0] * 5, [0, 0, 0, 255, 0]])
