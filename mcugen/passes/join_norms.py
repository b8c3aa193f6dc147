"""Joins float operators that together normalize groups of elements into Normalization, however they are written.

A region of operators is recognized by what it computes: it is run on random numbers, and must give the elements minus
their mean, or not, over the root of their mean square, times a factor and plus an addend for each element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import Shape, TensorType
from mcugen.ops._reduce import Reduction
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.normalization import Normalization, split_of
from mcugen.ops.reshape import Reshape
from mcugen.ops.rsqrt import Rsqrt
from mcugen.ops.sqrt import Sqrt

_WHY = "it lies inside a normalization of groups of elements, which is one operator"
_MOST_NODES, _MOST_ELEMENTS = 40, 1 << 20
_ROOTS = (Sqrt, Rsqrt, Arithmetic)
_NEAR = 1e-5
_SCALES = (1.0, 1e-3, 1e3)
"""Factors on the random numbers for which a region must agree: its epsilon counts for small ones."""


@dataclass(frozen=True, eq=False)
class Norm:
    """A normalization that was found: operator, operand, gamma and beta (None: 1 and 0), and the region's nodes."""

    op: Normalization
    source: str
    gamma: np.ndarray | None
    beta: np.ndarray | None
    nodes: tuple[Node, ...]


def join_norms(graph: Graph, reference: str) -> Graph:
    """The float graph with a Normalization in place of each region that normalizes."""
    makers = {node.outputs[0]: node for node in graph.nodes}
    reads = Counter(name for node in graph.nodes for name in set(node.inputs) if name is not None)
    reads.update(graph.kept)
    made: dict[str, list[Node]] = {}
    gone: dict[str, None] = {}
    tensors: list[Tensor] = []
    for last in reversed(graph.nodes):
        norm = None if last.outputs[0] in gone else find(graph, last, makers)
        if norm is None or not _is_alone(norm, last, reads):
            continue
        gone |= dict.fromkeys(node.outputs[0] for node in norm.nodes if node is not last)
        more, nodes = _nodes(graph, norm, last)
        tensors += more
        made[last.outputs[0]] = nodes
    if not made:
        return graph
    kept = [new for n in graph.nodes if n.outputs[0] not in gone for new in made.get(n.outputs[0], [n])]
    return graph.updated(
        tensors=tensors, nodes=kept, removed=graph.removals(gone, "joined normalizations", _WHY, exact=False)
    )


def find(graph: Graph, last: Node, makers: Mapping[str, Node]) -> Norm | None:
    """The largest normalization that ends in a node; None if none does."""
    if not last.op.is_elementwise or not graph.type(last.outputs[0]).is_float:
        return None
    found: Norm | None = None
    for source, region in _regions(graph, last, makers):
        norm = _matched(graph, source, region)
        if norm is not None:
            found = norm
        elif found is not None:
            break
    return found


def _is_alone(norm: Norm, last: Node, reads: Mapping[str, int]) -> bool:
    """Whether nothing outside the region reads results of its inner nodes."""
    own = Counter(name for node in norm.nodes for name in set(node.inputs))
    return all(reads[node.outputs[0]] == own[node.outputs[0]] for node in norm.nodes if node is not last)


def _nodes(graph: Graph, norm: Norm, last: Node) -> tuple[list[Tensor], list[Node]]:
    """New tensors, and the nodes that compute the result of the region."""
    y, result = last.outputs[0], graph.tensors[last.outputs[0]]
    operands, tensors = [norm.source], []
    for name, data in (("gamma", norm.gamma), ("beta", norm.beta)):
        if data is not None:
            tensors.append(Tensor(f"{y}_{name}", TensorType(data.shape, "f32"), data, f"{result.label}_{name}"))
            operands.append(tensors[-1].name)
    x = graph.type(norm.source)
    if x.shape == result.type.shape:
        return tensors, [Node(last.name, norm.op, tuple(operands), (y,), last.source)]
    tensors.append(Tensor(f"{y}_rows", TensorType(x.shape, "f32"), None, result.label, result.origin))
    return tensors, [
        Node(last.name, norm.op, tuple(operands), (f"{y}_rows",), last.source),
        Node(f"{last.name}_shaped", Reshape(result.type.shape), (f"{y}_rows",), (y,), last.source),
    ]


def _regions(graph: Graph, last: Node, makers: Mapping[str, Node]) -> list[tuple[str, list[Node]]]:
    """(operand, nodes in order) of regions with one operand, a sum and a root that end in a node; small ones first."""
    places = {name: k for k, name in enumerate(makers)}
    nodes, open_ends, found = {last.outputs[0]: last}, _computed(graph, last), list[tuple[str, list[Node]]]()
    while open_ends and len(nodes) < _MOST_NODES:
        if len(open_ends) == 1:
            region = sorted(nodes.values(), key=lambda node: places[node.outputs[0]])
            if _has(region, Reduction) and _has(region, *_ROOTS):
                found.append((next(iter(open_ends)), region))
        name = max(open_ends, key=lambda n: places.get(n, -1))
        node = makers.get(name)
        if node is None or not _is_allowed(graph, node):
            break
        nodes[name] = node
        open_ends = (open_ends - {name}) | _computed(graph, node)
    return found


def _has(region: Sequence[Node], *kinds: type[Op]) -> bool:
    return any(isinstance(node.op, kinds) for node in region)


def _computed(graph: Graph, node: Node) -> set[str]:
    return {name for name in node.inputs if name is not None and not graph.tensors[name].is_constant}


def _is_allowed(graph: Graph, node: Node) -> bool:
    types = [graph.type(name) for name in (*_computed(graph, node), *node.outputs)]
    known = node.op.is_elementwise or node.op.only_moves or isinstance(node.op, Reduction)
    fits = all(t.is_float and t.size <= _MOST_ELEMENTS for t in types)
    return known and fits and len(node.outputs) == 1 and None not in node.inputs


def _run(graph: Graph, source: str, region: Sequence[Node], x: np.ndarray, *, whole: bool = False) -> np.ndarray:
    """The results of a region in float64, as a vector. whole: take 1 for zeros among several constants."""
    values = {source: x}

    def operand(name: str) -> np.ndarray:
        data = graph.tensors[name].data
        if data is None:
            return values[name]
        wide = data.astype(np.float64) if data.dtype == np.float32 else data
        return np.where(wide == 0, 1, wide) if whole and data.size > 1 else wide

    with np.errstate(all="ignore"):
        for node in region:
            operands = [operand(str(name)) for name in node.inputs]
            stored = any(graph.type(str(name)).quant is not None for name in node.inputs)  # constants with a scale
            found = evaluate(graph.call(node, ""), operands)[0] if stored else node.op.reference(*operands)
            values[node.outputs[0]] = np.asarray(found).reshape(graph.type(node.outputs[0]).shape)
    return values[region[-1].outputs[0]].reshape(-1)


def _matched(graph: Graph, source: str, region: Sequence[Node]) -> Norm | None:
    """The normalization that a region computes; None if it computes something else."""
    shape = graph.type(source).shape
    given = np.random.default_rng(0).standard_normal((4, *shape)) + 0.3
    split = _split(graph, source, region, given[0])
    if split is None:
        return None
    y = _run(graph, source, region, given[0])
    moved = _run(graph, source, region, given[0] + 3.0)
    centred = bool(np.abs(moved - y).max() <= _NEAR * np.abs(y).max())
    numbers = {float(d.reshape(-1)[0]) for d in _constants(graph, region) if d.size == 1}
    n = split[0] * split[2]
    for epsilon in (0.0, *sorted(v / m for v in numbers if 0 < v < 1 for m in (1, n, n / max(n - 1, 1)))):
        op = Normalization(*split, epsilon, centred)
        lines = _fitted(graph, source, region, op, given)
        if lines is not None:
            return _with_lines(op, source, region, lines, (shape, graph.type(region[-1].outputs[0]).shape))
    return None


def _constants(graph: Graph, region: Sequence[Node]) -> list[np.ndarray]:
    found = [graph.tensors[name].data for node in region for name in node.inputs if name is not None]
    return [data for data in found if data is not None]


def _split(graph: Graph, source: str, region: Sequence[Node], x: np.ndarray) -> tuple[int, int, int] | None:
    """(positions, groups, channels) from the results that depend on the first element; None if they form no groups."""
    near = x.copy()
    near.reshape(-1)[0] += 1.5
    before, after = (_run(graph, source, region, v, whole=True) for v in (x, near))
    if before.size != x.size or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return None
    return split_of(before != after)


def _fitted(
    graph: Graph, source: str, region: Sequence[Node], op: Normalization, given: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """(factor, addend) of each element with which the operator gives the region's results; None if there are none."""
    normal = [op.reference(x).reshape(-1) for x in given]
    ends = [(_run(graph, source, region, x), _run(graph, source, region, -x)) for x in given]
    size = sum(u * u for u in normal)
    factor = sum(u * (a - b) for u, (a, b) in zip(normal, ends, strict=True)) / (2 * np.maximum(size, 1e-12))
    addend = sum(a + b for a, b in ends) / (2 * len(ends))
    room = _NEAR * (np.abs(factor).max() + np.abs(addend).max())
    for scale in _SCALES:
        x = given[0] * scale
        found, wanted = op.reference(x).reshape(-1) * factor + addend, _run(graph, source, region, x)
        if not np.abs(found - wanted).max() <= room:
            return None
    return factor, addend


def _with_lines(
    op: Normalization,
    source: str,
    region: Sequence[Node],
    lines: tuple[np.ndarray, np.ndarray],
    shapes: Sequence[Shape],
) -> Norm | None:
    """The norm with factors and addends as short vectors; None if these repeat in a way that the operator lacks."""
    factor, addend = (_rounded(v) for v in lines)
    if (factor == 1).all() and not addend.any():
        return Norm(op, source, None, None, tuple(region))
    size = factor.size
    axes = {(int(np.prod(shape[k + 1 :])), int(shape[k])) for shape in shapes for k in range(len(shape))}
    for inner, count in ((size, 1), *sorted(axes), (1, op.groups * op.channels)):
        place = np.arange(size) // inner % count
        first = np.arange(count) * inner
        if all(np.array_equal(v, v[first][place]) for v in (factor, addend)):
            found = op.with_inner(inner if count > 1 else 1, count)
            return None if found is None else Norm(found, source, factor[first], addend[first], tuple(region))
    return None


def _rounded(values: np.ndarray) -> np.ndarray:
    """The values as float32, in which what is nearly 0 or 1 is 0 or 1."""
    near = np.where(np.abs(values) < 1e-12, 0.0, np.where(np.abs(values - 1) < 1e-12, 1.0, values))
    return near.astype(np.float32)
