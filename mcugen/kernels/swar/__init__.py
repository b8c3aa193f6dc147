"""Kernels on words of two channels, for cores that multiply words in few cycles and have no instructions for halves."""

from __future__ import annotations

from mcugen.kernel import Family
from mcugen.kernels.swar import words
from mcugen.ops import conv2d, depthwise_conv2d
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D

FAMILY = Family(
    rank=30,
    needs=frozenset(),
    serves={
        Conv2D: (
            words.run_kernel("mg_conv2d_s8__swar_pointwise", conv2d.matrix, conv2d.pixels, conv2d.is_pointwise),
            words.window_kernel(
                "mg_conv2d_s8__swar", conv2d.matrix, conv2d.window_of, conv2d.row_window, conv2d.one_group
            ),
        ),
        DepthwiseConv2D: (
            words.window_kernel(
                "mg_conv2d_s8__swar",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.reads_one_channel,
            ),
            words.depthwise_kernel(
                "mg_depthwise_conv2d_s8__swar",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.one_output_each,
            ),
        ),
    },
)
