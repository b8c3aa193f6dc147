"""Kernels for application cores: on x86-64 int8 data in vectors of AVX2, AVX-VNNI or AVX512-VNNI, and floats in vectors
of FMA or AVX-512; on 64-bit Arm both in vectors of NEON, and int8 data with its dot products.

Without these they run too, slower.
"""

from __future__ import annotations

from mcugen.ir.call import Call, Rule
from mcugen.ir.kernel import Family, Kernel
from mcugen.kernels.simd import (
    byte_dots,
    byte_sums,
    float_gates,
    float_pools,
    float_sums,
    float_taps,
    float_tiles,
    tap_pairs,
)
from mcugen.kernels.simd.byte_dots import FLIP, ByteSet, no_least_weight
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gru import Gru
from mcugen.ops.lstm import Lstm
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.sub import Sub

AVX2 = frozenset({"avx2"})
VNNI = AVX2 | {"vnni"}
NEON = frozenset({"neon"})
DOTPROD = NEON | {"dotprod"}
SETS = (
    ByteSet("s8", "vnni", VNNI, FLIP),
    ByteSet("s8", "avx2", AVX2, FLIP),
    ByteSet("s8w16", "avx2", AVX2, FLIP),
    ByteSet("s8", "dotprod", DOTPROD, 0, (no_least_weight,)),
    ByteSet("s8", "neon", NEON, 0, (no_least_weight,)),
    ByteSet("s8w16", "neon", NEON, 0),
)


def slides(call: Call) -> bool:
    "the kernel is larger than 1x1, or has a stride"
    return not is_pointwise(call)


def _vectors(*rules: Rule) -> tuple[Kernel, ...]:
    return tuple(byte_dots.vectors(each, *rules) for each in SETS)


def _windows(*rules: Rule) -> tuple[Kernel, ...]:
    return tuple(byte_dots.windows(each, *rules) for each in SETS)


SUMS = (byte_sums.sums("avx2"), byte_sums.sums("neon"))

FAMILY = Family(
    rank=15,
    needs=VNNI | DOTPROD | float_tiles.NEEDS,
    serves={
        Conv2D: (
            *_vectors(is_pointwise),
            *_windows(one_group, slides),
            float_tiles.VECTORS.ruled(is_pointwise),
            float_tiles.WINDOW.ruled(one_group, slides),
        ),
        DepthwiseConv2D: (
            *_windows(reads_one_channel),
            tap_pairs.depthwise_bytes("neon", no_least_weight),
            *(tap_pairs.depthwise(how) for how in ("avx2", "neon")),
            float_tiles.WINDOW.ruled(reads_one_channel),
            float_taps.DEPTHWISE,
        ),
        FullyConnected: (*_vectors(), float_tiles.VECTORS),
        MaxPool2D: (float_pools.MAX,),
        Lstm: (float_gates.LSTM,),
        Gru: (float_gates.GRU,),
        Add: (*SUMS, float_sums.SUM),
        Sub: SUMS,
    },
)
