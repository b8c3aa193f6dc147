"""Operators whose integers are mcugen's own: a program that computes them in floats differs by a few steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ops._integer_recurrent import IntegerRecurrent

_BYTE_STEPS = 8
"""The most steps of a byte by which a recurrent layer's state differs: products read its upper byte, not all of it."""


@singledispatch
def apart(op: Op, call: Call) -> tuple[int, ...]:
    """For each result, the most steps by which a computation in floats may differ; empty if every integer counts."""
    return ()


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
