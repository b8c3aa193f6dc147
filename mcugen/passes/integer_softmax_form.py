"""Replaces float softmaxes, with the masks and factors before them, by IntegerSoftmax."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.integer_softmax import MAX_CLASSES, IntegerSoftmax
from mcugen.ops.softmax import Softmax
from mcugen.passes._softmax_operand import SearchedTensors, operand_of
from mcugen.passes.drop_unread import drop_unread


def integer_softmax_form(graph: Graph, reference: str, *, masked_only: bool = False) -> Graph:
    """The float graph with IntegerSoftmax in place of Softmax. masked_only: only where there is a constant mask."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    values = SearchedTensors(makers.get, lambda name: graph.tensors[name].data, graph.type, lambda name: False)
    tensors, nodes = list[Tensor](), list[Node]()
    for node in graph.nodes:
        made = _made(graph, node, values, masked_only=masked_only)
        nodes.append(node if made is None else made[0])
        tensors += [] if made is None else made[1]
    if nodes == list(graph.nodes):
        return graph
    return drop_unread(graph.updated(tensors=tensors, nodes=nodes), reference)


def _made(graph: Graph, node: Node, values: SearchedTensors, *, masked_only: bool) -> tuple[Node, list[Tensor]] | None:
    """The node of an IntegerSoftmax and its mask; None if `node` stays."""
    name = node.outputs[0]
    t = graph.type(name)
    if not isinstance(node.op, Softmax) or not t.is_float or t.shape[-1] > MAX_CLASSES:
        return None
    found = operand_of(str(node.inputs[0]), node.op.beta, values)
    keys = found.rows_of_keys(t.shape[-1])
    if keys is None:
        return None if masked_only else (_node(node, found.x, found.beta), [])
    mask = Tensor(f"{name}@mask", TensorType(keys.shape, "bool"), keys, f"{name}_mask")
    return _node(node, found.x, found.beta, mask.name), [mask]


def _node(node: Node, x: str, beta: np.float32, *mask: str) -> Node:
    return replace(node, op=IntegerSoftmax(float(beta)), inputs=(x, *mask))
