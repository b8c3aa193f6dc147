"""Coupled channels: channels of several tensors that can only be removed together, by the operators' rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.ranges import channels_of
from mcugen.passes.remove_channels import Masks, Together, without_channels
from mcugen.quantize.backwards import is_layer

Channel = Mapping[str, np.ndarray]
"""Tensor -> indices of its channels. All of them are removed together, and count as one channel."""


@dataclass(frozen=True, eq=False)
class CoupledChannels:
    """Removable channels that span the same tensors. Each can be removed without the others.

    readers: the layers that multiply these channels; their weights can compensate for removed channels
    """

    channels: tuple[Channel, ...]
    readers: tuple[Node, ...]

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(self.channels[0])


def streams(graph: Graph, reference: str) -> list[CoupledChannels]:
    """All channels of a float graph that can be removed, by the tensors that they belong to, in the graph's order."""
    found: dict[tuple[tuple[str, int], ...], list[Channel]] = {}
    for channel in _channels(graph, reference):
        found.setdefault(tuple((name, places.size) for name, places in channel.items()), []).append(channel)
    made = {name for node in graph.nodes if is_layer(graph, node) for name in node.outputs}
    result = []
    for key, channels in found.items():
        names = {name for name, _ in key}
        readers = tuple(n for n in graph.nodes if meets_all(graph, n) and n.inputs[0] in names)
        if readers and names & made:
            result.append(CoupledChannels(tuple(channels), readers))
    return result


def meets_all(graph: Graph, node: Node) -> bool:
    """Whether every output of a layer depends on all channels of its input, unlike in a depthwise convolution."""
    return is_layer(graph, node) and node.op.met_axis is not None and node.op.met_axis != node.op.scaled_axis


def without(graph: Graph, reference: str, gone: Sequence[Channel]) -> tuple[Graph, Masks]:
    """The graph without the channels `gone`, and a mask of the removed channels of each tensor."""
    masks = {name: np.zeros(channels_of(t.type), bool) for name, t in graph.tensors.items() if not t.is_constant}
    for channel in gone:
        for name, places in channel.items():
            masks[name][places] = True
    return without_channels(graph, reference, masks), masks


def taps_of(graph: Graph, node: Node, channel: Channel) -> np.ndarray:
    """Columns of a layer's weight matrix [outputs, taps] that multiply a channel."""
    scaled, met = int(node.op.scaled_axis or 0), int(node.op.met_axis or 0)
    shape, name = graph.type(str(node.inputs[1])).shape, str(node.inputs[0])
    rest = tuple(n for k, n in enumerate(shape) if k != scaled)
    numbers = np.arange(int(np.prod(rest))).reshape(rest)
    count = channels_of(graph.type(name))
    again = np.arange(shape[met] // count)[:, None] * count
    return numbers.take((again + channel[name]).reshape(-1), axis=met - (met > scaled)).reshape(-1)


def obstacles(graph: Graph, reference: str) -> list[Node]:
    """Nodes that allow none of their channels to be removed."""
    found = Together(_unweighted(graph), reference)
    return [node for node in graph.nodes if node.outputs[0] not in graph.kept and found.refuses(node)]


def _unweighted(graph: Graph) -> Graph:
    """The graph with zeros as weights that multiply all channels, so that analysis finds each channel removable."""
    tensors = dict(graph.tensors)
    for node in graph.nodes:
        if meets_all(graph, node):
            name = str(node.inputs[1])
            tensors[name] = replace(tensors[name], data=np.zeros(tensors[name].type.shape, np.float32))
    return replace(graph, tensors=tensors)


def _channels(graph: Graph, reference: str) -> Iterator[Channel]:
    """Every channel that can be removed, with the channels of other tensors that are removed with it."""
    together = Together(_unweighted(graph), reference)
    free = {name: mask.copy() for name, mask in together.gone.items()}
    for name in [n for node in graph.nodes for n in node.outputs if n in free]:
        for place in range(free[name].size):
            if free[name][place]:
                channel = together.kept_with(name, place)
                for other, places in channel.items():
                    free[other][places] = False
                yield channel
