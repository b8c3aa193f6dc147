"""Layers whose bit widths may be chosen, and the orders in which narrow widths are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mcugen.ir.graph import Graph, Node
from mcugen.quantize.cross_validation import Bench
from mcugen.quantize.layers import is_constant
from mcugen.quantize.offered import refused
from mcugen.quantize.recipe import Widths

WEIGHTS, ACTIVATIONS = "weights", "activations"
Order = tuple[str, ...]
_BYTE = 8


@dataclass(frozen=True)
class BitsAxis:
    """One kind of bit widths to choose.

    kind: "weights" (8 or 4 bits) or "activations" (16 or 8). base: the widths of everything else. nodes: nodes with a
    choice, in graph order. orders: sequences in which to make nodes narrow. sizes: node -> number of elements.
    """

    kind: str
    base: Widths
    nodes: Order
    orders: tuple[Order, ...]
    sizes: Mapping[str, int]

    def widths(self, narrow: Iterable[str]) -> Widths:
        """The assignment of widths in which these nodes are narrow, and the other nodes with a choice are wide."""
        few = set(narrow)
        if self.kind == WEIGHTS:
            own = tuple((n, 4 if n in few else 8) for n in self.nodes)
            return replace(self.base, weights_of=(*self.base.weights_of, *own))
        own = tuple((n, 8 if n in few else 16) for n in self.nodes)
        return replace(self.base, activations_of=(*self.base.activations_of, *own))

    @property
    def narrowest(self) -> Widths:
        return self.widths(self.nodes)

    @property
    def widest(self) -> Widths:
        return self.widths(())


def weights(bench: Bench, base: Widths) -> BitsAxis:
    """The choice for weights, the largest first."""
    graph = bench.floats.graph
    weighted = [n for n in graph.nodes if n.op.scaled_axis is not None and is_constant(graph, n)]
    weighted = [
        n for n in weighted if base.of_data(n.name) == _BYTE
    ]  # TensorFlow Lite Micro has no 4-bit kernels for other nodes
    sizes = {n.name: graph.type(str(n.inputs[1])).size for n in weighted if n.name not in dict(base.weights_of)}
    narrow = replace(base, weights_of=(*base.weights_of, *((n, 4) for n in sizes)))
    no = refused(bench.floats, narrow)
    free = tuple(n for n in sizes if n not in no)
    return BitsAxis(WEIGHTS, base, free, (tuple(sorted(free, key=lambda n: -sizes[n])),), sizes)


def activations(bench: Bench, base: Widths) -> BitsAxis:
    """The choice for activations, in two orders: the largest first, and graph order."""
    graph, reference = bench.floats.graph, bench.floats.reference
    rules = {n.name: n.op.quantized(graph.call(n, reference)) for n in graph.nodes if _is_float(graph, n)}
    given = {name for name, _ in base.activations_of}
    able = [n for n, rule in rules.items() if 16 in rule.widths and n not in given]
    able = [n for n in able if base.of_weights(n) == _BYTE or not _has_weights(graph, n)]
    wide = replace(base, activations_of=(*base.activations_of, *((n, 16) for n in able)))
    no = refused(bench.floats, wide)
    free = tuple(n for n in able if n not in no)
    sizes = {n.name: sum(graph.type(str(t)).size for t in _data(graph, n)) for n in graph.nodes}
    largest = tuple(sorted(free, key=lambda n: -sizes[n]))
    return BitsAxis(ACTIVATIONS, base, free, tuple(dict.fromkeys((largest, free))), sizes)


def _is_float(graph: Graph, node: Node) -> bool:
    return any(name is not None and graph.type(name).is_float for name in (*node.inputs, *node.outputs))


def _has_weights(graph: Graph, name: str) -> bool:
    return any(n.name == name and n.op.scaled_axis is not None for n in graph.nodes)


def _data(graph: Graph, node: Node) -> list[str]:
    names = [*node.inputs[:1], *node.outputs] if node.op.scaled_axis is not None else [*node.inputs, *node.outputs]
    return [n for n in names if n is not None and graph.tensors[n].data is None]
