"""Sums of float tensors on application cores, 16 elements at a time."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.kernels.simd.float_tiles import NEEDS
from mcugen.ops import _elementwise


def _params(call: Call) -> Params:
    low, high = np.array(_elementwise.float_bounds(call), np.float32)
    return {"out_min": low, "out_max": high}


SUM = Kernel(
    "mg_add_f32__fma",
    Run(lambda call: call.output.size),
    (_elementwise.of_type("f32"), _elementwise.equal_shapes),
    _params,
    in_place=(0, 1),
    text=Text(struct="mg_simd_sum_f32"),
    needs=NEEDS,
)
