"""Average pools of whole int8 images for cores with Helium."""

from __future__ import annotations

from mcugen.ir.kernel import Form, Kernel
from mcugen.kernels.helium import packing
from mcugen.ops import _pool
from mcugen.ops.average_pool_2d import by_runtime, is_global, params_int, sums_bytes, sums_fit

AVERAGE = Kernel(
    "mg_average_pool_2d_s8__mve_global",
    Form.ACCUMULATE,
    accepts=(_pool.int8_data, sums_fit, is_global, by_runtime),
    params=params_int,
    scratch=sums_bytes,
    work=packing.vector_work,
    terms=packing.VECTOR_TERMS,
    needs=packing.NEEDS,
)
