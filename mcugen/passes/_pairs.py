"""Puts a node together with the node that makes what it alone reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from mcugen.graph import Graph, Node, Removed

Fuse = Callable[[Node, Node], Node | None]
"""From a node with one result and the only reader of that result, as operand 0, to a node that does what both do."""


def fused(graph: Graph, fuse: Fuse, what: str, why: str) -> Graph:
    """The graph with what `fuse` makes of pairs, along whole chains; the results between them are removed."""
    reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
    nodes: dict[str, Node] = {}
    gone: list[str] = []
    for node in graph.nodes:
        name = node.inputs[0] if node.inputs else None
        alone = name is not None and reads[name] == 1 and name not in graph.kept
        producer = nodes.get(name) if name is not None and alone else None
        made = fuse(producer, node) if producer is not None and len(producer.outputs) == 1 else None
        if made is not None and producer is not None:
            gone += producer.outputs
            del nodes[producer.outputs[0]]
        last = made or node
        nodes[last.outputs[0]] = last
    if not gone:
        return graph
    origins = [origin for name in gone for origin in [graph.tensors[name].origin] if origin]
    return graph.updated(nodes=nodes.values(), removed=[Removed(what, o.tensor, why) for o in origins])
