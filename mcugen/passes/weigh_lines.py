"""Replaces running sums, and resizings along one axis, by products with a constant matrix, which have integer forms."""

from __future__ import annotations

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.interpolate import Interpolate
from mcugen.ops.scan import Scan
from mcugen.ops.transpose import Transpose

_MOST_WEIGHTS = 1 << 16


def weigh_lines(graph: Graph, reference: str) -> Graph:
    """The float graph with a FullyConnected along the axis in place of each cumulative sum and Interpolate."""
    tensors, nodes = list[Tensor](), list[Node]()
    for node in graph.nodes:
        matrix = _matrix(graph, node)
        if matrix is None:
            nodes.append(node)
            continue
        more, made = _product(graph, node, matrix)
        tensors += more
        nodes += made
    return graph.updated(tensors=tensors, nodes=nodes) if tensors else graph


def _matrix(graph: Graph, node: Node) -> np.ndarray | None:
    """The factors [results, elements] of the elements along a node's axis; None for other nodes, or if too many."""
    if not isinstance(node.op, Scan | Interpolate) or not graph.type(node.outputs[0]).is_float:
        return None
    x = graph.type(str(node.inputs[0]))
    size, count = (t.shape[node.op.axis] for t in (x, graph.type(node.outputs[0])))
    if size * count > _MOST_WEIGHTS:
        return None
    if isinstance(node.op, Scan):
        return None if node.op.how != "sum" else np.asarray(_of_sums(node.op, size))
    index, weight = (graph.tensors[str(name)].data for name in node.inputs[1:])
    if index is None or weight is None:
        return None
    found = np.zeros((count, size))
    np.add.at(found, (np.arange(count)[:, None], index), weight)
    return found


def _of_sums(op: Scan, size: int) -> np.ndarray:
    lower = np.tril(np.ones((size, size)), -1 if op.exclusive else 0)
    return lower.T if op.reverse else lower


def _product(graph: Graph, node: Node, matrix: np.ndarray) -> tuple[list[Tensor], list[Node]]:
    """New tensors, and the nodes that multiply the axis of a node with a matrix."""
    (x, y), result = (str(node.inputs[0]), node.outputs[0]), graph.tensors[node.outputs[0]]
    rank, axis = len(result.type.shape), node.op.axis if isinstance(node.op, Scan | Interpolate) else 0
    perm = (*(k for k in range(rank) if k != axis % rank), axis % rank)
    weights = Tensor(
        f"{y}_matrix", TensorType(matrix.shape, "f32"), matrix.astype(np.float32), f"{result.label}_matrix"
    )
    product = FullyConnected(keep_dims=True)
    if perm == tuple(range(rank)):
        return [weights], [Node(node.name, product, (x, weights.name), (y,), node.source)]
    shapes = [tuple(graph.type(name).shape[k] for k in perm) for name in (x, y)]
    lines = [
        Tensor(f"{y}_{end}", TensorType(shape, "f32"), None, f"{result.label}_{end}")
        for end, shape in zip(("lines", "made"), shapes, strict=True)
    ]
    back = tuple(perm.index(k) for k in range(rank))
    return [weights, *lines], [
        Node(f"{node.name}_lines", Transpose(perm), (x,), (lines[0].name,), node.source),
        Node(node.name, product, (lines[0].name, weights.name), (lines[1].name,), node.source),
        Node(f"{node.name}_back", Transpose(back), (lines[1].name,), (y,), node.source),
    ]
