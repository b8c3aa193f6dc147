"""Streams: tensors whose channels must be scaled together, from the layers that compute them to their readers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ir.ranges import channels_of
from mcugen.ops._elementwise import equal_shapes
from mcugen.ops._pool import Pool
from mcugen.ops._reduce import Reduction
from mcugen.ops.add import Add
from mcugen.ops.reshape import Reshape
from mcugen.ops.sub import Sub
from mcugen.quantize.layers import with_same_weights

_FREE = frozenset({"NONE", "RELU"})
"""Activations that commute with positive factors."""


@dataclass(frozen=True)
class Stream:
    """Tensors whose channels can only be scaled together.

    makers: the layers that compute them; readers: the layers that read them; results: the results of makers and of
    additions; moved: the other tensors, results of operators with one operand, such as pools
    """

    makers: tuple[Node, ...]
    readers: tuple[Node, ...]
    results: tuple[str, ...]
    moved: tuple[str, ...]


def streams(graph: Graph, reference: str) -> list[Stream]:
    """Streams whose channels can be scaled, in the order of the graph."""
    search = _Search(graph, reference)
    found: list[Stream] = []
    for node in graph.nodes:
        if node.op.met_axis is not None and not any(node in stream.makers for stream in found):
            stream = search.around(node)
            found += [stream] if isinstance(stream, Stream) else []
    return found


def obstacle(graph: Graph, reference: str, node: Node) -> str:
    """Reason, to follow "because", why the channels of a layer's result cannot be scaled; "" if they can."""
    if node.op.met_axis is None:
        return "it has no weights of its own"
    found = _Search(graph, reference).around(node)
    return "" if isinstance(found, Stream) else found


class _Search:
    def __init__(self, graph: Graph, reference: str) -> None:
        self.graph, self.reference = graph, reference
        self.made = {name: node for node in graph.nodes for name in node.outputs}
        self.steps = {node.name for nodes in with_same_weights(graph) for node in nodes}
        self.read: dict[str, list[Node]] = {}
        for node in graph.nodes:
            for name in dict.fromkeys(n for n in node.inputs if n is not None):
                self.read.setdefault(name, []).append(node)

    def around(self, node: Node) -> Stream | str:
        """The stream of a layer's result, or the reason why its channels cannot be scaled."""
        grown = _Grown([node.outputs[0]])
        for name in grown.names:  # grows during the loop
            why = self._before(grown, name, node) or self._after(grown, name, node)
            if why:
                return why
        order = {n.name: k for k, n in enumerate(self.graph.nodes)}
        makers, readers = (
            tuple(sorted(nodes.values(), key=lambda n: order[n.name])) for nodes in (grown.makers, grown.readers)
        )
        moved = tuple(name for name in grown.names if name not in grown.results)
        return Stream(makers, readers, tuple(grown.results), moved)

    def _before(self, grown: _Grown, name: str, start: Node) -> str:
        """Add the producer of a tensor to a stream. Returns why factors cannot pass through it, "" if they can."""
        maker = self.made.get(name)
        if maker is None:
            return "an input of the model is added to it"
        if maker.name in self.steps:
            return f"{self._place(maker)} shares its weights with other layers"
        if maker.op.met_axis is None and not self._passes(maker):
            return f"{self._place(maker)}, which is added to it, is a {type(maker.op).__name__}"
        activation = getattr(maker.op, "activation", "NONE")
        if activation not in _FREE:
            return f"of {'its' if maker is start else f'{self._place(maker)}, which has a'} {activation}"
        if maker.op.met_axis is not None:
            grown.makers[maker.name] = maker
            grown.results[name] = None
            return ""
        operands = self._computed(maker)
        grown.results.update({name: None} if len(operands) > 1 else {})
        grown.add(*operands)
        return ""

    def _after(self, grown: _Grown, name: str, start: Node) -> str:
        """Add the readers of a tensor to a stream. Returns why a reader cannot absorb factors, "" if all can."""
        if name in self.graph.kept:
            return "it is an output of the model"
        for reader in self.read.get(name, []):
            if reader.name in self.steps:
                return f"{self._place(reader)}, which reads it, shares its weights with other layers"
            if reader.op.met_axis is not None:
                if reader.inputs.count(name) > 1 or reader.inputs[0] != name or not self._meets(start, reader):
                    return f"the weights of {self._place(reader)} do not multiply its channels one by one"
                grown.readers[reader.name] = reader
            elif self._passes(reader):
                grown.add(*reader.outputs)
            else:
                return f"{self._place(reader)}, which reads it, is a {type(reader.op).__name__}"
        return "" if name in self.read else "nothing reads it"

    def _passes(self, node: Node) -> bool:
        return scales_channels(node.op, self.graph.call(node, self.reference))

    def _computed(self, node: Node) -> list[str]:
        return [n for n in node.inputs if n is not None and self.graph.tensors[n].data is None]

    def _meets(self, node: Node, reader: Node) -> bool:
        """Whether the reader's weights are constant, with one index per channel, or per channel of flattened pixels."""
        weights = self.graph.tensors[str(reader.inputs[1])]
        if weights.data is None or reader.op.met_axis is None:
            return False
        first = self.graph.type(str(reader.inputs[0]))
        given, channels = channels_of(first), channels_of(self.graph.type(node.outputs[0]))
        return given == channels or (weights.data.ndim == 2 and weights.data.shape[1] % channels == 0)

    def _place(self, node: Node) -> str:
        return self.graph.tensors[node.outputs[0]].label or node.source or node.name


@dataclass
class _Grown:
    """A stream under construction, with its tensors in the order in which they were found."""

    names: list[str]
    makers: dict[str, Node] = field(default_factory=dict)
    readers: dict[str, Node] = field(default_factory=dict)
    results: dict[str, None] = field(default_factory=dict)

    def add(self, *names: str) -> None:
        self.names += [name for name in names if name not in self.names]


@singledispatch
def scales_channels(op: Op, call: Call) -> bool:
    """Whether scaling a channel of all computed operands by a positive factor scales that channel of the result alike.

    A fused activation is ignored. If the result's last axis holds several pixels, their channels follow pixel by pixel.
    """
    return False


@scales_channels.register(Add)
@scales_channels.register(Sub)
def _(op: Op, call: Call) -> bool:
    return equal_shapes(call)


@scales_channels.register(Pool)
def _(op: Pool, call: Call) -> bool:
    return True


@scales_channels.register(Reduction)
def _(op: Reduction, call: Call) -> bool:
    return len(call.input(0).shape) - 1 not in op.chosen(len(call.input(0).shape))


@scales_channels.register(Reshape)
def _(op: Reshape, call: Call) -> bool:
    return call.output.shape[-1:] > (0,) and call.output.shape[-1] % call.input(0).shape[-1] == 0
