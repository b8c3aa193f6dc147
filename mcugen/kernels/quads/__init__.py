"""Float kernels for cores with a floating-point unit: four pixels times four channels, held in its registers."""

from __future__ import annotations

from mcugen.kernel import Family
from mcugen.kernels.quads.floats import DEPTHWISE, NEEDS, RUN, VECTOR, WINDOW
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, one_output_each, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected

FAMILY = Family(
    rank=40,
    needs=NEEDS,
    serves={
        Conv2D: (RUN.ruled(is_pointwise), WINDOW.ruled(one_group)),
        DepthwiseConv2D: (WINDOW.ruled(reads_one_channel), DEPTHWISE.ruled(one_output_each)),
        FullyConnected: (VECTOR,),
    },
)
