"""Gives every graph output its own memory: an output that is an input or a constant becomes a copy."""

from __future__ import annotations

from mcugen.ir.graph import Graph, Node, Origin, Tensor
from mcugen.ops.copy import Copy


def copy_outputs(graph: Graph, reference: str) -> Graph:
    """Insert a Copy for each output that no node computes."""
    computed = {name for node in graph.nodes for name in node.outputs}
    given = [name for name in dict.fromkeys(graph.outputs) if name not in computed]
    if not given:
        return graph
    renamed = {name: f"{name}_out" for name in given}
    copies = [Node(f"copy_{name}", Copy(), (name,), (renamed[name],), f"output {name}") for name in given]
    tensors = [_copy_of(graph.tensors[name], renamed[name]) for name in given]
    outputs = tuple(renamed.get(name, name) for name in graph.outputs)
    return graph.updated(tensors=tensors, nodes=(*graph.nodes, *copies), outputs=outputs)


def _copy_of(tensor: Tensor, name: str) -> Tensor:
    return Tensor(name, tensor.type, label=tensor.label, origin=tensor.origin or Origin(tensor.name))
