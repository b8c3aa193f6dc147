"""Removes nodes whose results nobody reads."""

from __future__ import annotations

from mcugen.graph import UNREAD_NODE, Graph, Node, Removed

_WHY = "nothing reads it, and it is no output of the model"


def drop_unread(graph: Graph, reference: str) -> Graph:
    """The graph without nodes of which no result is read or given out, nor what only those read."""
    needed, kept = set(graph.outputs), list[Node]()
    for node in reversed(graph.nodes):
        if needed & set(node.outputs):
            kept.append(node)
            needed |= {name for name in node.inputs if name is not None}
    if len(kept) == len(graph.nodes):
        return graph
    gone = [name for node in graph.nodes if node not in kept for name in node.outputs]
    removed = [
        Removed(UNREAD_NODE, origin.tensor, _WHY) for n in gone for origin in [graph.tensors[n].origin] if origin
    ]
    return graph.updated(nodes=kept[::-1], removed=removed)
