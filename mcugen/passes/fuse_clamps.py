"""Merges clamps, such as a RELU with equal scales, into the activation of the operator before them.

A clamp after an elementwise float operator stays: `fuse_elements` puts both into one loop.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.fixed_point import activation_bounds, activation_range
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ir.ranges import Range
from mcugen.ops._activation import Activated
from mcugen.ops._bytes import between, byte_table
from mcugen.ops.relu import Relu
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "for every value that it can have, its reader only clamps it, as an activation of its operator does"
_PATTERN = Pattern("clamp", inputs=(Pattern("producer"),))
ACTIVATIONS = ("RELU", "RELU6", "RELU_N1_TO_1")
"""Activations that clamp."""


def fuse_clamps(graph: Graph, reference: str) -> Graph:
    """The graph without clamps that an activation can perform."""
    return _fused(graph, reference, loops=False)


def fuse_all_clamps(graph: Graph, reference: str) -> Graph:
    """The graph without clamps that an activation can perform, also after elementwise float operators."""
    return _fused(graph, reference, loops=True)


def _fused(graph: Graph, reference: str, *, loops: bool) -> Graph:
    def fuse(match: Match) -> Made | None:
        producer, reader = match.nodes["producer"], match.nodes["clamp"]
        call, after = graph.call(producer, reference), graph.call(reader, reference)
        limits = float_clamp(reader.op, after) or _limits(after)
        op = clamped(producer.op, call, *limits) if limits and (loops or not _in_a_loop(call)) else None
        return Made((replace(producer, op=op, outputs=reader.outputs),)) if op else None

    return rewritten(graph, _PATTERN, fuse, "fused clamps", _WHY)


def _in_a_loop(call: Call) -> bool:
    return call.output.is_float and bool(call.op.element)


def _limits(call: Call) -> tuple[int, int] | None:
    """(low, high) of the clamp that a function of bytes equals for all values of its operand; None if it is no
    clamp.
    """
    values = byte_table(call) if call.input(0) == call.output else None
    x = call.range_of(0)
    if values is None or x is None:
        return None
    low, high = x.hull
    results = between(values.view(call.output.np_dtype), low, high)
    limits = int(results.min()), int(results.max())
    return limits if np.array_equal(results, np.clip(np.arange(low, high + 1), *limits)) else None


@singledispatch
def float_clamp(op: Op, call: Call) -> tuple[float, float] | None:
    """The bounds to which the operator clamps its float operand; None if it does anything else."""
    return None


@float_clamp.register(Relu)
def _(op: Relu, call: Call) -> tuple[float, float] | None:
    return (op.low, op.high) if call.output.is_float else None


@singledispatch
def clamped(op: Op, call: Call, low: float, high: float) -> Op | None:
    """The operator with an activation that also clamps stored results to [low, high]; None if there is no such
    activation.
    """
    return None


@clamped.register(Activated)
def _(op: Activated, call: Call, low: float, high: float) -> Op | None:
    """The operator with an activation that does the present clamp and then the clamp to [low, high]."""
    this: Any = op
    if call.output.is_float:
        return _clamped_floats(this, low, high)
    known: Range | None = op.bounds(call)[0]
    y = call.output
    if y.dtype != "s8" or known is None:
        return None
    now, first, last = activation_range(this.activation, y), *known.hull
    values = np.arange(first, last + 1)
    for activation in ACTIVATIONS:
        new = activation_range(activation, y)
        narrows = now[0] <= new[0] and new[1] <= now[1]
        if narrows and np.array_equal(np.clip(values, *new), np.clip(values, low, high)):
            changed: Op = replace(this, activation=activation)
            return changed
    return None


def _clamped_floats(op: Any, low: float, high: float) -> Op | None:
    now = activation_bounds(op.activation)
    if now[0] > high or now[1] < low:
        return None  # the two clamps do not overlap
    both = max(now[0], low), min(now[1], high)
    found = next((name for name in ACTIVATIONS if activation_bounds(name) == both), None)
    changed: Op | None = None if found is None else replace(op, activation=found)
    return changed
