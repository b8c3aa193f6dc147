"""Cross-layer equalization: channels of activations get equal ranges by factors in the layers before and after them.

The network's float function does not change. Source: Nagel et al., Data-free quantization, section 4.1; here with
ranges of activations instead of ranges of weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.ranges import Affine
from mcugen.ir.types import TensorType
from mcugen.ops._activation import unclamped
from mcugen.passes.fold_factors import followed_by, preceded_by
from mcugen.quantize.activation_ranges import Observed
from mcugen.quantize.channel_streams import Stream, streams

_HALF = 0.5
_DEAD = 1e-6
_TINY = 1e-8
_PASSES = 2
"""Number of passes: the factors of one stream change the best factors of its neighbours."""


def balanced(
    graph: Graph, reference: str, seen: Mapping[str, Observed], floor: float, fixed: frozenset[str] = frozenset()
) -> Graph:
    """The float graph with equalized channels between layers; the graph itself if no channels can be scaled.

    floor: least range assumed for a channel, as a share of the tensor's range, since few samples may not reach a
    channel's real range. fixed: tensors whose values must not change.
    """
    work = _Work(graph, reference, dict(graph.tensors), {node.name: node for node in graph.nodes})
    reach = {name: found.channels.astype(np.float64) for name, found in seen.items()}
    free = [s for s in streams(graph, reference) if not fixed.intersection((*s.results, *s.moved))]
    for _ in range(_PASSES):
        for stream in free:
            factors = _factors(work, stream, [reach[name] for name in stream.results], floor)
            if work.scaled(stream, factors):
                reach.update((name, reach[name] * factors) for name in stream.results)
    if all(work.nodes[node.name] is node for node in graph.nodes):
        return graph
    nodes = tuple(work.nodes[node.name] for node in graph.nodes)
    return replace(graph, tensors=work.tensors, nodes=nodes).updated()


def as_large_as(graph: Graph, reference: str, before: Mapping[str, np.ndarray]) -> Graph:
    """The float graph with channels scaled so that each layer's weights have about the norms of older weights.

    before: the older weights, by node. The channels of activations then have about the older model's ranges.
    """
    work = _Work(graph, reference, dict(graph.tensors), {node.name: node for node in graph.nodes})
    for stream in streams(graph, reference):
        ratios = [
            _sizes(maker, before[maker.name]) - _sizes(maker, work.call(maker.name).constant(1))
            for maker in stream.makers
        ]
        work.scaled(stream, np.exp(np.mean(ratios, axis=0)))
    nodes = tuple(work.nodes[node.name] for node in graph.nodes)
    return replace(graph, tensors=work.tensors, nodes=nodes).updated()


def _sizes(maker: Node, w: np.ndarray) -> np.ndarray:
    """Logarithm of the norm of each output's weights; all zeros count as norm one."""
    axis = int(maker.op.scaled_axis or 0)
    size = np.sqrt((w.astype(np.float64) ** 2).sum(axis=tuple(k for k in range(w.ndim) if k != axis)))
    return np.log(np.where(size > _DEAD, size, 1.0))


@dataclass
class _Work:
    """The graph while factors are multiplied into its constants."""

    graph: Graph
    reference: str
    tensors: dict[str, Tensor]
    nodes: dict[str, Node]

    def call(self, name: str) -> Call:
        return replace(self.graph, tensors=self.tensors).call(self.nodes[name], self.reference)

    def scaled(self, stream: Stream, factors: np.ndarray) -> bool:
        """Scale the channels of a stream. Returns False, and changes nothing, if a layer cannot absorb the factors."""
        tensors, nodes = dict(self.tensors), dict(self.nodes)
        there, back = (Affine(f, np.zeros_like(f)) for f in (factors, 1 / factors))
        for layers, move, by in ((stream.makers, _followed, there), (stream.readers, _preceded, back)):
            for layer in layers:
                call = replace(self.graph, tensors=tensors).call(nodes[layer.name], self.reference)
                data = move(call, by)
                if data is None:
                    return False
                nodes[layer.name] = _with_constants(tensors, nodes[layer.name], data)
        self.tensors, self.nodes = tensors, nodes
        return True


def _factors(work: _Work, stream: Stream, reaches: Sequence[np.ndarray], floor: float) -> np.ndarray:
    """Factor of each channel of a stream: the geometric mean of the factors that suit its readers, see `_of_reader`.

    reaches: range of each channel, for each tensor of the stream
    """
    alive = np.logical_or.reduce([reach > _DEAD for reach in reaches])
    if not alive.any():
        return np.ones(alive.size)
    reach = np.mean([np.log(np.maximum(r, max(floor * r.max(), _DEAD))) for r in reaches], axis=0)
    wanted = [_of_reader(work.call(reader.name), reach) for reader in stream.readers]
    found = np.mean(wanted, axis=0)
    return np.where(alive, np.exp(found - found[alive].mean()), 1.0)


def _of_reader(call: Call, reach: np.ndarray) -> np.ndarray:
    """Logarithms of the channels' factors that suit a reader. reach: logarithms of the channels' ranges.

    1 / range suits a reader with a weight scale per input channel (depthwise); sqrt(largest weight / range) suits all
    other readers.
    """
    axis, scaled = int(call.op.met_axis or 0), call.op.scaled_axis
    if axis == scaled:
        return -reach
    w = np.abs(call.constant(1))
    if scaled is not None:  # Every output has its own scale.
        w = w / np.maximum(w.max(axis=tuple(k for k in range(w.ndim) if k != scaled), keepdims=True), _TINY)
    column = np.moveaxis(w, axis, 0).reshape(-1, reach.size, w.size // w.shape[axis]).max(axis=(0, 2))
    return np.asarray(_HALF * (np.log(np.maximum(column, _TINY)) - reach))


def _followed(call: Call, then: Affine) -> Mapping[int, np.ndarray] | None:
    """New constants of a layer whose results `then` scales. A ReLU is ignored: positive factors commute with it."""
    op = unclamped(call.op)
    return followed_by(op, replace(call, op=op), then)


def _preceded(call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    return preceded_by(call.op, call, first)


def _with_constants(tensors: dict[str, Tensor], node: Node, data: Mapping[int, np.ndarray]) -> Node:
    """The node with other constants, which are added to `tensors`. data: new constants by operand index."""
    inputs = list(node.inputs) + [None] * (max(data) + 1 - len(node.inputs))
    for k, values in data.items():
        name = inputs[k]
        label = tensors[name].label if name is not None else ""
        made = f"{node.outputs[0]}@{k}"
        tensors[made] = Tensor(made, TensorType(values.shape, "f32"), values.astype(np.float32), label)
        inputs[k] = made
    return replace(node, inputs=tuple(inputs))
