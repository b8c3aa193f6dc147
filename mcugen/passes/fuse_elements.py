"""Fuses elementwise float operators with the elementwise reader of their result into one loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from mcugen import kernels
from mcugen.ir.graph import Graph, Node, Removed
from mcugen.ops.element_chain import ElementChain, Link, fits, is_link

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
        origins = [origin for name in self._gone for origin in [self._given.tensors[name].origin] if origin]
        removed = [Removed("fused elements", o.tensor, _WHY) for o in origins]
        return self._given.updated(nodes=self._nodes.values(), removed=removed)

    def _joined(self, reader: Node) -> Node | None:
        """The reader fused with the producer of one operand; None if no operand allows that."""
        if not self._is_link(reader):
            return None
        for name in dict.fromkeys(reader.inputs):
            maker = self._nodes.get(name) if name is not None else None
            if name is None or maker is None or self._reads[name] != 1 or name in self._given.kept:
                continue
            if self._is_link(maker) and self._lives_no_longer(maker):
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

    def _lives_no_longer(self, maker: Node) -> bool:
        """Whether fusing keeps no additional tensors live: the reader is the next node, or the producer has one
        operand.
        """
        computed = {name for name in maker.inputs if name and not self._given.tensors[name].is_constant}
        return len(computed) == 1 or next(reversed(self._nodes.values())) is maker


def _chain(maker: Node, reader: Node, name: str) -> Node:
    """Two nodes as one chain. name: the tensor between them."""
    first, second = (_links(node) for node in (maker, reader))
    inputs = tuple(dict.fromkeys((*maker.inputs, *(n for n in reader.inputs if n != name))))
    at = {n: k for k, n in enumerate(inputs)}
    last = len(first) - 1
    links = [Link(link.op, _moved(link, maker, at, 0)) for link in first]
    links += [Link(link.op, _moved(link, reader, {**at, name: ~last}, len(first))) for link in second]
    return Node(reader.name, ElementChain(tuple(links)), inputs, reader.outputs, reader.source)


def _links(node: Node) -> tuple[Link, ...]:
    return node.op.links if isinstance(node.op, ElementChain) else (Link(node.op, tuple(range(len(node.inputs)))),)


def _moved(link: Link, node: Node, at: dict[str | None, int], before: int) -> tuple[int, ...]:
    """The operands of a link, renumbered for a joined chain. at: tensor -> operand. before: number of links
    before it.
    """
    return tuple(at[node.inputs[k]] if k >= 0 else k - before for k in link.operands)
