"""Quantization of recurrent layers: types of states, steps of gates, and weights with a scale per row.

A layer is followed over all steps of all samples: what its gates reach decides on the steps of their sums, and what its
rows of weights read decides on their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _integer_recurrent
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.gru import Gru
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn
from mcugen.ops.lstm import Lstm
from mcugen.ops.rnn import Rnn
from mcugen.quantize import rounding
from mcugen.quantize.batch_axes import along
from mcugen.quantize.layers import Constant, Gathered
from mcugen.quantize.recipe import LEAST_SQUARES, Recipe

_ROOM = 1.25
"""Factor on the reach of gates: a longer sequence reaches further, and a coarser step costs little."""
_LEAST_CLIP = 8.0
_ALL = slice(None)
_BIAS_END, _BYTE = float(1 << 30), 8


@dataclass(frozen=True, eq=False)
class Trace:
    """A float layer on all steps of all samples.

    data, state: the sums of gates over the data and over the state, [rows, gates * H], with their biases
    read: pairs of (rows of the recurrent weights, the vectors that they are multiplied with, [rows, H])
    added: the rows whose sums over the data and over the state are added as they are
    cell: the largest magnitude of a cell, 0 if there is none
    """

    data: np.ndarray
    state: np.ndarray
    read: tuple[tuple[slice, np.ndarray], ...]
    added: slice
    cell: float = 0.0

    @property
    def reach(self) -> Reach:
        return Reach(max(float(np.abs(a).max()) for a in (self.data, self.state, self.data + self.state)), self.cell)


@dataclass(frozen=True)
class Reach:
    """The largest magnitudes of the sums of a layer's gates, and of its cell."""

    sums: float
    cell: float = 0.0


Operands = Sequence[np.ndarray]
"""Operands of a layer: the data and states joined to [steps, samples, n] and [samples, n], and its constants."""


@singledispatch
def traced(op: Op, operands: Operands, y: np.ndarray) -> Trace | None:
    """A float layer with the operands and results [steps, samples, H] of all samples; None for other operators."""
    return None


@singledispatch
def integer_form(op: Op, reach: Reach) -> IntegerRecurrent:
    """The integer operator of a float layer, with a bound for the sums of its gates."""
    raise NotImplementedError(f"{op} has no integer form")


@traced.register
def _trace_of_gru(op: Gru, operands: Operands, y: np.ndarray) -> Trace:
    x, w, r, b, a, h = (v.astype(np.float64) for v in operands)
    size = h.shape[-1]
    before = np.concatenate([h[None], y[:-1]]).reshape(-1, size)
    data, state = x.reshape(-1, x.shape[-1]) @ w.T + b, before @ r.T + a
    if op.after:
        return Trace(data, state, ((_ALL, before),), slice(0, 2 * size))
    gates, last = slice(0, 2 * size), slice(2 * size, None)
    met = before / (1.0 + np.exp(-(data + state)[:, size : 2 * size]))
    state[:, last] = met @ r[last].T + a[last]
    return Trace(data, state, ((gates, before), (last, met)), _ALL)


@traced.register
def _trace_of_lstm(op: Lstm, operands: Operands, y: np.ndarray) -> Trace:
    x, w, r, b, h, c = (v.astype(np.float64) for v in operands)
    before = np.concatenate([h[None], y[:-1]])
    data, state = x @ w.T + b, before @ r.T
    i, _, f, g = np.split(data + state, 4, axis=2)
    enter, keep, reached = np.tanh(g) / (1.0 + np.exp(-i)), 1.0 / (1.0 + np.exp(-f)), [np.abs(c).max()]
    for entered, kept in zip(enter, keep, strict=True):
        c = kept * c + entered
        reached.append(np.abs(c).max())
    rows = data.shape[-1]
    vectors = ((_ALL, before.reshape(-1, h.shape[-1])),)
    return Trace(data.reshape(-1, rows), state.reshape(-1, rows), vectors, _ALL, float(max(reached)))


@traced.register
def _trace_of_rnn(op: Rnn, operands: Operands, y: np.ndarray) -> Trace:
    x, w, r, b, h = (v.astype(np.float64) for v in operands)
    before = np.concatenate([h[None], y[:-1]]).reshape(-1, h.shape[-1])
    return Trace(x.reshape(-1, x.shape[-1]) @ w.T + b, before @ r.T, ((_ALL, before),), _ALL)


@integer_form.register
def _form_of_gru(op: Gru, reach: Reach) -> IntegerRecurrent:
    return IntegerGru(_clip(op.clip, reach), op.after)


@integer_form.register
def _form_of_lstm(op: Lstm, reach: Reach) -> IntegerRecurrent:
    return IntegerLstm(_clip(op.clip, reach))


@integer_form.register
def _form_of_rnn(op: Rnn, reach: Reach) -> IntegerRecurrent:
    return IntegerRnn(_clip(op.clip, reach, 2.0**-3 if op.activation == "Relu" else _LEAST_CLIP), op.activation)


def is_recurrent(node: Node) -> bool:
    """Whether a node is a float layer with a state that has an integer form."""
    return traced.dispatch(type(node.op)) is not traced.dispatch(object)


def trace_of(node: Node, operands: Sequence[np.ndarray], constant: Sequence[bool], y: np.ndarray) -> Trace | None:
    """The trace of a recurrent layer over all samples.

    operands: [samples, *shape], or the data if constant; y: its first result, [samples, steps, batches, H].
    """
    count, given = len(y), list[np.ndarray]()
    for k, (a, known) in enumerate(zip(operands, constant, strict=True)):
        is_state = known and k >= len(operands) - _states(node)
        each = np.broadcast_to(a, (count, *a.shape)) if is_state else a
        given.append(each if known and not is_state else along(each, 0 if k else 1))
    return traced(node.op, given, along(y, 1))


def initial_state(node: Node) -> str:
    """The operand of a recurrent layer that is its state before the first step."""
    return str(node.inputs[len(node.inputs) - _states(node)])


def _states(node: Node) -> int:
    return len(node.outputs) - 1


def _clip(own: float, reach: Reach, least: float = _LEAST_CLIP) -> float:
    """The bound of the sums of gates: a power of two above what they reach, or the layer's own bound if it is less."""
    found = _power_above(_ROOM * reach.sums, least, _integer_recurrent.WIDEST_CLIP)
    return min(own or found, found)


def _power_above(reach: float, least: float, most: float) -> float:
    """The least power of two that a reach does not exceed, from `least` to `most`."""
    wanted = min(max(reach, least), most)
    return float(2.0 ** math.ceil(math.log2(wanted)))


def state_types(node: Node, graph: Graph, reach: Reach) -> Mapping[str, TensorType]:
    """The types of a layer's results, and of its states before the first step if these are computed."""
    form = integer_form(node.op, reach)
    cell = QuantParams((_power_above(_ROOM * reach.cell, 1.0, 2.0**14) / 2.0**15,), (0,))
    y, *states = node.outputs
    found = {y: TensorType(graph.type(y).shape, "s8", form.read_quant)}
    for names in (states, node.inputs[-len(states) :]):
        for name, quant in zip(names, (form.state_quant, cell), strict=False):
            if name is not None and graph.tensors[name].data is None:
                found[name] = TensorType(graph.type(name).shape, "s16", quant)
    return found


def constants_of(
    graph: Graph,
    node: Node,
    types: tuple[TensorType, TensorType],
    met: np.ndarray,
    trace: Trace | None,
    recipe: Recipe,
    bits: int,
) -> dict[int, Constant]:
    """Weights of `bits` bits and biases as integers, by operand. types: of the data, and of the state that products
    read; met: the data as integers, [samples, *shape]; trace: None if weights are not fitted to the samples.
    """
    x, y = types
    w, r, *biases = (np.asarray(graph.tensors[str(n)].data, np.float64) for n in node.inputs[1 : -_states(node)])
    rows = (met.reshape(-1, met.shape[-1]).astype(np.float64) - x.zero_point) * x.scale
    whole = ((_ALL, rows),)
    w_type, w_steps, shift = _rounded(w, whole if trace else (), recipe, bits)
    if trace and recipe.rounding == LEAST_SQUARES:
        r = _compensating(r, w - w_steps * np.array(w_type.quant.scale if w_type.quant else 1.0)[:, None], rows, trace)
    r_type, r_steps, state_shift = _rounded(r, trace.read if trace else (), recipe, bits)
    second = len(biases) > 1
    shifts = (shift if second else shift + state_shift, state_shift)
    found: dict[int, Constant] = {1: (w_type, w_steps), 2: (r_type, r_steps)}
    scales = (x.scale, y.scale)
    for k, (b, more) in enumerate(zip(biases, shifts, strict=False)):
        found[3 + k] = _bias(b + more, scales[k], (w_type, r_type)[k])
    return found


def _compensating(r: np.ndarray, error: np.ndarray, rows: np.ndarray, trace: Trace) -> np.ndarray:
    """Weights of the state that make up for the rounding errors of the weights of the data, as far as data and state
    go together. error: of the weights of the data; rows: the data [rows, n].
    """
    found, order = r.copy(), np.arange(len(r))[trace.added]
    for which, vectors in trace.read:
        mine = np.intersect1d(order, np.arange(len(r))[which])
        if mine.size:
            x, h = rows - rows.mean(axis=0), vectors - vectors.mean(axis=0)
            power = h.T @ h / len(h)
            ridge = rounding.damped(power[None])[0] * np.eye(len(power))
            found[mine] += error[mine] @ np.linalg.solve(power + ridge, h.T @ x / len(h)).T
    return found


def _rounded(
    w: np.ndarray, read: Sequence[tuple[slice, np.ndarray]], recipe: Recipe, bits: int
) -> tuple[TensorType, np.ndarray, np.ndarray]:
    """(type, integers, what biases must add) of weights [rows, n]. read: see `Trace`; empty to round to the nearest."""
    integers, scales, shift = np.zeros(w.shape, np.int8), np.zeros(len(w)), np.zeros(len(w))
    fits = recipe.rounding == LEAST_SQUARES
    for which, vectors in read or ((_ALL, None),):
        part = w[which][None]
        moments = None if vectors is None else _moments(vectors)
        if moments is not None and fits:
            made = rounding.least_squares(part.copy(), moments, bits)
        else:
            made = rounding.nearest(part, rounding.scales(part, bits), bits)
        if moments is not None and (recipe.bias or fits):
            shift[which] = (part[0] - made.real[0]) @ moments.x[0]
        integers[which], scales[which] = made.integers[0], made.scales[0]
    quant = QuantParams(tuple(float(s) for s in scales), (0,) * len(w))
    return TensorType(w.shape, "s8" if bits == _BYTE else "s4", quant), integers, shift


def _moments(vectors: np.ndarray) -> rounding.Moments:
    """The moments of vectors [rows, n] that a row of weights reads."""
    sums = Gathered((1, 1, vectors.shape[1]), True, False)
    sums.add(vectors[None], np.zeros((1, len(vectors), 1)))
    return sums.moments()


def _bias(b: np.ndarray, scale: float, w: TensorType) -> Constant:
    """A bias in steps of the products of the scales."""
    assert w.quant is not None
    steps = np.float32(scale) * np.array(w.quant.scale, np.float32)
    quant = QuantParams(tuple(float(s) for s in steps), (0,) * steps.size)
    data = np.clip(np.rint(b / steps.astype(np.float64)), -_BIAS_END, _BIAS_END).astype(np.int32)
    return TensorType(b.shape, "s32", quant), data


def notes_of(graph: Graph, reaches: Mapping[str, Reach]) -> tuple[str, ...]:
    """A note on each recurrent layer of an integer network: the steps of its gates' sums, and whether any saturates."""
    found = []
    for node in graph.nodes:
        if isinstance(node.op, IntegerRecurrent) and node.name in reaches:
            label, reach = graph.tensors[node.outputs[0]].label or node.name, reaches[node.name].sums
            ends = "none saturates" if reach < node.op.clip else f"those beyond {node.op.clip:g} saturate"
            steps = f"in steps of 2^-{node.op.fraction_bits}"
            found.append(f"{label}: the sums of its gates reach {reach:.3g} in the samples, {steps}; {ends}")
    return tuple(found)


def with_states(
    graph: Graph, shares: Mapping[str, bool], reaches: Mapping[str, Reach]
) -> dict[str, TensorType]:
    """The types of all tensors that recurrent layers decide on: their results and states, also after data movement.

    shares: node -> whether its operands and results share one scale. reaches: of the recurrent layers.
    """
    found: dict[str, TensorType] = {}
    for node in graph.nodes:
        if is_recurrent(node):
            found |= state_types(node, graph, reaches[node.name])
    if not found:
        return found
    for nodes, forwards in ((graph.nodes, True), (reversed(graph.nodes), False)):
        for node in nodes:
            if shares[node.name]:
                _pass_on(graph, node, found, forwards)
    return found


def _pass_on(graph: Graph, node: Node, found: dict[str, TensorType], forwards: bool) -> None:
    """Give the operands and results on the other side of a data movement the type that those on one side have."""
    floats = [str(n) for n in node.inputs if n is not None and graph.type(n).is_float]
    computed = [n for n in floats if graph.tensors[n].data is None]
    known, others = (computed, node.outputs) if forwards else (node.outputs, computed)
    types = {replace(found[n], shape=()) if n in found else None for n in known}
    if len(types) == 1 and None not in types:
        (t,) = types
        assert t is not None
        for name in others:
            found.setdefault(name, t.with_shape(graph.type(name).shape))
