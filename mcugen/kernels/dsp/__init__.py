"""Kernels for cores with the DSP instructions of Armv7E-M and Armv8-M: int16 products by twos, with SMLAD."""

from __future__ import annotations

from mcugen.call import Call
from mcugen.kernel import Family
from mcugen.kernels.dsp import conv, planar, scaling, vector
from mcugen.ops import conv2d, depthwise_conv2d, fully_connected
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected


def _rounds_twice(_: Call) -> bool:
    """Convolutions of int8 round twice in all runtimes."""
    return False


_DENSE = conv.Convolution(conv2d.window_of, conv2d.activation_of, conv2d.matrix)
_DEPTHWISE = conv.Convolution(depthwise_conv2d.window_of, depthwise_conv2d.activation_of, depthwise_conv2d.matrix)
_VECTORS = vector.Vectors(
    fully_connected.matrix, fully_connected.activation_of, fully_connected.rounds_once, fully_connected.vectors
)

FAMILY = Family(
    rank=20,
    needs=scaling.DSP,
    serves={
        Conv2D: (
            *conv.run_kernels(_DENSE, conv2d.is_pointwise, conv2d.pixels),
            *vector.Vectors(conv2d.matrix, conv2d.activation_of, _rounds_twice, conv2d.pixels).kernels(
                conv2d.is_pointwise
            ),
            *conv.ring_kernels(_DENSE, conv2d.row_window, conv2d.one_group),
        ),
        DepthwiseConv2D: (
            *conv.ring_kernels(_DEPTHWISE, depthwise_conv2d.row_window, depthwise_conv2d.reads_one_channel),
            *planar.kernels(depthwise_conv2d.window_of),
        ),
        FullyConnected: _VECTORS.kernels(),
    },
)
