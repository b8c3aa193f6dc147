"""Kernels for cores with Helium (MVE): int8 data in vectors of 16, floats in vectors of four."""

from __future__ import annotations

from mcugen.ir.call import Call
from mcugen.ir.kernel import Family
from mcugen.kernels.helium import (
    conv,
    dense,
    depthwise,
    direct,
    flat,
    floats,
    fourier,
    hybrid_fours,
    lanes,
    matmul_vectors,
    outliers,
    packing,
    pairs,
    pieces,
    pools,
    shared,
    sums,
    woven,
)
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, one_output_each, reads_one_channel
from mcugen.ops.element_chain import ElementChain
from mcugen.ops.fully_connected import FullyConnected, rounds_twice
from mcugen.ops.hybrid_conv2d import HybridConv2D
from mcugen.ops.mul import Mul
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.ops.relu import Relu
from mcugen.ops.sub import Sub


def slides(call: Call) -> bool:
    "the kernel is larger than 1x1, or has a stride"
    return not is_pointwise(call)


FAMILY = Family(
    rank=10,
    needs=packing.NEEDS | floats.NEEDS,
    serves={
        Conv2D: (
            *dense.kernels(is_pointwise),
            woven.kernel(one_group),
            flat.kernel(one_group),
            *conv.kernels(one_group, slides),
            shared.kernel(one_group),
            pieces.kernel(one_group),
            pairs.kernel(one_group),
            direct.kernel(one_group),
            outliers.vectors(is_pointwise),
            outliers.patches(one_group, slides),
            outliers.shared_patches(one_group),
            floats.RUN.ruled(is_pointwise),
            floats.WINDOW.ruled(one_group),
            floats.HALF_RUN.ruled(is_pointwise),
            floats.HALF_WINDOW.ruled(one_group),
        ),
        DepthwiseConv2D: (
            woven.kernel(reads_one_channel),
            *conv.kernels(reads_one_channel),
            shared.kernel(reads_one_channel),
            pieces.kernel(reads_one_channel),
            pairs.kernel(reads_one_channel),
            direct.kernel(reads_one_channel),
            outliers.patches(reads_one_channel),
            outliers.shared_patches(reads_one_channel),
            *depthwise.KERNELS,
            floats.WINDOW.ruled(reads_one_channel),
            floats.HALF_WINDOW.ruled(reads_one_channel),
            floats.DEPTHWISE.ruled(one_output_each),
        ),
        FullyConnected: (*dense.kernels(rounds_twice), outliers.vectors(rounds_twice), floats.RUN, floats.HALF_RUN),
        HybridConv2D: (hybrid_fours.CONV,),
        Add: (sums.SUM, sums.LINE, floats.ADD),
        Sub: (sums.SUM, sums.LINE, floats.SUB),
        BatchMatmul: (matmul_vectors.KERNEL,),
        Mul: (floats.MUL,),
        Relu: (floats.CLAMP,),
        AveragePool2D: (pools.AVERAGE,),
        PowerSpectrum: fourier.POWER,
        ElementChain: (lanes.CHAIN,),
    },
)
