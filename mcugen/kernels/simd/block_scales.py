"""Requantization in vectors: constants per channel, filled up to whole blocks of channels."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Param, fact
from mcugen.ir.fixed_point import wrap32
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, rounds_once

LANES = 16
"""Output channels that are computed together."""


def scales_down(call: Call) -> bool:
    "the operator leaves rounding to the runtime, and scales the int8 sums of all channels by less than one half"
    if _rounding.is_stated(call) or not _filter.int8_outside(call) or not _filter.constant_weights(call):
        return False
    shift = _filter.multipliers(call, matrix(call).shape[0])[1]
    return bool(shift.max(initial=-1) < 0)


def blocks(channels: int) -> int:
    """Number of blocks of channels."""
    return -(-channels // LANES)


def filled(values: np.ndarray, multiple: int = LANES, with_value: int = 0) -> np.ndarray:
    """The values [n, ...], filled up to a multiple of `multiple` along the first axis."""
    more = -len(values) % multiple
    return np.pad(values, [(0, more), *[(0, 0)] * (values.ndim - 1)], constant_values=with_value)


@fact
def fields(call: Call, offset: int) -> dict[str, Param]:
    """The fields of mg_simd_scale, by their names. offset: what kernels add to stored data; the bias takes it back."""
    w = matrix(call)
    mult, shift = _filter.multipliers(call, w.shape[0])
    bias = _filter.bias_of(call, w.shape[0]) - offset * w.sum(axis=1)
    clamp = _filter.clamp_fields(activation_of(call), call.output)
    return {
        "bias": filled(wrap32(bias).astype(np.int32)),
        "mult": filled(mult),
        "right": filled((-shift).astype(np.uint8), with_value=1),
        "zero_point": clamp["out_zero_point"],
        "low": clamp["out_min"],
        "high": clamp["out_max"],
        "once": int(rounds_once(call)),
    }
