"""Kernels that pack two channels into a word, for cores that multiply words in few cycles and have no SIMD
instructions.
"""

from __future__ import annotations

from mcugen.ir.kernel import Family
from mcugen.kernels.swar import columns, conv_direct, four_dots, matmul_bytes, vectors
from mcugen.kernels.swar.words import DEPTHWISE, DEPTHWISE_DIRECT, RUN, WINDOW
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, one_output_each, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected, single_rounding_fits

FAMILY = Family(
    rank=30,
    needs=frozenset(),
    serves={
        BatchMatmul: (matmul_bytes.KERNEL,),
        Conv2D: (
            RUN.ruled(is_pointwise),
            WINDOW.ruled(one_group),
            vectors.DIRECT.ruled(is_pointwise),
            conv_direct.POINTWISE.ruled(is_pointwise),
            conv_direct.WINDOW.ruled(one_group),
            four_dots.VECTOR.ruled(is_pointwise),
            four_dots.WINDOW.ruled(one_group),
        ),
        FullyConnected: (
            *(kernel.ruled(single_rounding_fits) for kernel in (vectors.VECTOR, vectors.DIRECT)),
            four_dots.VECTOR,
        ),
        DepthwiseConv2D: (
            WINDOW.ruled(reads_one_channel),
            conv_direct.WINDOW.ruled(reads_one_channel),
            DEPTHWISE.ruled(one_output_each),
            DEPTHWISE_DIRECT.ruled(one_output_each),
            columns.KERNEL.ruled(one_output_each),
            four_dots.WINDOW.ruled(reads_one_channel),
        ),
    },
)
