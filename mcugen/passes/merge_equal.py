"""Computes nodes with equal operators and operands once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Removed
from mcugen.ops.copy import Copy

_WHY = "an earlier node computes the same from the same operands"


def merge_equal(graph: Graph, reference: str) -> Graph:
    """The graph in which equal operators with equal operands are computed once.

    Constants are equal if their types and bytes are. Outputs and states keep their names. If both equal results are
    outputs or states, one is a copy of the other.
    """
    merging = _Merging(graph)
    for node in graph.nodes:
        merging.add(node)
    if not merging.removed:
        return graph
    return graph.updated(nodes=merging.finished(), removed=merging.removed)


@dataclass
class _Merging:
    """The remaining nodes in order.

    found: remaining nodes by `_key`. same: removed result -> the equal result that remains. renamed: remaining result
    -> its final name.
    """

    graph: Graph
    nodes: list[Node] = field(default_factory=list)
    found: dict[Hashable, list[Node]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    removed: list[Removed] = field(default_factory=list)

    def add(self, node: Node) -> None:
        node = replace(node, inputs=tuple(None if n is None else self.same.get(n, n) for n in node.inputs))
        if isinstance(node.op, Copy):
            self.nodes.append(node)
            return
        alike = self.found.setdefault(self._key(node), [])
        first = next((other for other in alike if self._reads_the_same(node, other)), None)
        if first is None:
            alike.append(node)
            self.nodes.append(node)
        else:
            self._merge(node, first)

    def _key(self, node: Node) -> Hashable:
        """A hashable key of a node: its operator, computed operands and types. Constants are compared by
        `_reads_the_same`.
        """
        operands = tuple(
            (n is None, None if n is None else self.graph.type(n)) if self._is_constant(n) else n for n in node.inputs
        )
        return (node.op, operands, tuple(self.graph.type(name) for name in node.outputs))

    def _is_constant(self, name: str | None) -> bool:
        return name is None or self.graph.tensors[name].is_constant

    def _reads_the_same(self, node: Node, other: Node) -> bool:
        """Whether constant operands of two otherwise equal nodes have equal bytes."""
        pairs = zip(node.inputs, other.inputs, strict=True)
        return all(a == b or self._bytes(a) == self._bytes(b) for a, b in pairs)

    def _bytes(self, name: str | None) -> bytes:
        data = None if name is None else self.graph.tensors[name].data
        return b"" if data is None else np.ascontiguousarray(data).tobytes()

    def _merge(self, node: Node, first: Node) -> None:
        for gone, stays in zip(node.outputs, first.outputs, strict=True):
            self.same[gone] = stays
            name = self.renamed.get(stays, stays)
            if gone not in self.graph.kept:
                self._note(gone)
            elif name not in self.graph.kept:
                self.renamed[stays] = gone
                self._note(stays)
            else:
                self.nodes.append(Node(f"{node.name}_{gone}", Copy(), (stays,), (gone,), node.source))
                self._note(gone)

    def _note(self, name: str) -> None:
        origin = self.graph.tensors[name].origin
        if origin is not None:
            self.removed.append(Removed("equal nodes", origin.tensor, _WHY))

    def finished(self) -> list[Node]:
        """The remaining nodes, with the final names of their results."""
        return [
            replace(
                node,
                inputs=tuple(None if n is None else self.renamed.get(n, n) for n in node.inputs),
                outputs=tuple(self.renamed.get(n, n) for n in node.outputs),
            )
            for node in self.nodes
        ]
