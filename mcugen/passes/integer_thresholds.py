"""Makes decision trees compare stored integers, instead of floats converted from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Removed, Tensor
from mcugen.ir.op import evaluate
from mcugen.ir.types import TensorType
from mcugen.ops._forest import DIFFERS, Forest
from mcugen.ops.cast import Cast
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.tree_ensemble import TreeEnsemble

WHAT = "floats that trees compare"
_WHY = "the trees compare the integers that the floats are made of"
_SCANNED = frozenset({"s8", "u8", "s16"})


def integer_thresholds(graph: Graph, reference: str) -> Graph:
    """The graph with trees that read integers, if their floats were only conversions of these.

    A threshold becomes the greatest integer whose float is not above it. Comparisons with a constant outcome are
    removed.
    """
    makers = {name: node for node in graph.nodes for name in node.outputs}
    replaced: dict[str, Node] = {}
    tensors: list[Tensor] = []
    removed: list[Removed] = []
    for node in graph.nodes:
        maker = makers.get(str(node.inputs[0])) if isinstance(node.op, TreeEnsemble) else None
        found = _forest(graph, node, maker, reference) if maker is not None else None
        if maker is None or found is None:
            continue
        names = [f"{node.outputs[0]}_trees{k}" for k in range(len(found.arrays))]
        kinds = ("s32", "s32", "s32", "s32", "f32")
        types = [TensorType(a.shape, kind) for a, kind in zip(found.arrays, kinds, strict=True)]
        tensors += [Tensor(n, t, a) for n, t, a in zip(names, types, found.arrays, strict=True)]
        replaced[node.name] = replace(node, inputs=(maker.inputs[0], *names))
        origin = graph.tensors[maker.outputs[0]].origin
        removed += [Removed(WHAT, origin.tensor, _WHY)] if origin else []
    if not replaced:
        return graph
    return graph.updated(tensors=tensors, nodes=[replaced.get(n.name, n) for n in graph.nodes], removed=removed)


def _forest(graph: Graph, node: Node, maker: Node, reference: str) -> Forest | None:
    """The trees of a node with thresholds for the integers before the conversion; None if the trees need the floats."""
    source = graph.tensors[str(maker.inputs[0])]
    if source.is_constant or not isinstance(maker.op, Cast | Dequantize) or source.type.dtype not in (*_SCANNED, "s32"):
        return None
    if source.type.dtype == "s32" and not isinstance(maker.op, Cast):
        return None
    if source.type.quant is not None and source.type.quant.per_channel:
        return None
    arrays = graph.call(node, reference).constants[1:]
    if any(array is None for array in arrays):
        return None
    forest = Forest(*(array for array in arrays if array is not None))
    stored, values = _values(graph.call(maker, reference))
    above = np.searchsorted(values, forest.thresholds, side="right")
    equal = above - np.searchsorted(values, forest.thresholds, side="left")
    differs = (forest.nodes[:, 3] & DIFFERS) != 0
    if (equal[forest.inner & differs] > 1).any():
        return None
    low, high = source.type.limits
    if source.type.dtype == "s32":
        return forest.decided(_of_int32(forest.thresholds), None, low, high) if not differs.any() else None
    thresholds = np.where(above > 0, stored[np.maximum(above, 1) - 1], low - 1)
    return forest.decided(thresholds, equal == 0, low, high)


def _values(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """All integers of the operand's type and the floats that they convert to, in ascending order."""
    t = call.input(0)
    if t.dtype not in _SCANNED:
        return np.zeros(1, np.int64), np.zeros(1, np.float32)
    low, high = t.limits
    stored = np.arange(low, high + 1)
    types = t.with_shape(stored.shape), call.output.with_shape(stored.shape)
    every = Call(call.op, types[:1], types[1:], (None,), call.reference)
    (values,) = evaluate(every, [stored.astype(t.np_dtype)])
    return stored, values


def _of_int32(thresholds: np.ndarray) -> np.ndarray:
    """Per threshold, the greatest int32 whose float32 is not above it; the least int32 minus one if there is none."""
    low, high = np.full(thresholds.shape, -(2**31) - 1, np.int64), np.full(thresholds.shape, 2**31 - 1, np.int64)
    while (low < high).any():
        middle = (low + high + 1) >> 1
        fits = middle.astype(np.float32) <= thresholds
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low
