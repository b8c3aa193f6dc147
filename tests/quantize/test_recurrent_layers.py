# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers on integers: the oracle against numbers written out, and networks from files to files."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mcugen.formats import read, registry
from mcugen.ir.call import Call
from mcugen.ir.op import Example, evaluate
from mcugen.ops.integer_gru import IntegerGru
from mcugen.quantize import quantize_model, walk
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.stored_integers import stored_inputs
from tests.formats.onnx_models import Writer

Ints = list[int]


def drawn(example: Example) -> tuple[Call, list[np.ndarray]]:
    """The call of an example, and random operands with values over their whole range."""
    rng, arrays = np.random.default_rng(example.seed + 100), list[np.ndarray]()
    for k, t in enumerate(example.inputs):
        assert t is not None
        given = example.constants.get(k)
        arrays.append(rng.integers(*t.limits, t.shape, t.np_dtype, endpoint=True) if given is None else given)
    constants = tuple(a if k in example.constants else None for k, a in enumerate(arrays))
    return Call(example.op, example.inputs, example.outputs, constants, "tflm"), arrays


def saturated(x: int, bits: int = 16) -> int:
    return min(max(x, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)


def nearest(x: Fraction) -> int:
    """x rounded, halves up."""
    return math.floor(x + Fraction(1, 2))


def sigmoid(x: int) -> int:
    """TensorFlow Lite's logistic for int16, of x / (3 * 4096)."""
    h, size = 1 / 24, abs(x)
    s = [1 / (1 + math.exp(-h * i)) for i in range(256)]
    table = [math.floor(65536 * (v - h * h * v * (1 - v) * (1 - 2 * v) / 16) + 0.5) for v in s[:255]] + [65535]
    at = size >> 9
    y = 0x7FFF << 10 if at >= 255 else (table[at] << 9) + (size & 511) * (table[at + 1] - table[at])
    return (y + 512) >> 10 if x >= 0 else ((1 << 25) - y + 511) >> 10


def tanh(x: int) -> int:
    h, size = 1 / 24, abs(x)
    s = [1 / (1 + math.exp(-h * i)) for i in range(256)]
    table = [math.floor(65536 * (v - h * h * v * (1 - v) * (1 - 2 * v) / 16) + 0.5) for v in s[:255]] + [65535]
    at = size >> 8
    y = 0xFFFF << 8 if at >= 255 else (table[at] << 8) + (size & 255) * (table[at + 1] - table[at])
    return (y - (1 << 23) + 128) >> 8 if x >= 0 else ((1 << 23) - y + 127) >> 8


def gate_sums(call: Call, k: int, vector: Ints, scale: Fraction, bias: np.ndarray, steps: int) -> Ints:
    """The sums of all rows of operand k over a vector, in `steps` fraction bits. Multipliers have 31 bits."""
    w = call.constants[k]
    assert w is not None
    quant, found = call.input(k).quant, []
    assert quant is not None
    for row, b, s in zip(w.tolist(), bias.tolist(), quant.scale, strict=True):
        real = scale * Fraction(float(np.float32(s))) * 2**steps
        bits = 31 - math.frexp(float(real))[1]
        mult = math.floor(real * 2**bits + Fraction(1, 2))
        total = sum(a * v for a, v in zip(row, vector, strict=True)) + b
        found.append(saturated(nearest(Fraction(total * mult, 2**bits))))
    return found


def gru_step(call: Call, x: Ints, h: Ints) -> Ints:
    """One step of a GRU, written out unit by unit."""
    op, size, data = call.op, len(h), Fraction(float(np.float32(call.input(0).scale)))
    whole = max(3, math.ceil(math.log2(op.clip)))
    steps, bound = 15 - whole, math.floor(op.clip * 2 ** (15 - whole) + 0.5)

    def of(function: Callable[[int], int], total: int) -> int:
        return function(3 * min(max(total, -min(bound, 32768)), min(bound, 32767)) << (12 - steps))

    def byte(v: int) -> int:
        return min((v + 128) >> 8, 127)

    zero, bias, more = call.input(0).zero_point, call.constants[3], call.constants[4]
    assert bias is not None and more is not None
    g = gate_sums(call, 1, [v - zero for v in x], data, bias, steps)
    read = [byte(v) for v in h]
    s = gate_sums(call, 2, read, Fraction(1, 128), more, steps)
    z = [of(sigmoid, g[k] + s[k]) for k in range(size)]
    r = [of(sigmoid, g[size + k] + s[size + k]) for k in range(size)]
    if op.after:
        added = [(r[k] * s[2 * size + k] + (1 << 14)) >> 15 for k in range(size)]
    else:
        met = [min((r[k] * h[k] + (1 << 22)) >> 23, 127) for k in range(size)]
        added = gate_sums(call, 2, met, Fraction(1, 128), more, steps)[2 * size :]
    n = [of(tanh, g[2 * size + k] + added[k]) for k in range(size)]
    return [n[k] + ((z[k] * (h[k] - n[k]) + (1 << 14)) >> 15) for k in range(size)]


@pytest.mark.parametrize("index", range(len(IntegerGru.examples())))
def test_a_gru_on_integers_is_what_its_lines_say(index: int) -> None:
    call, operands = drawn(IntegerGru.examples()[index])
    y, last = evaluate(call, operands)
    x, h = operands[0], operands[5].tolist()
    for row, results in zip(x.tolist(), y.tolist(), strict=True):
        h = [gru_step(call, v, state) for v, state in zip(row, h, strict=True)]
        assert results == [[min((v + 128) >> 8, 127) for v in state] for state in h]
    assert last.tolist() == h


def gru_network(path: Path, *, after: bool = True, reach: float = 1.0) -> Path:
    """A GRU over 12 steps of 5 values, and a dense layer on its last state. reach: factor on the weights."""
    rng, hidden, model = np.random.default_rng(7), 10, Writer(17)
    shapes = ((1, 3 * hidden, 5), (1, 3 * hidden, hidden), (1, 6 * hidden))
    weights = [model.constant((reach * rng.normal(0, 0.5, s)).astype(np.float32)) for s in shapes]
    given = [model.input((12, 1, 5)), *weights]
    _, last = model.node("GRU", given, 2, hidden_size=hidden, linear_before_reset=int(after))
    flat = model.node("Squeeze", [last, model.constant(np.array([0], np.int64))])
    dense = model.constant(rng.normal(0, 0.5, (3, hidden)).astype(np.float32))
    path.write_bytes(model.model(model.node("Gemm", [flat, dense], transB=1)).SerializeToString())
    return path


def sequences(path: Path, count: int) -> Path:
    np.savez(path, np.random.default_rng(count).normal(size=(count, 12, 1, 5)).astype(np.float32))
    return path


def quantized(folder: Path, model: Path) -> quantize_model.Quantized:
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx")
    return quantize_model.quantize(model, sequences(folder / "calib.npz", 24), choices)


@pytest.mark.parametrize("after", [True, False])
def test_a_written_gru_comes_back_with_the_same_integers(tmp_path: Path, after: bool) -> None:
    found = quantized(tmp_path, gru_network(tmp_path / "net.onnx", after=after))
    assert not [t.label for t in found.graph.tensors.values() if t.type.is_float]
    (tmp_path / "written.onnx").write_bytes(found.written("onnx"))
    again = read.load(tmp_path / "written.onnx", registry.load(()))
    assert [node.op for node in again.nodes if isinstance(node.op, IntegerGru)] == [IntegerGru(8.0, after)]
    test = np.random.default_rng(5).normal(size=(40, 12, 1, 5)).astype(np.float32)
    floats = FloatRun(found.floats.graph, "tflm", (test,))
    given = stored_inputs(found.graph, floats.given())
    (first,), (real,) = outputs_of(floats, found.graph), floats.outputs()
    (stored,), (second,) = walk.outputs(found.graph, "tflm", given), walk.outputs(again, "ort", given)
    assert np.array_equal(stored, second)
    assert 10 * np.log10((real**2).sum() / ((first - real) ** 2).sum()) > 28


def test_gates_that_reach_further_have_coarser_steps(tmp_path: Path) -> None:
    found = quantized(tmp_path, gru_network(tmp_path / "net.onnx", reach=6.0))
    (op,) = (node.op for node in found.graph.nodes if isinstance(node.op, IntegerGru))
    (reach,) = found.floats.reach().values()
    assert op.clip >= 16 and reach < op.clip < 4 * reach
    test = np.random.default_rng(6).normal(size=(40, 12, 1, 5)).astype(np.float32)
    floats = FloatRun(found.floats.graph, "tflm", (test,))
    (near,), (real,) = outputs_of(floats, found.graph), floats.outputs()
    clipped = [replace(n, op=replace(n.op, clip=8.0)) if isinstance(n.op, IntegerGru) else n for n in found.graph.nodes]
    (far,) = outputs_of(floats, found.graph.updated(nodes=clipped))
    assert ((near - real) ** 2).sum() < ((far - real) ** 2).sum()
