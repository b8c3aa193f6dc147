"""Operators whose integers are mcugen's own: a program that computes them in floats differs by a few steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ops import _rounding
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.normalization import Normalization
from mcugen.ops.softmax import Softmax

_WIDE_STEPS = 64
"""The most steps of int16 by which TensorFlow Lite's operators on int16 differ from floats: tables of 513 entries."""
_SOFTMAX_STEPS = 256
"""This number for softmax, in steps of 2^-15: its exponentials and its reciprocal come from such tables."""
_BYTE_STEPS = 8
"""The most steps of a byte by which a recurrent layer's state differs: products read its upper byte, not all of it."""


@singledispatch
def apart(op: Op, call: Call) -> tuple[int, ...]:
    """For each result, the most steps by which a computation in floats may differ; empty if every integer counts."""
    types = [t for t in (*call.inputs, *call.outputs) if t is not None]
    is_wide = any(t.dtype == "s16" and t.quant is not None for t in types)
    if not is_wide or _rounding.rounding_of(call) or op.only_moves or any(t.quant is None for t in call.outputs):
        return ()
    return tuple(_WIDE_STEPS if t.dtype == "s16" else 1 for t in call.outputs)


@apart.register
def _of_softmax(op: Softmax, call: Call) -> tuple[int, ...]:
    return (_SOFTMAX_STEPS,) if call.output.dtype == "s16" else ()


@apart.register
def _of_norm(op: Normalization, call: Call) -> tuple[int, ...]:
    return (2,) if call.output.dtype == "s16" else ()


@apart.register
def _of_recurrent(op: IntegerRecurrent, call: Call) -> tuple[int, ...]:
    return tuple(_BYTE_STEPS << (t.bits - 8) for t in call.outputs)


def allowed(graph: Graph, which: str) -> Mapping[str, int]:
    """Tensor -> the most steps by which a computation in floats may differ from it, also after data movement."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        steps = apart(node.op, graph.call(node, which))
        if node.op.only_moves:
            steps = (max((found.get(str(name), 0) for name in node.inputs), default=0),) * len(node.outputs)
        found.update(zip(node.outputs, steps, strict=False))
    return found
