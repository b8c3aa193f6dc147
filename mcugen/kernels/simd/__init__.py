"""Kernels for x86-64: int8 data in vectors of AVX2, AVX-VNNI or AVX512-VNNI, floats in vectors of FMA or AVX-512.

Without these they run too, slower.
"""

from __future__ import annotations

from mcugen.ir.call import Call, Rule
from mcugen.ir.kernel import Family, Kernel
from mcugen.kernels.simd import byte_dots, byte_sums, float_gates, float_taps, float_tiles, tap_pairs
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gru import Gru
from mcugen.ops.lstm import Lstm
from mcugen.ops.sub import Sub

AVX2 = frozenset({"avx2"})
VNNI = AVX2 | {"vnni"}
SETS = (("s8", "vnni", VNNI), ("s8", "avx2", AVX2), ("s8w16", "avx2", AVX2))
"""Kernels with weights of a type that use all sets, or those up to AVX2, with the features that they need."""


def slides(call: Call) -> bool:
    "the kernel is larger than 1x1, or has a stride"
    return not is_pointwise(call)


def _vectors(*rules: Rule) -> tuple[Kernel, ...]:
    return tuple(byte_dots.vectors(types, how, needs, *rules) for types, how, needs in SETS)


def _windows(*rules: Rule) -> tuple[Kernel, ...]:
    return tuple(byte_dots.windows(types, how, needs, *rules) for types, how, needs in SETS)


FAMILY = Family(
    rank=15,
    needs=VNNI | float_tiles.NEEDS,
    serves={
        Conv2D: (
            *_vectors(is_pointwise),
            *_windows(one_group, slides),
            float_tiles.VECTORS.ruled(is_pointwise),
            float_tiles.WINDOW.ruled(one_group, slides),
        ),
        DepthwiseConv2D: (
            *_windows(reads_one_channel),
            tap_pairs.DEPTHWISE,
            float_tiles.WINDOW.ruled(reads_one_channel),
            float_taps.DEPTHWISE,
        ),
        FullyConnected: (*_vectors(), float_tiles.VECTORS),
        Lstm: (float_gates.LSTM,),
        Gru: (float_gates.GRU,),
        Add: (byte_sums.SUM,),
        Sub: (byte_sums.SUM,),
    },
)
