"""Joins the resizing of an image's rows and columns into ResizeBilinear, the operator of quantized models."""

from __future__ import annotations

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ops.interpolate import Interpolate
from mcugen.ops.resize_bilinear import ResizeBilinear, float_tables
from mcugen.passes._match import Made, Match, Pattern, rewritten

_PATTERN = Pattern("last", (Interpolate,), (Pattern("first", (Interpolate,)),))
_WHY = "it is the intermediate result between the two steps of one resizing"
_NEAR = 1e-5
"""Largest difference between weights that count as equal."""


def join_resizing(graph: Graph, reference: str) -> Graph:
    """The float graph with ResizeBilinear in place of two Interpolate nodes with the same positions and weights."""

    def join(match: Match) -> Made | None:
        first, last = match.nodes["first"], match.nodes["last"]
        x, y = graph.type(str(first.inputs[0])), graph.type(last.outputs[0])
        axes = {node.op.axis % len(y.shape): node for node in (first, last) if isinstance(node.op, Interpolate)}
        if len(y.shape) != 4 or set(axes) != {1, 2}:
            return None
        wanted = {axis: _matrix(graph, node, x.shape[axis]) for axis, node in axes.items()}
        for align, half in ((False, False), (True, False), (False, True)):
            own = {axis: _of_tables(x.shape[axis], y.shape[axis], align, half) for axis in axes}
            if all(np.abs(own[axis] - wanted[axis]).max() <= _NEAR for axis in axes):
                op = ResizeBilinear((y.shape[1], y.shape[2]), align, half)
                return Made((Node(last.name, op, first.inputs[:1], last.outputs, last.source),))
        return None

    return rewritten(graph, _PATTERN, join, "joined resizing", _WHY, exact=False)


def _matrix(graph: Graph, node: Node, size: int) -> np.ndarray:
    """[results, elements]: the weight of each element of an axis."""
    index, weight = (graph.tensors[str(name)].data for name in node.inputs[1:])
    assert index is not None and weight is not None
    found = np.zeros((len(index), size))
    np.add.at(found, (np.arange(len(index))[:, None], index), weight)
    return found


def _of_tables(size: int, count: int, align: bool, half: bool) -> np.ndarray:
    """[results, elements]: the weights that ResizeBilinear gives each element of an axis."""
    low, high, first, part = float_tables(size, count, align, half)
    found = np.zeros((count, size))
    for index, weight in ((low, first), (high, part)):
        np.add.at(found, (np.arange(count), index), weight)
    return found
