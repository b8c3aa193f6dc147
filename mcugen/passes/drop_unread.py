"""Removes nodes whose results nothing reads, and states that nothing reads."""

from __future__ import annotations

from mcugen.ir.graph import UNREAD_NODE, Graph

_WHY = "nothing reads it, and it is no output of the model"


def drop_unread(graph: Graph, reference: str) -> Graph:
    """The graph without nodes and states that no output depends on. Later runs count too."""
    needed = _needed(graph)
    kept = [node for node in graph.nodes if needed & set(node.outputs)]
    states = [state for state in graph.states if state.before in needed]
    if len(kept) == len(graph.nodes) and len(states) == len(graph.states):
        return graph
    gone = [name for node in graph.nodes if node not in kept for name in node.outputs]
    return graph.updated(nodes=kept, removed=graph.removals(gone, UNREAD_NODE, _WHY), states=states)


def _needed(graph: Graph) -> set[str]:
    """The tensors that the outputs of this or a later run depend on."""
    needed = set(graph.outputs)
    while True:
        for node in reversed(graph.nodes):
            if needed & set(node.outputs):
                needed |= {name for name in node.inputs if name is not None}
        carried = {state.after for state in graph.states if state.before in needed} - needed
        if not carried:
            return needed
        needed |= carried
