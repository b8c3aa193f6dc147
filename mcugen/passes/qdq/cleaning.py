"""Steps after the rewriting: removal of dead nodes, folding of constants, and the note on operators that stay float."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mcugen.ir.graph import Graph, Node
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.reshape import Reshape

_MAX_LISTED = 4


def live(graph: Graph) -> Graph:
    """The graph without nodes whose results nothing reads."""
    needed, kept = set(graph.kept), []
    for node in reversed(graph.nodes):
        if needed & set(node.outputs):
            kept.append(node)
            needed |= {name for name in node.inputs if name is not None}
    return graph.updated(nodes=reversed(kept))


def folded(graph: Graph, reference: str, *, deferred: bool = True) -> Graph:
    """The graph with all nodes folded that depend only on constants. deferred: also those whose folding was deferred.
    """
    tensors, nodes = dict(graph.tensors), []
    for node in graph.nodes:
        op = replace(node.op, deferred=False) if deferred and isinstance(node.op, Dequantize) else node.op
        current = replace(graph, tensors=tensors).call(replace(node, op=op), reference)
        folded = op.fold(current) if not any(name in graph.kept for name in node.outputs) else None
        for name, data in zip(node.outputs, folded or (), strict=False):
            tensors[name] = replace(tensors[name], data=data)
        if not folded:
            nodes.append(replace(node, op=op))
    return graph.updated(tensors=tensors.values(), nodes=nodes)


def islands(graph: Graph) -> tuple[str, ...]:
    """A note that lists each connected group of operators that stay float between integers; empty if there are none."""
    group: dict[str, str] = {}

    def root(name: str) -> str:
        while group.setdefault(name, name) != name:
            name = group[name]
        return name

    made = [n for n in graph.nodes if graph.type(n.outputs[0]).is_float and not getattr(n.op, "deferred", False)]
    floats = [n for n in made if not isinstance(n.op, Dequantize | Reshape)]
    for node in floats:
        for name in (*node.inputs, *node.outputs):
            if name is not None and graph.type(name).is_float and graph.tensors[name].data is None:
                group[root(name)] = root(node.outputs[0])
    computed = [node for node in floats if not node.op.keeps_values(graph.call(node, "ort"))]
    roots = {root(node.outputs[0]): None for node in computed}
    if not roots:
        return ()
    names = [_island(node for node in computed if root(node.outputs[0]) == r) for r in roots]
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    count = f"{len(names)} float island{'s' if len(names) > 1 else ''}"
    return (f"{count} of operators without an integer form: {'; '.join(names[:_MAX_LISTED])}{more}",)


def _island(nodes: Iterable[Node]) -> str:
    kinds = list(dict.fromkeys(type(node.op).__name__ for node in nodes))
    return ", ".join(kinds[:_MAX_LISTED])
