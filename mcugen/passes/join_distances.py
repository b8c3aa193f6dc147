"""Computes the distances of a vector from many constant rows in one operator, not row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Removed, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops.abs import Abs
from mcugen.ops.distances import Distances
from mcugen.ops.pack import Pack
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub
from mcugen.ops.sum import Sum

WHAT = "distances row by row"
_WHY = "the distances from all rows are computed together"
_KINDS: dict[tuple[type[Op], type[Op]], str] = {
    (Sum, Square): "SQUARES",
    (Sum, Abs): "MAGNITUDES",
    (ReduceMax, Abs): "LARGEST",
}


@dataclass(frozen=True, eq=False)
class _Distance:
    """A vector x, a constant row, the kind of their distance, and the nodes that compute it."""

    x: str
    row: np.ndarray
    kind: str
    nodes: tuple[Node, ...]


def join_distances(graph: Graph, reference: str) -> Graph:
    """The graph with one operator for the distances of one vector from constant rows, if the distances are stacked.

    Nearest-neighbour models with a loop over their training data have this form. Kernels may add up the terms of a
    distance in another order than before.
    """
    makers = {name: node for node in graph.nodes for name in node.outputs}
    reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
    reads.update(graph.kept)
    replaced: dict[str, Node] = {}
    tensors: list[Tensor] = []
    gone: set[str] = set()
    for node in graph.nodes:
        parts = _parts(graph, node, makers, reads)
        if parts:
            rows = np.stack([part.row for part in parts])
            name = f"{node.outputs[0]}_rows"
            tensors.append(Tensor(name, TensorType(rows.shape, "f32"), rows))
            op = Distances(parts[0].kind, rows_first=True)
            replaced[node.name] = replace(node, op=op, inputs=(parts[0].x, name))
            gone |= {inner.name for part in parts for inner in part.nodes}
    if not replaced:
        return graph
    lost = [graph.tensors[n.outputs[0]].origin for n in graph.nodes if n.name in gone]
    return graph.updated(
        tensors=tensors,
        nodes=[replaced.get(node.name, node) for node in graph.nodes if node.name not in gone],
        removed=[Removed(WHAT, origin.tensor, _WHY, exact=False) for origin in lost if origin],
    )


def _parts(graph: Graph, node: Node, makers: Mapping[str, Node], reads: Counter[str]) -> list[_Distance]:
    """The distances that a node stacks; empty if it stacks anything else."""
    if not isinstance(node.op, Pack) or node.op.axis != 0 or len(node.inputs) < 2:
        return []
    found: list[_Distance] = []
    for name, count in Counter(node.inputs).items():
        part = _distance(graph, str(name), makers, reads) if reads[str(name)] == count else None
        if part is None or (found and (part.x, part.kind) != (found[0].x, found[0].kind)):
            return []
        found.append(part)
    known = dict(zip(dict.fromkeys(node.inputs), found, strict=True))
    return [known[name] for name in node.inputs]


def _distance(graph: Graph, name: str, makers: Mapping[str, Node], reads: Counter[str]) -> _Distance | None:
    """The distance, of shape [1], between a vector [1, K] and a constant row, if the tensor is such a distance; else
    None.
    """
    total = makers.get(name)
    each = makers.get(str(total.inputs[0])) if total else None
    apart = makers.get(str(each.inputs[0])) if each else None
    if total is None or each is None or apart is None or not isinstance(apart.op, Sub):
        return None
    kind = _KINDS.get((type(total.op), type(each.op)))
    x, row = (graph.tensors[str(n)] for n in apart.inputs)
    data = row.data
    alone = all(reads[n.outputs[0]] == 1 for n in (each, apart))
    if kind is None or data is None or not alone or x.is_constant or not x.type.is_float:
        return None
    length = x.type.shape[-1] if len(x.type.shape) == 2 and x.type.shape[0] == 1 else 0
    whole = graph.type(name).shape == (1,) and data.size == length and graph.type(apart.outputs[0]) == x.type
    if not whole or apart.op.activation != "NONE":
        return None
    return _Distance(x.name, data.reshape(length), kind, (total, each, apart))
