"""Fuses elementwise operators on floats or plain integers that read each other's results into one loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from mcugen import kernels
from mcugen.ir.graph import Graph, Node
from mcugen.ops._links import Link, is_link
from mcugen.ops.element_chain import ElementChain, fits

_WHY = "it and its reader work element by element: one loop holds both, and this tensor is a variable in it"


def fuse_elements(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a core. Operators for which the core has an accelerated kernel are not fused."""

    def fuse(graph: Graph, reference: str) -> Graph:
        return _Fusion(graph, reference, features).graph()

    fuse.__name__ = fuse_elements.__name__
    return fuse


class _Fusion:
    """The pass over the nodes in order. Each is fused with producers of its operands."""

    def __init__(self, graph: Graph, reference: str, features: frozenset[str]) -> None:
        self._given = graph
        self._reference = reference
        self._features = features
        self._reads = Counter(name for node in graph.nodes for name in set(node.inputs) if name is not None)
        self._nodes: dict[str, Node] = {}
        self._gone: list[str] = []

    def graph(self) -> Graph:
        for node in self._given.nodes:
            chain = node
            while (joined := self._joined(chain)) is not None:
                chain = joined
            self._nodes[chain.outputs[0]] = chain
        if not self._gone:
            return self._given
        removed = self._given.removals(self._gone, "fused elements", _WHY)
        return self._given.updated(nodes=self._nodes.values(), removed=removed)

    def _joined(self, reader: Node) -> Node | None:
        """The reader fused with the producer of one operand; None if no operand allows that."""
        if not self._is_link(reader):
            return None
        for name in dict.fromkeys(reader.inputs):
            maker = self._nodes.get(name) if name is not None else None
            if name is None or maker is None or self._reads[name] != 1 or name in self._given.kept:
                continue
            if self._is_link(maker) and self._lives_no_longer(maker) and self._is_only_reader(reader, maker):
                chain = _chain(maker, reader, name)
                if fits(self._given.call(chain, self._reference)):
                    del self._nodes[name]
                    self._gone.append(name)
                    return chain
        return None

    def _is_link(self, node: Node) -> bool:
        if isinstance(node.op, ElementChain):
            return True
        call = self._given.call(node, self._reference)
        accelerated = (k for k in kernels.of(node.op) if k.needs and not k.refusals(call, self._features))
        return is_link(call) and next(accelerated, None) is None

    def _is_only_reader(self, reader: Node, maker: Node) -> bool:
        """Whether no node other than `reader` reads the results of `maker`."""
        return all(self._reads[name] <= (name in reader.inputs) for name in maker.outputs)

    def _lives_no_longer(self, maker: Node) -> bool:
        """Whether fusing keeps no additional tensors live: the reader is the next node, or the producer has one
        operand.
        """
        computed = {name for name in maker.inputs if name and not self._given.tensors[name].is_constant}
        return len(computed) == 1 or next(reversed(self._nodes.values())) is maker


def _chain(maker: Node, reader: Node, name: str) -> Node:
    """Two nodes as one chain. name: result of the first node, which becomes a value inside the chain."""
    inputs = tuple(dict.fromkeys((*maker.inputs, *(n for n in reader.inputs if n not in maker.outputs))))
    at: dict[str | None, int] = {n: k for k, n in enumerate(inputs)}
    first, made = _moved(maker, at, 0)
    at.update({n: ~value for n, value in zip(maker.outputs, made, strict=True)})
    second, results = _moved(reader, at, _count(maker))
    more = {n: value for n, value in zip(maker.outputs, made, strict=True) if n != name}
    op = ElementChain((*first, *second), _stated((*results, *more.values()), _count(maker) + _count(reader)))
    return Node(reader.name, op, inputs, (*reader.outputs, *more), reader.source)


def _stated(results: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Attribute `results` of a chain: () if only the last value is a result. count: number of values of the chain."""
    return () if results == (count - 1,) else results


def _count(node: Node) -> int:
    """The number of values that a node computes."""
    if isinstance(node.op, ElementChain):
        return sum(link.values for link in node.op.links)
    return len(node.outputs)


def _moved(node: Node, at: dict[str | None, int], before: int) -> tuple[list[Link], list[int]]:
    """The links of a node, renumbered for a joined chain, and the numbers of its results.

    at: tensor -> number as an operand of a link; before: number of values that precede the node in the chain
    """
    count = _count(node)
    if not isinstance(node.op, ElementChain):
        operands = tuple(at[name] for name in node.inputs)
        return [Link(node.op, operands, len(node.outputs))], list(range(before, before + count))
    links = [
        replace(link, operands=tuple(at[node.inputs[k]] if k >= 0 else k - before for k in link.operands))
        for link in node.op.links
    ]
    return links, [before + k for k in node.op.results or (count - 1,)]
