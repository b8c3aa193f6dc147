"""OpenCL kernels without local memory: elementwise operators, pooling, depthwise convolution, reductions, data
movement.
"""

from __future__ import annotations

from mcugen.ir.kernel import Family, Kernel
from mcugen.ir.op import Op
from mcugen.kernels.grid import of_loop
from mcugen.kernels.opencl_basic import casts, channel_windows, grouped_conv, lookups, movement, reductions, tables
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.copy import Copy
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.gather import Gather
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mean import Mean
from mcugen.ops.pad import Pad
from mcugen.ops.quantize import Quantize
from mcugen.ops.reinterpret import Reinterpret
from mcugen.ops.resize_nearest_neighbor import ResizeNearestNeighbor
from mcugen.ops.softmax import Softmax
from mcugen.ops.sum import Sum
from mcugen.ops.transpose_conv import TransposeConv

NEEDS = frozenset({"cl12"})


def elements(kind: type[Op]) -> tuple[Kernel, ...]:
    """The kernels generated from the elementwise expressions of an operator."""
    return tuple(of_loop(kernel, NEEDS) for kernel in kind.kernels if kernel.text.generate)


FAMILY = Family(
    rank=20,
    needs=NEEDS,
    serves={
        BatchMatmul: (lookups.MATMUL_F32, lookups.MATMUL_S8),
        AveragePool2D: (channel_windows.AVERAGE_F32, channel_windows.AVERAGE_S8, channel_windows.AVERAGE_LINE_S8),
        Cast: casts.CASTS,
        Concatenation: movement.JOIN,
        Conv2D: (grouped_conv.GROUPED_F32, grouped_conv.GROUPED_S8),
        Copy: (movement.COPY,),
        DepthwiseConv2D: (channel_windows.DEPTHWISE_F32, channel_windows.DEPTHWISE_S8),
        Dequantize: (lookups.DEQUANTIZE,),
        Gather: (lookups.GATHER,),
        MaxPool2D: (channel_windows.MAX_F32, channel_windows.MAX_S8),
        Mean: (reductions.GLOBAL_SUM_F32, reductions.GLOBAL_SUM_S8, reductions.SUM_F32),
        Pad: (movement.PAD,),
        Quantize: (casts.QUANTIZE,),
        Reinterpret: (movement.COPY,),
        ResizeNearestNeighbor: (movement.NEAREST,),
        Softmax: (reductions.SOFTMAX_F32, reductions.SOFTMAX_S8),
        Sum: (reductions.GLOBAL_SUM_F32, reductions.SUM_F32),
        TransposeConv: grouped_conv.TRANSPOSED,
    },
    device=True,
    derives=lambda kind: (*elements(kind), *tables.of_bytes(kind), *movement.of_views(kind)),
)
