"""Folds the gammas and betas of normalizations into the weights of all layers that read them.

fold_factors folds what one layer reads; here several layers read one normalization, such as the three projections of
attention, or means lie between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.ranges import Affine
from mcugen.ir.types import TensorType
from mcugen.ops.mean import Mean
from mcugen.ops.normalization import Normalization
from mcugen.ops.reshape import Reshape
from mcugen.passes.fold_factors import preceded_by


def fold_gammas(graph: Graph, reference: str) -> Graph:
    """The float graph in which normalizations have no gamma and beta, if all their readers have weights."""
    for node in graph.nodes:
        if isinstance(node.op, Normalization) and len(node.inputs) > 1:
            graph = _folded(graph, node, reference) or graph
    return graph


def _folded(graph: Graph, norm: Node, reference: str) -> Graph | None:
    """The graph without the gamma and beta of one normalization; None if a reader cannot take them."""
    call, channels = graph.call(norm, reference), graph.type(norm.outputs[0]).shape[-1:]
    gamma, beta = norm.op.lines(call.constants[1:]) if isinstance(norm.op, Normalization) else (None, None)
    if gamma is None or beta is None or gamma.size not in (1, *channels) or getattr(norm.op, "inner", 0) != 1:
        return None
    first = Affine(*(np.resize(line, channels).astype(np.float64) for line in (gamma, beta)))
    readers = _readers(graph, norm.outputs[0])
    if readers is None:
        return None
    changed, tensors = {norm.name: replace(norm, inputs=norm.inputs[:1])}, list[Tensor]()
    for reader in readers:
        inner = graph.call(reader, reference)
        data = preceded_by(inner.op, inner, first)
        if data is None:
            return None
        inputs = [*reader.inputs, *[None] * (max(data) + 1 - len(reader.inputs))]
        for k, values in data.items():
            name = f"{reader.outputs[0]}_with_gamma{k}"
            tensors.append(Tensor(name, TensorType(values.shape, "f32"), values.astype(np.float32)))
            inputs[k] = name
        changed[reader.name] = replace(reader, inputs=tuple(inputs))
    return graph.updated(tensors=tensors, nodes=[changed.get(node.name, node) for node in graph.nodes])


def _readers(graph: Graph, name: str) -> list[Node] | None:
    """The nodes that read a tensor's channels, also through means and reshapes; None if a result is an output."""
    if name in graph.kept:
        return None
    found = list[Node]()
    for node in graph.nodes:
        if name not in node.inputs:
            continue
        below = _readers(graph, node.outputs[0]) if _keeps_channels(graph, node) else [node]
        if below is None or node.inputs.count(name) > 1 or node.inputs[0] != name:
            return None
        found += below
    return found


def _keeps_channels(graph: Graph, node: Node) -> bool:
    """Whether a factor and an addend of a channel of the operand are those of the same channel of the result."""
    x, y = (graph.type(str(names[0])).shape for names in (node.inputs, node.outputs))
    if isinstance(node.op, Mean):
        return len(x) - 1 not in node.op.chosen(len(x))
    return isinstance(node.op, Reshape) and y[-1:] > (0,) and y[-1] % x[-1] == 0
