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

from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.call import Call
from mcugen.ir.op import Example, evaluate
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn
from mcugen.quantize import quantize_model, walk
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.recipe import Widths
from mcugen.quantize.solve import REQUANTIZE_PREFIX
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


def byte(v: int) -> int:
    return min((v + 128) >> 8, 127)


def limited(call: Call, total: int, steps: int) -> int:
    """A sum within the clip."""
    bound = math.floor(call.op.clip * 2**steps + 0.5)
    return min(max(total, -min(bound, 32768)), min(bound, 32767))


def steps_of(call: Call, least: int = 3) -> int:
    return 15 - max(least, math.ceil(math.log2(call.op.clip)))


def sums_of(call: Call, x: Ints, h: Ints, steps: int, more: int | None, read: Fraction) -> tuple[Ints, Ints]:
    """The sums of gates over the data and over the state. more: the operand with the biases of the state."""
    zero, data, bias = call.input(0).zero_point, Fraction(float(np.float32(call.input(0).scale))), call.constants[3]
    assert bias is not None
    second = 0 * bias if more is None else call.constants[more]
    assert second is not None
    g = gate_sums(call, 1, [v - zero for v in x], data, bias, steps)
    return g, gate_sums(call, 2, [byte(v) for v in h], read, second, steps)


def gru_step(call: Call, x: Ints, h: Ints) -> Ints:
    """One step of a GRU, written out unit by unit."""
    op, size, steps, more = call.op, len(h), steps_of(call), call.constants[4]
    assert more is not None
    g, s = sums_of(call, x, h, steps, 4, Fraction(1, 128))

    def of(function: Callable[[int], int], total: int) -> int:
        return function(3 * limited(call, total, steps) << (12 - steps))

    z = [of(sigmoid, g[k] + s[k]) for k in range(size)]
    r = [of(sigmoid, g[size + k] + s[size + k]) for k in range(size)]
    if op.after:
        added = [(r[k] * s[2 * size + k] + (1 << 14)) >> 15 for k in range(size)]
    else:
        met = [min((r[k] * h[k] + (1 << 22)) >> 23, 127) for k in range(size)]
        added = gate_sums(call, 2, met, Fraction(1, 128), more, steps)[2 * size :]
    n = [of(tanh, g[2 * size + k] + added[k]) for k in range(size)]
    return [n[k] + ((z[k] * (h[k] - n[k]) + (1 << 14)) >> 15) for k in range(size)]


def lstm_step(call: Call, x: Ints, h: Ints, c: Ints) -> tuple[Ints, Ints]:
    """One step of an LSTM, written out unit by unit."""
    size, steps = len(h), steps_of(call)
    g, s = sums_of(call, x, h, steps, None, Fraction(1, 128))
    m = -round(math.log2(call.input(5).scale))

    def of(function: Callable[[int], int], k: int) -> int:
        return function(3 * limited(call, g[k] + s[k], steps) << (12 - steps))

    cells, states = [], []
    for k in range(size):
        i, o, f, new = (of(tanh if j == 3 else sigmoid, j * size + k) for j in range(4))
        cells.append(saturated(nearest(Fraction(f * c[k], 2**15) + Fraction(i * new, 2 ** (30 - m)))))
        states.append(nearest(Fraction(o * tanh(nearest(Fraction(3 * cells[k] * 2**12, 2**m))), 2**15)))
    return states, cells


def rnn_step(call: Call, x: Ints, h: Ints) -> Ints:
    """One step of an RNN, written out unit by unit."""
    kind = call.op.activation
    steps = steps_of(call, 0 if kind == "Relu" else 3)
    g, s = sums_of(call, x, h, steps, None, Fraction(256, 2**steps) if kind == "Relu" else Fraction(1, 128))
    sums = [limited(call, a + b, steps) for a, b in zip(g, s, strict=True)]
    if kind == "Relu":
        return [max(v, 0) for v in sums]
    return [(tanh if kind == "Tanh" else sigmoid)(3 * v << (12 - steps)) for v in sums]


@pytest.mark.parametrize("index", range(len(IntegerLstm.examples())))
def test_an_lstm_on_integers_is_what_its_lines_say(index: int) -> None:
    call, operands = drawn(IntegerLstm.examples()[index])
    y, last, cell = evaluate(call, operands)
    h, c = operands[4].tolist(), operands[5].tolist()
    for row, results in zip(operands[0].tolist(), y.tolist(), strict=True):
        made = [lstm_step(call, v, state, cells) for v, state, cells in zip(row, h, c, strict=True)]
        h, c = [state for state, _ in made], [cells for _, cells in made]
        assert results == [[byte(v) for v in state] for state in h]
    assert (last.tolist(), cell.tolist()) == (h, c)


@pytest.mark.parametrize("index", range(len(IntegerRnn.examples())))
def test_an_rnn_on_integers_is_what_its_lines_say(index: int) -> None:
    call, operands = drawn(IntegerRnn.examples()[index])
    y, last = evaluate(call, operands)
    h = operands[4].tolist()
    for row, results in zip(operands[0].tolist(), y.tolist(), strict=True):
        h = [rnn_step(call, v, state) for v, state in zip(row, h, strict=True)]
        assert results == [[byte(v) for v in state] for state in h]
    assert last.tolist() == h


@pytest.mark.parametrize("index", range(len(IntegerGru.examples())))
def test_a_gru_on_integers_is_what_its_lines_say(index: int) -> None:
    call, operands = drawn(IntegerGru.examples()[index])
    y, last = evaluate(call, operands)
    x, h = operands[0], operands[5].tolist()
    for row, results in zip(x.tolist(), y.tolist(), strict=True):
        h = [gru_step(call, v, state) for v, state in zip(row, h, strict=True)]
        assert results == [[byte(v) for v in state] for state in h]
    assert last.tolist() == h


GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}


def layer(
    model: Writer, kind: str, x: str, inputs: int, reach: float = 1.0, start: float = 0.0, **attributes: object
) -> str:
    """A layer of 10 units over 12 steps; returns its results over all steps [12, 1, 10 for each direction].

    reach: factor of the weights; start: the initial state of each unit.
    """
    rng, hidden, gates = np.random.default_rng(7), 10, GATES[kind]
    ways = 2 if attributes.get("direction") == "bidirectional" else 1
    shapes = ((ways, gates * hidden, inputs), (ways, gates * hidden, hidden), (ways, 2 * gates * hidden))
    weights = [model.constant((reach * rng.normal(0, 0.5, s)).astype(np.float32)) for s in shapes]
    if start:
        weights += ["", model.constant(np.full((ways, 1, hidden), start, np.float32))]
    made = model.node(kind, [x, *weights], 3 if kind == "LSTM" else 2, hidden_size=hidden, **attributes)
    turned = model.node("Transpose", [made[0]], perm=[0, 2, 1, 3])
    found: str = model.node("Reshape", [turned, model.constant(np.array([12, 1, ways * hidden], np.int64))])
    return found


def network(path: Path, model: Writer, states: str, width: int) -> Path:
    """A dense layer on the mean of the states of all steps."""
    mean = model.node("ReduceMean", [states], axes=[0], keepdims=0)
    dense = model.constant(np.random.default_rng(8).normal(0, 0.5, (3, width)).astype(np.float32))
    path.write_bytes(model.model(model.node("Gemm", [mean, dense], transB=1)).SerializeToString())
    return path


def gru_network(path: Path, *, after: bool = True, reach: float = 1.0) -> Path:
    model = Writer(17)
    states = layer(model, "GRU", model.input((12, 1, 5)), 5, reach, linear_before_reset=int(after))
    return network(path, model, states, 10)


def sequences(path: Path, count: int) -> Path:
    np.savez(path, np.random.default_rng(count).normal(size=(count, 12, 1, 5)).astype(np.float32))
    return path


def quantized(folder: Path, model: Path, bits: int = 8) -> quantize_model.Quantized:
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", widths=Widths(bits))
    return quantize_model.quantize(model, sequences(folder / "calib.npz", 24), choices)


def stacked(model: Writer, x: str) -> tuple[str, int]:
    below = layer(model, "GRU", x, 5, linear_before_reset=1)
    return layer(model, "LSTM", below, 10), 10


def both_ways(model: Writer, x: str) -> tuple[str, int]:
    return layer(model, "GRU", x, 5, direction="bidirectional"), 20


NETWORKS: dict[str, Callable[[Writer, str], tuple[str, int]]] = {
    "gru_after": lambda model, x: (layer(model, "GRU", x, 5, linear_before_reset=1), 10),
    "gru_before": lambda model, x: (layer(model, "GRU", x, 5), 10),
    "gru_clip": lambda model, x: (layer(model, "GRU", x, 5, clip=1.5), 10),
    "lstm": lambda model, x: (layer(model, "LSTM", x, 5), 10),
    "rnn": lambda model, x: (layer(model, "RNN", x, 5), 10),
    "rnn_relu": lambda model, x: (layer(model, "RNN", x, 5, 0.5, activations=["Relu"]), 10),
    "backwards": lambda model, x: (layer(model, "LSTM", x, 5, direction="reverse"), 10),
    "both_ways": both_ways,
    "stacked": stacked,
}


@pytest.mark.parametrize(
    ("name", "bits", "least"),
    [*((name, 8, 22) for name in NETWORKS), ("gru_after", 4, 12), ("lstm", 4, 12), ("rnn", 4, 12)],
)
def test_a_written_layer_comes_back_with_the_same_integers(tmp_path: Path, name: str, bits: int, least: float) -> None:
    """least: dB against the float network."""
    model = Writer(17)
    result, width = NETWORKS[name](model, model.input((12, 1, 5)))
    found = quantized(tmp_path, network(tmp_path / "net.onnx", model, result, width), bits)
    assert not [t.label for t in found.graph.tensors.values() if t.type.is_float]
    assert not [node.name for node in found.graph.nodes if node.name.startswith(REQUANTIZE_PREFIX)]
    (tmp_path / "written.onnx").write_bytes(found.written("onnx"))
    again = read.load(tmp_path / "written.onnx", registry.load(()))
    made, back = ([n for n in g.nodes if isinstance(n.op, IntegerRecurrent)] for g in (found.graph, again))
    assert made and [node.op for node in made] == [node.op for node in back]
    assert all(again.type(str(name)).dtype == f"s{bits}" for node in back for name in node.inputs[1:3])
    test = np.random.default_rng(5).normal(size=(40, 12, 1, 5)).astype(np.float32)
    floats = FloatRun(found.floats.graph, "tflm", (test,))
    given = stored_inputs(found.graph, floats.given())
    (first,), (real,) = outputs_of(floats, found.graph), floats.outputs()
    pairs = ((found.graph, made), (again, back))
    inside = [replace(graph, outputs=tuple(node.outputs[0] for node in nodes)) for graph, nodes in pairs]
    states = [walk.outputs(graph, "ort", given) for graph in inside]
    assert all(np.array_equal(a, b) for a, b in zip(*states, strict=True))
    assert 10 * np.log10((real**2).sum() / ((first - real) ** 2).sum()) > least


@pytest.mark.parametrize(
    ("kind", "attributes"), [("GRU", {}), ("LSTM", {}), ("RNN", {}), ("RNN", {"activations": ["Relu"]})]
)
def test_initial_states_beyond_the_stored_range_are_refused(
    tmp_path: Path, kind: str, attributes: dict[str, list[str]]
) -> None:
    for start, message in ((3.0, "an initial state reaches 3, but states are stored from -1 to 1"), (0.9, "")):
        model = Writer(17)
        states = layer(model, kind, model.input((12, 1, 5)), 5, reach=0.05, start=start, **attributes)
        path = network(tmp_path / "net.onnx", model, states, 10)
        if message:
            with pytest.raises(UnsupportedError, match=message):
                quantized(tmp_path, path)
        else:
            assert quantized(tmp_path, path).samples == 24


def test_gates_that_reach_further_have_coarser_steps(tmp_path: Path) -> None:
    found = quantized(tmp_path, gru_network(tmp_path / "net.onnx", reach=6.0))
    (op,) = (node.op for node in found.graph.nodes if isinstance(node.op, IntegerGru))
    (reach,) = (r.sums for r in found.floats.reaches().values())
    assert op.clip >= 16 and reach < op.clip < 4 * reach
    said = f"the sums of its gates reach {reach:.3g} in the samples, in steps of 2^-{op.fraction_bits}; none saturates"
    assert [note for note in found.notes if said in note]
    test = np.random.default_rng(6).normal(size=(40, 12, 1, 5)).astype(np.float32)
    floats = FloatRun(found.floats.graph, "tflm", (test,))
    (near,), (real,) = outputs_of(floats, found.graph), floats.outputs()
    clipped = [replace(n, op=replace(n.op, clip=8.0)) if isinstance(n.op, IntegerGru) else n for n in found.graph.nodes]
    (far,) = outputs_of(floats, found.graph.updated(nodes=clipped))
    assert ((near - real) ** 2).sum() < ((far - real) ** 2).sum()


@pytest.mark.parametrize(("kind", "operator"), [("GRU", "Gru"), ("RNN", "Rnn")])
def test_a_budget_of_channels_names_the_layer_that_has_no_gradient(tmp_path: Path, kind: str, operator: str) -> None:
    model = Writer(17)
    dense = model.node("MatMul", [model.input((12, 1, 5)), model.weights(5, 5)])
    path = network(tmp_path / "net.onnx", model, layer(model, kind, dense, 5), 10)
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", macs="90%")
    with pytest.raises(UnsupportedError, match=rf"channels cannot be removed: .* {operator} \("):
        quantize_model.quantize(path, sequences(tmp_path / "calib.npz", 24), choices)
