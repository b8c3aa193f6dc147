"""Ranges of activations: statistics of a tensor, and the scale and zero point derived from them.

Source: TFLite quantization specification, which requires that the real number 0 is stored exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mcugen.ir.quant_rule import EVERYTHING, Bounds
from mcugen.ir.types import QuantParams

MIN_MAX, LEAST_ERROR, ON_GRID = "min-max", "least error", "on grid"
_SAMPLE = 100_000
_BINS = 4096
_SHRINK = np.linspace(0.3, 1.0, 36)
_WIDER = np.linspace(1.0, 1.02, 21)
_BETTER = 0.9
_LEAST = 1e-9
_WIDE = 512
_ROOM = 1.25
"""Factor on measured ranges of 16-bit tensors: saturating an unseen value costs far more than a coarser scale."""


@dataclass(frozen=True, eq=False)
class Observed:
    """Statistics of a tensor over all samples.

    low, high: least and largest value; values: at most 100,000 of the values; channels: largest magnitude per channel,
    [channels]; count: number of all values
    """

    low: float
    high: float
    values: np.ndarray
    channels: np.ndarray
    count: int


def observed(x: np.ndarray) -> Observed:
    """Statistics of a tensor's values [samples, *shape]."""
    flat = x.reshape(-1)
    last = x.shape[-1] if x.ndim > 1 else 1
    low, high = (_over_rows(x.reshape(-1, last), extreme) for extreme in (np.minimum, np.maximum))
    # A step without small prime factors, or it would pick the same indices of an axis again and again.
    step = max(1, flat.size // _SAMPLE)
    while step > 1 and any(step % k == 0 for k in (2, 3, 5, 7)):
        step += 1
    return Observed(float(low.min()), float(high.max()), flat[::step].copy(), np.maximum(high, -low), flat.size)


def _over_rows(x: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Minimum or maximum of each column, [columns]. If there are few columns, several rows are reduced at a time."""
    rows, columns = x.shape
    several = max(1, _WIDE // columns)
    whole = rows - rows % several
    found = extreme.reduce(x[:whole].reshape(-1, several * columns), axis=0) if whole else x[:1].repeat(several, 1)
    return np.asarray(extreme.reduce(np.concatenate([found.reshape(several, columns), x[whole:]]), axis=0))


def joined(found: Iterable[Observed]) -> Observed:
    """Joint statistics of several tensors that share a scale."""
    parts = list(found)
    if len(parts) == 1:
        return parts[0]
    low, high = min(p.low for p in parts), max(p.high for p in parts)
    values = np.concatenate([p.values for p in parts])
    return Observed(low, high, values, np.array([max(abs(low), abs(high))]), sum(p.count for p in parts))


def quant(low: float, high: float, bits: int) -> QuantParams:
    """Scale and zero point for real numbers from low to high.

    The range is extended to include 0. A range of zeros alone becomes 0..1.
    """
    low, high = (0.0, 1.0) if says_nothing(low, high) else (min(low, 0.0), max(high, 0.0))
    if bits == 16:
        return QuantParams((float(np.float32(max(-low, high) / 32767)),), (0,))
    scale = float(np.float32((high - low) / 255))
    return QuantParams((scale,), (int(np.clip(round(-128 - low / scale), -128, 127)),))


def says_nothing(low: float, high: float) -> bool:
    """Whether the values of a range are all zero or negligible, so that any scale will do."""
    return max(high, 0.0) - min(low, 0.0) <= _LEAST


def chosen(seen: Observed, method: str, bits: int, matters: Bounds = EVERYTHING, widen: float = 1.0) -> QuantParams:
    """Scale and zero point by a method: "min-max", "least error", "on grid", or a percentile such as "99.99".

    matters: readers do not distinguish values beyond these bounds, so the range ends there. widen: factor on the
    chosen range. With 16 bits method, matters and widen are ignored: the measured range is used, with a margin.
    """
    if bits == 16:
        return quant(seen.low * _ROOM, seen.high * _ROOM, bits)
    low, high = np.clip((seen.low, seen.high), *matters)
    if method == LEAST_ERROR:
        low, high = _least_error(np.clip(seen.values, *matters), float(low), float(high))
    elif method == ON_GRID:
        low, high = _on_grid(seen.values, float(low), float(high))
    elif method != MIN_MAX:
        share = float(method)
        found = np.percentile(np.clip(seen.values, *matters), (100 - share, share))
        low, high = max(low, found[0]), min(high, found[1])
    low, high = np.clip((low * widen, high * widen), *matters)
    return quant(float(low), float(high), bits)


def _least_error(values: np.ndarray, low: float, high: float) -> Bounds:
    """The range whose integers have the least squared error on the values: both ends times one factor from 0.3 to 1."""
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= _LEAST:
        return low, high
    place = np.minimum((values.astype(np.float64) - low) * (_BINS / (high - low)), _BINS - 1).astype(np.int64)
    count = np.bincount(place, minlength=_BINS)
    used = count > 0
    mean = np.bincount(place, values, minlength=_BINS)[used] / count[used]
    losses = [_loss(mean, count[used], low * r, high * r) for r in _SHRINK]
    best = _SHRINK[int(np.argmin(losses))]
    return low * best, high * best


def _on_grid(values: np.ndarray, low: float, high: float) -> Bounds:
    """The range from low to high, or a range up to 2 % wider if it has clearly less error.

    Inputs that were converted from bytes are multiples of a step, which the scale can match.
    """
    losses = [_loss(values.astype(np.float64), np.ones(1), low * r, high * r) for r in _WIDER]
    best = int(np.argmin(losses))
    r = _WIDER[best] if losses[best] < _BETTER * losses[0] else 1.0
    return low * r, high * r


def _loss(values: np.ndarray, count: np.ndarray, low: float, high: float) -> float:
    q = quant(low, high, 8)
    steps = np.clip(np.round(values / q.scale[0]) + q.zero_point[0], -128, 127) - q.zero_point[0]
    return float((count * (steps * q.scale[0] - values) ** 2).sum())
