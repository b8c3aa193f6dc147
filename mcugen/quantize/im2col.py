"""Operand 0 of a layer as a matrix, so that its sums are one product of matrices (im2col)."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected


@singledispatch
def im2col(op: Op, call: Call, x: np.ndarray, every: int) -> np.ndarray | None:
    """Operand 0 as a matrix of input rows, float32 [groups, rows, taps]; None if the operator has no such form.

    Results without bias: rows[g] @ w[g].T, where w is `matrix(call)` reshaped to [groups, outputs of a group, taps].
    x: operand 0 of any number of samples, concatenated along the first axis. every: stride at which rows and columns
    of result images are computed.
    """
    return None


@im2col.register(Conv2D)
def _(op: Conv2D, call: Call, x: np.ndarray, every: int) -> np.ndarray:
    w = call.input(1).shape
    count, windows = int(np.prod(w[1:])), op.window(w).patches(x, every)
    if x.shape[3] == w[3]:
        return windows.reshape(1, -1, count)
    parts = windows.reshape(*windows.shape[:5], -1, w[3]).transpose(5, 0, 1, 2, 3, 4, 6)
    return parts.reshape(len(parts), -1, count)


@im2col.register(DepthwiseConv2D)
def _(op: DepthwiseConv2D, call: Call, x: np.ndarray, every: int) -> np.ndarray:
    """The image is transposed once to have channels first: a tap of all rows is then a copy of adjacent pixels."""
    channels = x.shape[3]
    planes = np.ascontiguousarray(x.transpose(3, 0, 1, 2)).reshape(-1, *x.shape[1:3], 1)
    around = op.window(call.input(1).shape).taps(planes, 0.0)
    taps = [tap[:, ::every, ::every].reshape(channels, -1) for _, _, tap in around]
    return np.stack(taps, axis=1).swapaxes(1, 2)


@im2col.register(FullyConnected)
def _(op: FullyConnected, call: Call, x: np.ndarray, every: int) -> np.ndarray:
    return x.reshape(1, -1, call.input(1).shape[1])
