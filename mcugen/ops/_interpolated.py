"""Interpolation tables for functions of int16: 512 intervals of 128 input values, 513 entries.

Source: kernels/internal/common.h, LUTPopulateInt16 and LUTLookup.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcugen.ir.fixed_point import round_array_half_away

STEPS = 512
_LOW, _HIGH = -32768, 32767


def populate(
    function: Callable[[np.ndarray], np.ndarray],
    input_range: tuple[float, float],
    output_scale: float,
    precision: type[np.floating[Any]],
) -> np.ndarray:
    """The 513 entries for `function` on input_range, each corrected by half the error at the middle of its interval.

    output_scale: output units per real unit. precision: the float type that the runtime computes in.
    """
    low, high = (precision(v) for v in input_range)
    step = precision((high - low) / precision(STEPS))
    scale = precision(output_scale)
    start = low + np.arange(STEPS).astype(precision) * step
    following = low + np.arange(1, STEPS + 1).astype(precision) * step
    sample = round_array_half_away(function(start) * scale)
    halfway = round_array_half_away((function(following) * scale + sample) / precision(2))
    error = halfway - round_array_half_away(function(start + step / precision(2)) * scale)
    entries = np.clip(sample - round_array_half_away(error / precision(2)), _LOW, _HIGH)
    last = np.clip(round_array_half_away(function(np.array([high], precision)) * scale), _LOW, _HIGH)
    return np.concatenate([entries, last]).astype(np.int16)
