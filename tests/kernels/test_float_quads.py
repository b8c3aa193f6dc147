# SPDX-License-Identifier: Apache-2.0
"""Float kernels on blocks of four: what they refuse, how weights are packed, and that sums are the same every time."""

from __future__ import annotations

import numpy as np

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected

FPU = frozenset({"fpu"})
DENSE = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_f32__quads")
DEPTHWISE = next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == "mg_depthwise_conv2d_f32__quads")
VECTOR = next(k for k in kernels.of(FullyConnected) if k.symbol == "mg_fully_connected_f32__eights")


def dense(activation: str = "NONE", channels: int = 5) -> Call:
    w = np.arange(channels * 18, dtype=np.float32).reshape(channels, 3, 3, 2)
    b = -np.arange(channels, dtype=np.float32) - 1
    types = tuple(TensorType(s, "f32") for s in ((1, 6, 7, 2), w.shape, b.shape))
    return Call(Conv2D(activation=activation), types, (TensorType((1, 6, 7, channels), "f32"),), (None, w, b), "tflm")


def depthwise(channels: int) -> Call:
    w = np.arange(9 * channels, dtype=np.float32).reshape(1, 3, 3, channels)
    b = -np.arange(channels, dtype=np.float32) - 1
    x = TensorType((1, 6, 7, channels), "f32")
    types = (x, TensorType(w.shape, "f32"), TensorType(b.shape, "f32"))
    return Call(DepthwiseConv2D(), types, (x,), (None, w, b), "tflm")


def test_quads_hold_biases_then_taps_and_zeros_beyond_the_last_channel() -> None:
    call = dense()
    assert DENSE.params is not None
    quads = np.asarray(DENSE.params(call)["weights"]).reshape(2, 19, 4)
    np.testing.assert_array_equal(quads[:, 0].reshape(-1), [-1, -2, -3, -4, -5, 0, 0, 0])
    want = call.constant(1).reshape(5, 18)
    np.testing.assert_array_equal(quads[:, 1:].transpose(0, 2, 1).reshape(8, 18)[:5], want)
    assert not quads[1, :, 1:].any()


def test_the_last_quad_of_a_depthwise_kernel_ends_with_the_last_channel() -> None:
    assert DEPTHWISE.params is not None
    quads = np.asarray(DEPTHWISE.params(depthwise(6))["weights"]).reshape(2, 10, 4)
    np.testing.assert_array_equal(quads[:, 0], [[-1, -2, -3, -4], [-3, -4, -5, -6]])
    np.testing.assert_array_equal(quads[1, 1], [2, 3, 4, 5])


def test_other_bounds_fewer_channels_and_cores_without_float_are_refused() -> None:
    assert not DENSE.refusals(dense("RELU6"), FPU)
    assert DENSE.refusals(dense("RELU_N1_TO_1"), FPU) == ["the activation is NONE, RELU or RELU6"]
    assert DENSE.refusals(dense(), frozenset()) == ["the core has no fpu"]
    assert not DEPTHWISE.refusals(depthwise(4), FPU)
    assert DEPTHWISE.refusals(depthwise(3), FPU) == ["there are at least four channels"]


def test_vectors_read_eights_of_outputs() -> None:
    w = np.arange(30, dtype=np.float32).reshape(10, 3)
    b = -np.arange(10, dtype=np.float32) - 1
    types = tuple(TensorType(s, "f32") for s in ((2, 3), w.shape, b.shape))
    call = Call(FullyConnected(), types, (TensorType((2, 10), "f32"),), (None, w, b), "tflm")
    assert VECTOR.params is not None and not VECTOR.refusals(call, FPU)
    eights = np.asarray(VECTOR.params(call)["weights"]).reshape(2, 4, 8)
    np.testing.assert_array_equal(eights[:, 0].reshape(-1)[:10], b)
    np.testing.assert_array_equal(eights[:, 1:].transpose(0, 2, 1).reshape(16, 3)[:10], w)
    assert not eights[1, :, 2:].any()
