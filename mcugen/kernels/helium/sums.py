"""The int8 Helium kernel for sums and differences: a table for the operand of the smaller scale."""

from __future__ import annotations

import numpy as np

from mcugen.call import Call, Params
from mcugen.kernel import Form, Kernel
from mcugen.kernels.helium import packing
from mcugen.numeric import activation_range
from mcugen.ops import _elementwise, _pairs, _sum
from mcugen.ops.sub import Sub


def shifts(call: Call) -> bool:
    "the result is scaled by less than one half"
    return call.output.dtype == "s8" and _sum.constants(call, _sign(call)).y[1] < 0


def _sign(call: Call) -> int:
    return -1 if isinstance(call.op, Sub) else 1


def _elements(call: Call) -> int:
    return call.output.size


def _params(call: Call) -> Params:
    sign = _sign(call)
    c = _sum.constants(call, sign)
    low, high = activation_range(call.op.activation, call.output)
    wide = 0 if c.a == (2**30, 0) else 1
    signs = (1, sign)
    factor = signs[wide] << (c.left - 1)
    stored = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int64)
    narrow = _sum.scaled(stored - call.input(1 - wide).zero_point, c.left, c.b if wide == 0 else c.a)
    return {
        "narrow_terms": (signs[1 - wide] * narrow - call.input(wide).zero_point * factor).astype(np.int32),
        "wide_factor": factor,
        "out_mult": c.y[0],
        "out_shift": -c.y[1],
        "out_zero_point": call.output.zero_point,
        "out_min": low,
        "out_max": high,
        "narrow_first": int(wide == 1),
    }


SUM = Kernel(
    "mg_add_s8__mve",
    Form.POINTWISE,
    (_elementwise.of_type("s8"), _elementwise.equal_shapes, _pairs.by_runtime, _sum.scales_near, shifts),
    _params,
    _elements,
    in_place=(0, 1),
    struct="mg_add_s8__mve",
    needs=packing.NEEDS,
)
"""Sums and differences."""
