"""Tensors that get 16 bits by their kind: states, cells and gates of recurrent layers, and sums that a norm reads.

Other data stay at 8 bits. See docs/decisions/0018-sixteen-bits-by-kind.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mcugen.ir.graph import Graph, Node
from mcugen.ops import _integer_recurrent
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.add import Add
from mcugen.ops.normalization import Normalization
from mcugen.quantize.recipe import Widths
from mcugen.quantize.solve import REQUANTIZE_PREFIX

STATE, CELL, GATES = "state", "cell", "gates and their sums"
SUM, COPY, CHOSEN = "sum that a norm reads", "copy for a reader of 16 bits", "chosen"
_WIDE = 16


@dataclass(frozen=True)
class WideTensor:
    """A tensor of 16 bits. kind: the reason; nbytes: its size, or the memory in which a layer has its gates."""

    label: str
    kind: str
    nbytes: int


def sums_before_norms(graph: Graph) -> list[Node]:
    """The additions whose results a normalization reads, as in a residual stream. Those of a model's input stay at 8
    bits, since its first reader decides on the input's bits.
    """
    makers = {name: node for node in graph.nodes for name in node.outputs}
    found: dict[str, Node] = {}
    for node in graph.nodes:
        if isinstance(node.op, Normalization) and _WIDE in node.op.quantized(graph.call(node, "")).widths:
            maker = makers.get(str(node.inputs[0]))
            while maker is not None and maker.op.only_moves:
                maker = makers.get(str(maker.inputs[0]))
            if maker is not None and isinstance(maker.op, Add) and not set(maker.inputs) & set(graph.inputs):
                found[maker.name] = maker
    return list(found.values())


def _beginnings(graph: Graph) -> list[Node]:
    """The layers to whose results such a sum adds a constant, such as positions: there the stream begins."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    found = []
    for node in sums_before_norms(graph):
        computed = [str(n) for n in node.inputs if graph.tensors[str(n)].data is None]
        maker = makers.get(computed[0]) if len(computed) == 1 else None
        if maker is not None and maker.op.scaled_axis is not None:
            found.append(maker)
    return found


def widened(graph: Graph, widths: Widths) -> Widths:
    """The bits of all layers, with 16 for the results of sums that a norm reads, and for the layer before the first;
    what the user chose for one stays. Inputs of the network keep their bits.
    """
    nodes = (*sums_before_norms(graph), *_beginnings(graph))
    own = {name: widths.activations for node in nodes for name in node.inputs if name in graph.inputs}
    own |= {node.name: _WIDE for node in nodes}
    return replace(widths, activations_of=tuple({**own, **dict(widths.activations_of)}.items()))


def wide_tensors(floats: Graph, integers: Graph) -> list[WideTensor]:
    """The tensors of 16 bits in an integer network that was made of a float network."""
    sums = {node.outputs[0] for node in sums_before_norms(floats)}
    return [tensor for node in integers.nodes for tensor in _of_node(integers, node, sums)]


def _of_node(graph: Graph, node: Node, sums: set[str]) -> Iterator[WideTensor]:
    label = graph.tensors[node.outputs[0]].label or node.outputs[0]
    if isinstance(node.op, IntegerRecurrent):
        call = graph.call(node, "")
        for kind, t in zip((STATE, CELL), call.outputs[1:], strict=False):
            yield WideTensor(label, kind, t.nbytes)
        yield WideTensor(label, GATES, _integer_recurrent.gate_bytes(call))
        return
    for name in node.outputs:
        t = graph.type(name)
        if t.dtype == "s16":
            kind = SUM if name in sums else COPY if node.name.startswith(REQUANTIZE_PREFIX) else CHOSEN
            yield WideTensor(graph.tensors[name].label or name, kind, t.nbytes)
