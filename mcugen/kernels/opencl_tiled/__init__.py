"""OpenCL kernels with local memory: products of matrices by tiles, and a matrix times one vector."""

from __future__ import annotations

from mcugen.ir.kernel import Family
from mcugen.kernels.opencl_tiled import matmul
from mcugen.kernels.opencl_tiled.dots import DOT, DOTS
from mcugen.kernels.opencl_tiled.matrix_vector import VECTOR_S8
from mcugen.kernels.opencl_tiled.products import F32, NEEDS, RESIDUAL, S8, SCALED, SPLIT_F32, SPLIT_S8, VECTOR
from mcugen.kernels.opencl_tiled.summed_conv import SUMMED
from mcugen.ops._residual import ResidualConv2D
from mcugen.ops._scaled import ScaledConv2D
from mcugen.ops._summed import SummedConv2D
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D, one_group
from mcugen.ops.fully_connected import FullyConnected

FAMILY = Family(
    rank=10,
    needs=NEEDS | {DOT},
    serves={
        BatchMatmul: (matmul.VECTOR, matmul.PAIR),
        Conv2D: tuple(kernel.ruled(one_group) for kernel in (VECTOR, F32, SPLIT_F32, VECTOR_S8, *DOTS, S8, SPLIT_S8)),
        ResidualConv2D: RESIDUAL,
        ScaledConv2D: SCALED,
        SummedConv2D: SUMMED,
        FullyConnected: (VECTOR, F32, SPLIT_F32, VECTOR_S8, *DOTS, S8, SPLIT_S8),
    },
    device=True,
)
