"""Channels of activations scaled to reach equally far: factors in the weights before, their inverses in those after.

The float function stays the same. Source: Nagel et al., Data-free quantization, section 4.1, here by the ranges of
activations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcugen.channels import Affine, channels_of
from mcugen.graph import Graph, Node, Tensor
from mcugen.numeric import activation_bounds
from mcugen.quantize.ranges import Observed
from mcugen.types import TensorType

_HALF = 0.5
_DEAD = 1e-6
_FREE = frozenset({"NONE", "RELU"})


@dataclass(frozen=True)
class Pair:
    """A layer and its only reader, with nothing between them that tells channels apart."""

    first: Node
    second: Node


def balanced(
    graph: Graph, reference: str, seen: Mapping[str, Observed], floor: float, fixed: frozenset[str] = frozenset()
) -> Graph:
    """The float graph with balanced channels where layers follow each other; the graph itself where none do.

    floor: the least reach of a channel, as a share of the tensor's, so that few samples do not blow up a channel.
    fixed: tensors whose values must stay.
    """
    tensors: dict[str, Tensor] = dict(graph.tensors)
    nodes = {node.name: node for node in graph.nodes}
    for pair in pairs(graph, reference):
        if pair.first.outputs[0] in fixed or pair.second.inputs[0] in fixed:
            continue
        current = replace(graph, tensors=tensors, nodes=tuple(nodes.values()))
        first, second = nodes[pair.first.name], nodes[pair.second.name]
        found = _factors(current, reference, first, second, seen[first.outputs[0]], floor)
        one, two = Affine(found, np.zeros_like(found)), Affine(1 / found, np.zeros_like(found))
        after, before = _followed(current, reference, first, one), _preceded(current, reference, second, two)
        if after is not None and before is not None:
            nodes[first.name] = _with_constants(tensors, first, after)
            nodes[second.name] = _with_constants(tensors, second, before)
    if all(nodes[node.name] is node for node in graph.nodes):
        return graph
    return replace(graph, tensors=tensors, nodes=tuple(nodes[node.name] for node in graph.nodes)).updated()


def pairs(graph: Graph, reference: str) -> Iterator[Pair]:
    """The pairs that can be balanced, in the order of the graph."""
    readers = _readers(graph)
    for node in graph.nodes:
        if node.op.met_axis is not None:
            found = _partner(graph, reference, readers, node)
            if isinstance(found, Node):
                yield Pair(node, found)


def obstacle(graph: Graph, reference: str, node: Node) -> str:
    """Why the channels of a layer cannot be balanced, as what follows "because"; "" where they can."""
    found = _partner(graph, reference, _readers(graph), node)
    return "" if isinstance(found, Node) else found


def _readers(graph: Graph) -> dict[str, list[Node]]:
    readers: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in node.inputs:
            if name is not None:
                readers.setdefault(name, []).append(node)
    return readers


def _partner(graph: Graph, reference: str, readers: Mapping[str, list[Node]], node: Node) -> Node | str:
    """The layer whose weights make good what balancing does to a layer, or why there is none."""
    activation = getattr(node.op, "activation", "")
    if node.op.met_axis is None:
        return "it has no weights of its own"
    if activation not in _FREE:
        return f"of its {activation}"
    name = node.outputs[0]
    while True:
        found = readers.get(name, [])
        if name in graph.kept:
            return "it is an output of the model"
        if len(found) != 1:
            return f"{len(found)} operators read it"
        reader = found[0]
        if reader.op.met_axis is not None:
            fits = reader.inputs[0] == name and _meets(graph, node, reader)
            return reader if fits else f"the weights of {_place(graph, reader)} do not meet its channels one by one"
        if not reader.op.scales_channels(graph.call(reader, reference)):
            return f"{_place(graph, reader)}, which reads it, is a {type(reader.op).__name__}"
        name = reader.outputs[0]


def _place(graph: Graph, node: Node) -> str:
    return graph.tensors[node.outputs[0]].label or node.source or node.name


def _meets(graph: Graph, node: Node, reader: Node) -> bool:
    """Whether the reader's weights are constant and meet the channels one by one, or all of them for every pixel."""
    weights = graph.tensors[str(reader.inputs[1])]
    if weights.data is None or reader.op.met_axis is None:
        return False
    given, channels = channels_of(graph.type(str(reader.inputs[0]))), channels_of(graph.type(node.outputs[0]))
    return given == channels or (weights.data.ndim == 2 and weights.data.shape[1] % channels == 0)


def _factors(graph: Graph, reference: str, first: Node, second: Node, seen: Observed, floor: float) -> np.ndarray:
    """One over the reach of each channel where weights of the reader have a scale per channel, else halfway there."""
    reach = seen.channels.astype(np.float64)
    alive = reach > _DEAD
    if not alive.any():
        return np.ones(reach.size)
    reach = np.maximum(reach, max(floor * reach.max(), _DEAD))
    w = graph.call(second, reference).constant(1)
    axis = int(second.op.met_axis or 0)
    if axis == second.op.scaled_axis:
        found = 1 / reach
    else:
        column = np.moveaxis(np.abs(w), axis, 0).reshape(w.shape[axis], -1).max(axis=1)
        column = column.reshape(-1, reach.size).max(axis=0)
        found = (np.maximum(column, 1e-8) / reach) ** _HALF
    found = found / np.exp(np.log(found[alive]).mean())
    return np.where(alive, found, 1.0)


def _followed(graph: Graph, reference: str, node: Node, then: Affine) -> Mapping[int, np.ndarray] | None:
    """Constants with the factors after the layer; a clamp at 0 lets positive factors through."""
    call = graph.call(node, reference)
    if activation_bounds(call.op.activation) not in ((0.0, float("inf")), (float("-inf"), float("inf"))):
        return None
    call = replace(call, op=call.op.unclamped())
    found: Mapping[int, np.ndarray] | None = call.op.followed_by(call, then)
    return found


def _preceded(graph: Graph, reference: str, node: Node, first: Affine) -> Mapping[int, np.ndarray] | None:
    call = graph.call(node, reference)
    found: Mapping[int, np.ndarray] | None = call.op.preceded_by(call, first)
    return found


def _with_constants(tensors: dict[str, Tensor], node: Node, data: Mapping[int, np.ndarray]) -> Node:
    """The node on other constants, which come to the tensors."""
    inputs = list(node.inputs) + [None] * (max(data) + 1 - len(node.inputs))
    for k, values in data.items():
        name = inputs[k]
        label = tensors[name].label if name is not None else ""
        made = f"{node.outputs[0]}@{k}"
        tensors[made] = Tensor(made, TensorType(values.shape, "f32"), values.astype(np.float32), label)
        inputs[k] = made
    return replace(node, inputs=tuple(inputs))
