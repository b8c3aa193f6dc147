"""Bounds of sums of products, and of their requantized results, for operators with constant weights."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.fixed_point import activation_range, multiply_double_rounding, multiply_single_rounding
from mcugen.ir.ranges import Range, filled
from mcugen.ops import _filter, _rounding

_LEAST, _MOST = -(2**31), 2**31 - 1
_ROOM = 2**16
"""Bound on the magnitude of the output zero point, which is added after scaling."""


def sums(call: Call, w: np.ndarray, taps: Range, *, may_skip: bool) -> Range:
    """Bounds of bias + sum of w * (x - zero point) for each output channel, exact unless taps share data.

    w: [channels, taps], zero points removed; taps: bounds of the data under each tap, [channels or 1, taps or 1];
    may_skip: whether a tap may fall outside the data, where it adds nothing.
    """
    zero = call.input(0).zero_point
    low, high = taps.low - zero, taps.high - zero
    if may_skip:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    rising, falling = np.maximum(w, 0), np.minimum(w, 0)
    bias = _filter.bias_of(call, w.shape[0])
    least = _products(rising, low) + _products(falling, high)
    return Range(bias + least, bias + _products(rising, high) + _products(falling, low))


def _products(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sums over the taps, [channels]; in float64, exact below 2**53."""
    if x.shape[1] == 1:
        return np.asarray(w.sum(axis=1) * x[:, 0])
    if x.shape[0] == 1:
        return np.asarray((w.astype(np.float64) @ x[0].astype(np.float64)).astype(np.int64))
    return np.asarray((w * x).sum(axis=1))


def results(call: Call, found: Range | None, activation: str, *, once: bool = False) -> tuple[Range | None, ...]:
    """Bounds of the stored results for sums within `found`.

    Channels whose sum may wrap or saturate get the bounds of the activation. once: whether requantization rounds once,
    not twice.
    """
    if call.output.is_float:
        return (None,)
    bounds = activation_range(activation, call.output)
    channels = call.output.shape[-1]
    if _rounding.is_stated(call):
        return _rounding.bounds(call, activation) or (filled(channels, *bounds),)
    if found is None or _filter.is_wide(call):
        return (filled(channels, *bounds),)
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, channels))
    ends = [np.clip(v, _LEAST, _MOST) for v in (found.low, found.high)]
    left = np.maximum(shift, 0) * (not once)
    sure = (found.low >= _LEAST) & (found.high <= _MOST)
    sure &= (ends[0] << left >= _LEAST) & (ends[1] << left <= _MOST)
    multiply = multiply_single_rounding if once else multiply_double_rounding
    scaled = [np.asarray(multiply(end, mult, shift)) for end in ends]
    sure &= (scaled[0] >= _LEAST + _ROOM) & (scaled[1] <= _MOST - _ROOM) & (scaled[0] <= scaled[1])
    low, high = (np.clip(v + call.output.zero_point, *bounds) for v in scaled)
    return (Range(np.where(sure, low, bounds[0]), np.where(sure, high, bounds[1])),)
