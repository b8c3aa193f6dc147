"""Removes nodes whose result is their operand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcugen.ir.graph import Graph, Node, Removed

_WHY = "it has the type of its operand, and the same value for every value that its operand can have"


def drop_identities(graph: Graph, reference: str) -> Graph:
    """The graph without identities; where a result stays after the run, its operand must be free to take its name."""
    renamed: dict[str, str] = {}
    dropped = [node for node in graph.nodes if _goes(graph, node, reference, renamed)]
    if not dropped:
        return graph
    nodes = [_with_names(node, renamed) for node in graph.nodes if node not in dropped]
    return graph.updated(nodes=nodes, removed=_report(graph, dropped, renamed))


def _goes(graph: Graph, node: Node, reference: str, renamed: dict[str, str]) -> bool:
    """Whether the node is an identity that can be removed; one of its two names then replaces the other."""
    if len(node.outputs) != 1 or not node.inputs or not node.op.is_identity(graph.call(node, reference)):
        return False
    x, y = node.inputs[0], node.outputs[0]
    x = renamed.get(x, x) if x is not None else None
    if x is None or graph.tensors[x].is_constant:
        return False
    if y not in graph.kept:
        renamed.update({name: x for name, to in renamed.items() if to == y} | {y: x})
        return True
    if x in graph.given or x in graph.kept:
        return False
    renamed.update({name: y for name, to in renamed.items() if to == x} | {x: y})
    return True


def _with_names(node: Node, renamed: dict[str, str]) -> Node:
    return replace(
        node,
        inputs=tuple(None if name is None else renamed.get(name, name) for name in node.inputs),
        outputs=tuple(renamed.get(name, name) for name in node.outputs),
    )


def _report(graph: Graph, dropped: list[Node], renamed: dict[str, str]) -> Iterator[Removed]:
    for node in dropped:
        x, y = str(node.inputs[0]), node.outputs[0]
        origin = graph.tensors[y if y in renamed else x].origin
        if origin is not None:
            yield Removed("identities", origin.tensor, _WHY)
