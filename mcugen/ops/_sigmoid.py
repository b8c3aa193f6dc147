"""Shared recipe of LOGISTIC and TANH: scaling of 8-bit inputs to Q4, and the table for int16."""

from __future__ import annotations

import math

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import Ints, multiply_double_rounding, round_half_away

_INPUT_BITS = 4


def table() -> np.ndarray:
    """sigmoid(i / 24) for i < 256 with 16 fractional bits, plus half the error of linear interpolation between entries.

    Linear interpolation between points h apart misses f by at most h * h * f'' / 8. The last entry is 65535.
    Source: common.h, sigmoid_table_uint16.
    """
    h = 1.0 / 24.0
    s = 1.0 / (1.0 + np.exp(-h * np.arange(256)))
    curvature = s * (1.0 - s) * (1.0 - 2.0 * s)
    entries = np.floor(65536.0 * (s - h * h * curvature / 16.0) + 0.5)
    entries[-1] = 65535.0
    return np.asarray(entries, np.uint16)


def undefined(call: Call, runtime: str) -> str:
    """Why TFLM's result for int8 data is undefined behaviour in C; "" if it is defined. Source: CalculateInputRadius.
    """
    x = call.input(0)
    if runtime != "tflm" or x.dtype != "s8" or float(np.float32(x.scale)) >= 2.0 ** (_INPUT_BITS - 32):
        return ""
    return f"it shifts by a negative number for an input scale of {x.scale:.3g}, below 2**{_INPUT_BITS - 32}"


def scaled_to_q4(call: Call, x: np.ndarray) -> tuple[Ints, Ints]:
    """(x in Q4, 0 or the sign of x if x is beyond the range of Q4). Source: logistic_common.cc, tanh.cc."""
    mantissa, shift = math.frexp(float(np.float32(call.input(0).scale)) * (1 << (31 - _INPUT_BITS)))
    mult = round_half_away(mantissa * 2**31)
    limit = (2**_INPUT_BITS - 1) * 2.0 ** (31 - _INPUT_BITS) / 2.0**shift
    centred = x.astype(np.int64) - call.input(0).zero_point
    radius = math.floor(limit)  # 0 for coarse scales: then even the zero point counts as below the range
    beyond = np.select([centred <= -radius, centred >= radius], [-1, 1], 0)
    return multiply_double_rounding(np.where(beyond != 0, 0, centred), mult, shift), beyond


def s16_multiplier(call: Call, shifts: tuple[int, ...]) -> tuple[int, int]:
    """(mult, shift) that scale an int16 input to units of 1 / (3 * 4096). mult 0: the input is only shifted left.

    shifts: left shifts, relative to an input scale of 2**-12, for which the runtime uses no multiplier.
    Source: logistic_common.cc, tanh.cc.
    """
    exponent = math.log2(float(np.float32(call.input(0).scale)))
    left = 12 + round(exponent)
    if abs(exponent - round(exponent)) < 1e-3 and left in shifts:
        return 0, left
    real, shift = float(np.float32(call.input(0).scale)) * 4096.0 * 3.0, 0
    while real <= 32767.0 / 2.0 and shift <= 30:
        real, shift = real * 2.0, shift + 1
    if real > 32767.0:
        raise UnsupportedError(f"input scale {call.input(0).scale:.3g} is too large for int16")
    return int(real), shift
