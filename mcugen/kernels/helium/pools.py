"""Average pools of whole int8 images for cores with Helium."""

from __future__ import annotations

from mcugen.ir.kernel import Accumulate, Cost, Kernel
from mcugen.kernels.helium import packing
from mcugen.ops import _pool
from mcugen.ops.average_pool_2d import by_runtime, is_global, params_int, sums_bytes, sums_fit

AVERAGE = Kernel(
    "mg_average_pool_2d_s8__mve_global",
    Accumulate(),
    accepts=(_pool.int8_data, sums_fit, is_global, by_runtime),
    params=params_int,
    scratch=sums_bytes,
    cost=Cost(packing.vector_work, packing.VECTOR_TERMS),
    needs=packing.NEEDS,
)
