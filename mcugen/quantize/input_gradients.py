"""Gradients with respect to operand 0, for operators with weights, pools and sums."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ops._reduce_sum import ReducedSum, divisor
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.max_pool_2d import MaxPool2D


@singledispatch
def input_gradient(op: Op, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """The gradient with respect to operand 0, or None if this operator has no rule here.

    x: operand 0; y: result before a fused activation; g: gradient with respect to y. All are float32; any number of
    samples is concatenated along the first axis. Elementwise operators and data movement have general rules in
    `slopes.py`.
    """
    return None


@input_gradient.register(Conv2D)
def _(op: Conv2D, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray:
    w = call.constant(1)
    groups = x.shape[3] // w.shape[3]
    parts = zip(np.split(g, groups, axis=3), np.split(w, groups), strict=True)
    shape, window = (*x.shape[:3], w.shape[3]), op.window(w.shape)
    images = [window.spread(shape, lambda i, j, g=g, w=w: g @ w[:, i, j]) for g, w in parts]  # type: ignore[misc]
    return images[0] if groups == 1 else np.concatenate(images, axis=3)


@input_gradient.register(DepthwiseConv2D)
def _(op: DepthwiseConv2D, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray:
    w = call.constant(1)
    several = (*g.shape[:3], x.shape[3], -1)
    return op.window(w.shape).spread(x.shape, lambda i, j: (g * w[0, i, j]).reshape(several).sum(axis=4))


@input_gradient.register(FullyConnected)
def _(op: FullyConnected, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray:
    w = call.constant(1)
    return np.asarray(g.reshape(-1, w.shape[0]) @ w).reshape(x.shape)


@input_gradient.register(AveragePool2D)
def _(op: AveragePool2D, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient is split evenly among the taps inside the image."""
    counts = np.asarray(sum(tap for _, _, tap in op.window.taps(np.ones(x[:1].shape), 0)))
    shared = (g / counts).astype(np.float32)
    return op.window.spread(x.shape, lambda i, j: shared)


@input_gradient.register(MaxPool2D)
def _(op: MaxPool2D, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient is split evenly among equal maxima."""
    is_most = {(i, j): tap == y for i, j, tap in op.window.taps(x, -np.inf)}
    shared = (g / np.maximum(sum(is_most.values()), 1)).astype(np.float32)
    return op.window.spread(x.shape, lambda i, j: shared * is_most[i, j])


@input_gradient.register(ReducedSum)
def _(op: ReducedSum, call: Call, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """Each element gets the gradient of its sum or mean; None if the first axis, that of samples, is summed."""
    axes = op.chosen(x.ndim)
    if 0 in axes:
        return None
    shape = [1 if k in axes else n for k, n in enumerate(x.shape)]
    return np.asarray(np.broadcast_to(g.reshape(shape) / np.float32(divisor(call)), x.shape))
