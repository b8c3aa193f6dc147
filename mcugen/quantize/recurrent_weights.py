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
from mcugen.ops.gru import Gru
from mcugen.ops.integer_gru import IntegerGru
from mcugen.quantize import rounding
from mcugen.quantize.batch_axes import along
from mcugen.quantize.layers import Constant, Gathered
from mcugen.quantize.recipe import LEAST_SQUARES, Recipe

_ROOM = 1.25
"""Factor on the reach of gates: a longer sequence reaches further, and a coarser step costs little."""
_LEAST_CLIP = 8.0
_BIAS_END = float(1 << 30)


@dataclass(frozen=True, eq=False)
class Trace:
    """A float layer on all steps of all samples.

    data, state: the sums of gates over the data and over the state, [rows, gates * H], with their biases
    read: pairs of (rows of the recurrent weights, the vectors that they are multiplied with, [rows, H])
    """

    data: np.ndarray
    state: np.ndarray
    read: tuple[tuple[slice, np.ndarray], ...]

    @property
    def reach(self) -> float:
        """The largest magnitude of any sum."""
        return max(float(np.abs(a).max()) for a in (self.data, self.state, self.data + self.state))


Operands = Sequence[np.ndarray]
"""Operands of a layer: the data and states joined to [steps, samples, n] and [samples, n], and its constants."""


@singledispatch
def traced(op: Op, operands: Operands, y: np.ndarray) -> Trace | None:
    """A float layer with the operands and results [steps, samples, H] of all samples; None for other operators."""
    return None


@singledispatch
def integer_form(op: Op, clip: float) -> Op:
    """The integer operator of a float layer, with a bound for the sums of its gates."""
    raise NotImplementedError(f"{op} has no integer form")


@traced.register
def _trace_of_gru(op: Gru, operands: Operands, y: np.ndarray) -> Trace:
    x, w, r, b, a, h = (v.astype(np.float64) for v in operands)
    size = h.shape[-1]
    before = np.concatenate([h[None], y[:-1]]).reshape(-1, size)
    data, state = x.reshape(-1, x.shape[-1]) @ w.T + b, before @ r.T + a
    if op.after:
        return Trace(data, state, ((slice(None), before),))
    gates, last = slice(0, 2 * size), slice(2 * size, None)
    met = before / (1.0 + np.exp(-(data + state)[:, size : 2 * size]))
    state[:, last] = met @ r[last].T + a[last]
    return Trace(data, state, ((gates, before), (last, met)))


@integer_form.register
def _form_of_gru(op: Gru, clip: float) -> Op:
    return IntegerGru(min(op.clip or clip, clip), op.after)


def is_recurrent(node: Node) -> bool:
    """Whether a node is a float layer with a state that has an integer form."""
    return traced.dispatch(type(node.op)) is not traced.dispatch(object)


def trace_of(node: Node, operands: Sequence[np.ndarray], constant: Sequence[bool], y: np.ndarray) -> Trace | None:
    """The trace of a recurrent layer over all samples.

    operands: [samples, *shape], or the data if constant; y: its first result, [samples, steps, batches, H]
    """
    count, given = len(y), list[np.ndarray]()
    for k, (a, known) in enumerate(zip(operands, constant, strict=True)):
        is_state = known and k >= len(operands) - _states(node)
        each = np.broadcast_to(a, (count, *a.shape)) if is_state else a
        given.append(each if known and not is_state else along(each, 0 if k else 1))
    return traced(node.op, given, along(y, 1))


def _states(node: Node) -> int:
    return len(node.outputs) - 1


def clip_for(reach: float) -> float:
    """The bound of the sums of gates: a power of two above what they reach, at least 8."""
    if not 0 < reach * _ROOM < _integer_recurrent.WIDEST_CLIP:
        return _LEAST_CLIP if reach <= 0 else _integer_recurrent.WIDEST_CLIP
    return max(_LEAST_CLIP, 2.0 ** math.ceil(math.log2(reach * _ROOM)))


def state_types(node: Node, graph: Graph) -> Mapping[str, TensorType]:
    """The types of a layer's results, and of its states before the first step if these are computed."""
    y, *states = node.outputs
    found = {y: TensorType(graph.type(y).shape, "s8", _integer_recurrent.READ)}
    for name in (*states, *node.inputs[-len(states) :]):
        if name is not None and graph.tensors[name].data is None:
            found[name] = TensorType(graph.type(name).shape, "s16", _integer_recurrent.STATE)
    return found


def constants_of(
    graph: Graph, node: Node, x: TensorType, met: np.ndarray, trace: Trace | None, recipe: Recipe
) -> dict[int, Constant]:
    """Weights and biases as integers, by operand. met: the data as integers, [samples, *shape]; trace: None if weights
    are not fitted to the samples.
    """
    w, r, *biases = (np.asarray(graph.tensors[str(n)].data, np.float64) for n in node.inputs[1 : -_states(node)])
    rows = (met.reshape(-1, met.shape[-1]).astype(np.float64) - x.zero_point) * x.scale
    whole = ((slice(None), rows),)
    w_type, w_steps, shift = _rounded(w, whole if trace else (), recipe)
    r_type, r_steps, state_shift = _rounded(r, trace.read if trace else (), recipe)
    second = len(biases) > 1
    shifts = (shift if second else shift + state_shift, state_shift)
    found: dict[int, Constant] = {1: (w_type, w_steps), 2: (r_type, r_steps)}
    scales = (x.scale, _integer_recurrent.READ.scale[0])
    for k, (b, more) in enumerate(zip(biases, shifts, strict=False)):
        found[3 + k] = _bias(b + more, scales[k], (w_type, r_type)[k])
    return found


def _rounded(
    w: np.ndarray, read: Sequence[tuple[slice, np.ndarray]], recipe: Recipe
) -> tuple[TensorType, np.ndarray, np.ndarray]:
    """(type, integers, what biases must add) of weights [rows, n]. read: see `Trace`; empty to round to the nearest."""
    bits, integers = 8, np.zeros(w.shape, np.int8)
    scales, shift = np.zeros(len(w)), np.zeros(len(w))
    for which, vectors in read or ((slice(None), None),):
        part = w[which][None]
        if vectors is None:
            made = rounding.nearest(part, rounding.scales(part, bits), bits)
        else:
            sums = Gathered((1, 1, w.shape[1]), True, False)
            sums.add(vectors[None], np.zeros((1, len(vectors), 1)))
            moments = sums.moments()
            fits = recipe.rounding == LEAST_SQUARES
            made = (
                rounding.least_squares(part.copy(), moments, bits)
                if fits
                else rounding.nearest(part, rounding.scales(part, bits), bits)
            )
            shift[which] = (part[0] - made.real[0]) @ moments.x[0] if recipe.bias or fits else 0.0
        integers[which], scales[which] = made.integers[0], made.scales[0]
    quant = QuantParams(tuple(float(s) for s in scales), (0,) * len(w))
    return TensorType(w.shape, "s8", quant), integers, shift


def _bias(b: np.ndarray, scale: float, w: TensorType) -> Constant:
    """A bias in steps of the products of the scales."""
    assert w.quant is not None
    steps = np.float32(scale) * np.array(w.quant.scale, np.float32)
    quant = QuantParams(tuple(float(s) for s in steps), (0,) * steps.size)
    data = np.clip(np.rint(b / steps.astype(np.float64)), -_BIAS_END, _BIAS_END).astype(np.int32)
    return TensorType(b.shape, "s32", quant), data


def with_states(graph: Graph, shares: Mapping[str, bool]) -> dict[str, TensorType]:
    """The types of all tensors that recurrent layers decide on: their results and states, also after data movement.

    shares: node -> whether its operands and results share one scale.
    """
    found: dict[str, TensorType] = {}
    for node in graph.nodes:
        if is_recurrent(node):
            found |= state_types(node, graph)
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
