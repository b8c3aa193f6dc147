"""Kernels for x86-64: int8 data in vectors of AVX2. The functions that they become also run without it, slower."""

from __future__ import annotations

from mcugen.ir.call import Call
from mcugen.ir.kernel import Family
from mcugen.kernels.x86 import byte_dots, tap_pairs
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected

AVX2 = frozenset({"avx2"})


def slides(call: Call) -> bool:
    "the kernel is larger than 1x1, or has a stride"
    return not is_pointwise(call)


FAMILY = Family(
    rank=15,
    needs=AVX2,
    serves={
        Conv2D: (byte_dots.vectors("avx2", AVX2, is_pointwise), byte_dots.windows("avx2", AVX2, one_group, slides)),
        DepthwiseConv2D: (byte_dots.windows("avx2", AVX2, reads_one_channel), tap_pairs.DEPTHWISE),
        FullyConnected: (byte_dots.vectors("avx2", AVX2),),
    },
)
