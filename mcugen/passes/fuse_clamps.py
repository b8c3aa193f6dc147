"""Merges clamps, such as a RELU that keeps the scale, into the activation of the operator before them.

Clamps of floats that are computed element by element stay as they are: `fuse_elements` puts them into one loop.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ops._bytes import between
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "for every value that it can have, its reader only clamps it, as an activation of its operator does"
_PATTERN = Pattern("clamp", inputs=(Pattern("producer"),))


def fuse_clamps(graph: Graph, reference: str) -> Graph:
    """The graph without clamps that an activation can perform."""
    return _fused(graph, reference, loops=False)


def fuse_all_clamps(graph: Graph, reference: str) -> Graph:
    """The graph without clamps that an activation can perform, also those of floats computed element by element."""
    return _fused(graph, reference, loops=True)


def _fused(graph: Graph, reference: str, *, loops: bool) -> Graph:
    def fuse(match: Match) -> Made | None:
        producer, reader = match.nodes["producer"], match.nodes["clamp"]
        call, after = graph.call(producer, reference), graph.call(reader, reference)
        limits = reader.op.float_clamp(after) or _limits(after)
        op = producer.op.clamped(call, *limits) if limits and (loops or not _in_a_loop(call)) else None
        return Made((replace(producer, op=op, outputs=reader.outputs),)) if op else None

    return rewritten(graph, _PATTERN, fuse, "fused clamps", _WHY)


def _in_a_loop(call: Call) -> bool:
    return call.output.is_float and bool(call.op.element)


def _limits(call: Call) -> tuple[int, int] | None:
    """The clamp that is equal to a function of bytes for all values of its operand; None where there is none."""
    values = call.op.byte_table(call) if call.input(0) == call.output else None
    x = call.range_of(0)
    if values is None or x is None:
        return None
    low, high = x.hull
    results = between(values.view(call.output.np_dtype), low, high)
    limits = int(results.min()), int(results.max())
    return limits if np.array_equal(results, np.clip(np.arange(low, high + 1), *limits)) else None
