"""Shortens joins: if a join begins with all operands of an earlier join, it reads that join's result instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcugen import kernels
from mcugen.ir.graph import Graph, Node
from mcugen.ops.concatenation import Concatenation


def reuse_joins(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a target with these features. It changes graphs for devices only, whose kernels join few tensors.

    In a dense block, each layer joins the results of all earlier layers. After this pass a join has only two operands.
    Cores keep the long joins, since their kernels take more operands, and parts need not stay live for so long.
    """

    def reuse(graph: Graph, reference: str) -> Graph:
        if not features & kernels.device_features():
            return graph
        known: dict[tuple[int, tuple[str | None, ...]], str] = {}
        nodes = [_shortened(graph, node, known) for node in graph.nodes]
        return graph if nodes == list(graph.nodes) else graph.updated(nodes=nodes)

    reuse.__name__ = reuse_joins.__name__
    return reuse


def _shortened(graph: Graph, node: Node, known: dict[tuple[int, tuple[str | None, ...]], str]) -> Node:
    """The node with the longest known list of leading operands replaced; its own list is added to `known`."""
    op = node.op
    if not isinstance(op, Concatenation) or op.in_place or graph.type(node.outputs[0]).quant:
        return node
    axis = op.axis % len(graph.type(node.outputs[0]).shape)
    known[axis, node.inputs] = node.outputs[0]
    for count in range(len(node.inputs) - 1, 1, -1):
        joined = known.get((axis, node.inputs[:count]))
        if joined is not None:
            return replace(node, inputs=(joined, *node.inputs[count:]))
    return node
