"""Float kernels for cores with a floating-point unit: four pixels times four channels, or eight outputs of a vector,
held in its registers."""

from __future__ import annotations

from mcugen.ir.call import Rule
from mcugen.ir.kernel import Family, Kernel
from mcugen.kernels.quads import matmul_quads
from mcugen.kernels.quads.gates import GRU, LSTM
from mcugen.kernels.quads.pixel_quads import DEPTHWISE, HALVES, NEEDS, RUN, VECTOR, WINDOW
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, one_output_each, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gru import Gru
from mcugen.ops.lstm import Lstm


def both(kernel: Kernel, *rules: Rule) -> tuple[Kernel, ...]:
    """A kernel and its variant with float16 weights."""
    return kernel.ruled(*rules), HALVES[kernel].ruled(*rules)


FAMILY = Family(
    rank=40,
    needs=NEEDS,
    serves={
        BatchMatmul: (matmul_quads.KERNEL,),
        Conv2D: (*both(RUN, is_pointwise), *both(WINDOW, one_group)),
        DepthwiseConv2D: (*both(WINDOW, reads_one_channel), *both(DEPTHWISE, one_output_each)),
        FullyConnected: both(VECTOR),
        Gru: (GRU,),
        Lstm: (LSTM,),
    },
)
