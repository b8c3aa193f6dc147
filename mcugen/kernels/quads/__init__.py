"""Float kernels for cores with a floating-point unit: four pixels times four channels, held in its registers."""

from __future__ import annotations

from mcugen.kernel import Family
from mcugen.kernels.quads import floats
from mcugen.ops import conv2d, depthwise_conv2d, fully_connected
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected

FAMILY = Family(
    rank=40,
    needs=floats.NEEDS,
    serves={
        Conv2D: (
            floats.run_kernel("mg_conv2d_f32__quads_pointwise", conv2d.matrix, conv2d.pixels, conv2d.is_pointwise),
            floats.window_kernel(
                "mg_conv2d_f32__quads", conv2d.matrix, conv2d.window_of, conv2d.row_window, conv2d.one_group
            ),
        ),
        DepthwiseConv2D: (
            floats.window_kernel(
                "mg_conv2d_f32__quads",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.reads_one_channel,
            ),
            floats.depthwise_kernel(
                "mg_depthwise_conv2d_f32__quads",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.one_output_each,
            ),
        ),
        FullyConnected: (
            floats.vector_kernel("mg_fully_connected_f32__eights", fully_connected.matrix, fully_connected.vectors),
        ),
    },
)
