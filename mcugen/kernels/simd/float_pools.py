"""Maximum pools of floats on application cores: 16 channels at a time."""

from __future__ import annotations

from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Text, Window
from mcugen.kernels.simd.block_scales import LANES
from mcugen.kernels.simd.float_tiles import NEEDS
from mcugen.ops import _pool, max_pool_2d


def has_a_block(call: Call) -> bool:
    "there are at least 16 channels"
    return call.output.shape[3] >= LANES


MAX = Kernel(
    "mg_max_pool_2d_f32__fma",
    Window(_pool.row_window, max_pool_2d.smallest),
    (_pool.float_data, has_a_block),
    max_pool_2d.params,
    text=Text(struct="mg_simd_max_pool_f32"),
    needs=NEEDS,
)
