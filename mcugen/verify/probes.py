"""Values of operand 0 that reveal a slightly wrong implementation of an operator: boundary values, greatest sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ops import _filter
from mcugen.ops._bytes import ByteFunction, byte_to_byte
from mcugen.ops._forest import DIFFERS, Forest
from mcugen.ops._weighted import matrix, window_of
from mcugen.ops._window import SlidingWindow
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.quantize import Quantize
from mcugen.ops.tree_ensemble import TreeEnsemble

MOST_NODES = 32
"""Most nodes of a tree ensemble whose thresholds are tried."""


@singledispatch
def greatest_sum(op: Op, call: Call) -> np.ndarray | None:
    """Operand 0 that drives a sum of products as far up as possible. Its elements are the type's largest and smallest.

    None if the operator has no such sum.
    """
    return None


@greatest_sum.register(Conv2D)
def _(op: Conv2D, call: Call) -> np.ndarray | None:
    w = _filter.centred(call, call.constant(1))
    most = int(np.abs(w).sum(axis=(1, 2, 3)).argmax())
    return _image(call, w[most], window_of(call))


@greatest_sum.register(DepthwiseConv2D)
def _(op: DepthwiseConv2D, call: Call) -> np.ndarray | None:
    x, w = call.input(0), _filter.centred(call, call.constant(1), 3)[0]
    return _image(call, w.reshape(*w.shape[:2], x.shape[3], -1)[..., 0], window_of(call))


@greatest_sum.register(FullyConnected)
def _(op: FullyConnected, call: Call) -> np.ndarray | None:
    x, w = call.input(0), matrix(call)
    most = w[np.abs(w).sum(axis=1).argmax()] > 0
    return None if x.is_float else _extremes(call, np.tile(most, x.size // most.size)).reshape(x.shape)


def _extremes(call: Call, rising: np.ndarray) -> np.ndarray:
    """The type's largest integer where `rising`, otherwise its smallest."""
    info = np.iinfo(call.input(0).np_dtype)
    return np.where(rising, info.max, info.min).astype(call.input(0).np_dtype)


def _image(call: Call, w: np.ndarray, window: SlidingWindow) -> np.ndarray | None:
    """An image tiled so that non-overlapping windows see, at each weight of w [rows, columns, channels], its extreme
    value.
    """
    x = call.input(0)
    if x.is_float:
        return None
    pad = window.pad((x.shape[1], x.shape[2]))
    rows, columns = ((np.arange(x.shape[1 + d]) + pad[d]) % window.extent(d) // window.dilation[d] for d in (0, 1))
    rising = np.tile(w[rows][:, columns] > 0, x.shape[3] // w.shape[2])  # every group reads the same pattern
    return np.broadcast_to(_extremes(call, rising), x.shape)


@singledispatch
def boundary_values(op: Op, call: Call) -> Sequence[np.ndarray]:
    """Values of operand 0 next to which results change: thresholds of the operator, and exact halves.

    Empty for operators that have none.
    """
    return ()


@boundary_values.register(ByteFunction)
def _(op: ByteFunction, call: Call) -> Sequence[np.ndarray]:
    return _every_byte(call)


@boundary_values.register(Quantize)
def _(op: Quantize, call: Call) -> Sequence[np.ndarray]:
    """Floats halfway between two results, over the whole range; for integer operands, every byte."""
    x, y = call.input(0), call.output
    if not x.is_float:
        return _every_byte(call)
    low, high = y.limits
    steps = np.linspace(low, high - 1, min(x.size, high - low)).astype(np.int64) + 0.5 - y.zero_point
    return [np.resize(np.float32(y.scale) * steps.astype(np.float32), x.shape)]


@boundary_values.register(TreeEnsemble)
def _(op: TreeEnsemble, call: Call) -> Sequence[np.ndarray]:
    """Features that reach a node with exactly its threshold, and with the next greater number."""
    if any(c is None for c in call.constants[1:]):
        return ()
    forest = Forest(*(np.asarray(c) for c in call.constants[1:]))
    t = call.input(0)
    points = [vector.astype(t.np_dtype) for vector in _reaching(forest, t.shape[-1], MOST_NODES)]
    rows = t.size // t.shape[-1]
    groups = [points[k : k + rows] for k in range(0, len(points), rows)]
    return [np.stack([*group, *group[-1:] * (rows - len(group))]).reshape(t.shape) for group in groups]


def _every_byte(call: Call) -> Sequence[np.ndarray]:
    x = call.input(0)
    if not byte_to_byte(call):
        return ()
    count = -(-256 // max(x.size, 1))
    every = np.resize(np.arange(256, dtype=np.uint8).view(x.np_dtype), count * x.size)
    return [*every.reshape(count, *x.shape)]


def _reaching(forest: Forest, features: int, most: int) -> Iterator[np.ndarray]:
    """Feature vectors that reach a node with its threshold, and with the next greater number.

    At most `most` nodes are tried, spread evenly. A node that no such vector reaches is left out.
    """
    inner = np.flatnonzero(forest.inner)
    above = np.full(len(forest.nodes), -1)
    for branch in (1, 2):
        above[forest.nodes[inner, branch]] = inner
    for at in inner[np.unique(np.linspace(0, inner.size - 1, min(most, inner.size)).astype(int))].tolist():
        low: dict[int, float] = {}
        high: dict[int, float] = {}
        below, node = at, int(above[at])
        while node >= 0:
            feature, threshold = int(forest.nodes[node, 0]), float(forest.thresholds[node])
            if forest.nodes[node, 3] & DIFFERS:
                pass  # nearly every number takes this branch
            elif forest.nodes[node, 1] == below:
                high[feature] = min(high.get(feature, np.inf), threshold)
            else:
                low[feature] = max(low.get(feature, -np.inf), threshold)
            below, node = node, int(above[node])
        own, threshold = int(forest.nodes[at, 0]), float(forest.thresholds[at])
        vector = np.zeros(features)
        for feature in {*low, *high}:
            vector[feature] = high[feature] if feature in high else _next(forest, low[feature])
        for value in (threshold, _next(forest, threshold)):
            if low.get(own, -np.inf) < value <= high.get(own, np.inf):
                vector[own] = value
                yield vector.copy()


def _next(forest: Forest, value: float) -> float:
    """The next greater number in the type of the thresholds."""
    if forest.thresholds.dtype.kind != "f":
        return value + 1
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))
