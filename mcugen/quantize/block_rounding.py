"""Weights of 4 bits with a factor for each block, rounded to the nearest or by least squares.

A scale of a block is a factor from 1 to 255 times the scale of its row, so that a row of products is a row of integers.
All arrays are per group of outputs that read the same inputs: [groups, outputs, taps].
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.block_factors import LARGEST_FACTOR
from mcugen.quantize import rounding
from mcugen.quantize.rounding import Moments, Rounded

_BITS, _LARGEST = 4, 7
_ROOM = 1.25
"""How much larger than at first the scale of a block may become."""
_SHORT_BITS = 16
"""Bits of a row's scale: its products with factors are then exact in float32, so that files hold the same scales."""
_SWEEPS = 3
_TINY = 1e-10


def nearest(w: np.ndarray, block: int) -> Rounded:
    """Every weight to its nearest product."""
    starts = range(0, w.shape[-1], block)
    first = np.stack([rounding.scales(w[..., k : k + block], _BITS) for k in starts], axis=-1)
    row = _rows(first)
    steps = _spread(_factors(first, row), block, w.shape[-1])
    return Rounded(_rounded(w, row[..., None] * steps) * steps, row)


def least_squares(w: np.ndarray, m: Moments, block: int) -> Rounded:
    """Weights rounded one after the other; later weights compensate for each rounding error. Then factors are fitted to
    the integers, and each integer is adjusted.
    """
    h = m.xx + rounding.damped(m.xx)[:, None, None] * np.eye(m.xx.shape[-1])
    power = np.einsum("gkk->gk", h)
    upper = np.linalg.cholesky(np.linalg.inv(h)).swapaxes(1, 2)
    starts = range(0, w.shape[-1], block)
    first = [rounding.scales(w[..., k : k + block], _BITS, power[:, k : k + block]) for k in starts]
    row = _rows(np.stack(first, axis=-1))
    rest, integers, factors = w.copy(), np.empty_like(w), np.empty((*w.shape[:-1], len(starts)))
    for j, start in enumerate(starts):
        end = min(start + block, w.shape[-1])
        found = rounding.scales(rest[..., start:end], _BITS, power[:, start:end])
        factors[..., j] = _factors(found, row)
        s = row * factors[..., j]
        for k in range(start, end):
            integers[..., k] = _rounded(rest[..., k], s)
            error = (rest[..., k] - integers[..., k] * s) / upper[:, k, k][:, None]
            rest[..., k:] -= error[..., None] * upper[:, None, k, k:]
    for _ in range(_SWEEPS):
        factors = _fitted(integers, factors, row, w, h, block)
        integers = _adjusted(integers, row[..., None] * _spread(factors, block, w.shape[-1]), w, h)
    return Rounded(integers * _spread(factors, block, w.shape[-1]), row)


def _fitted(
    integers: np.ndarray, factors: np.ndarray, row: np.ndarray, w: np.ndarray, h: np.ndarray, block: int
) -> np.ndarray:
    """Factors fitted to the integers, block by block. h: second moments of inputs."""
    factors = factors.copy()
    for j, start in enumerate(range(0, w.shape[-1], block)):
        part = slice(start, min(start + block, w.shape[-1]))
        error = w - integers * row[..., None] * _spread(factors, block, w.shape[-1])
        slope = np.einsum("gok,gkl->gol", error, h[:, :, part])
        q = integers[..., part]
        power = np.einsum("gok,gkl,gol->go", q, h[:, part, part], q)
        change = (slope * q).sum(axis=-1) / np.maximum(power, _TINY)
        factors[..., j] = _factors(row * factors[..., j] + change, row)
    return factors


def _adjusted(integers: np.ndarray, s: np.ndarray, w: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Each integer changed to the best one for the present others. s: the scale of each weight."""
    integers = integers.copy()
    slope = (integers * s - w) @ h
    for k in range(w.shape[-1]):
        best = np.clip(np.round(integers[..., k] - slope[..., k] / (h[:, None, k, k] * s[..., k])), -_LARGEST, _LARGEST)
        slope += ((best - integers[..., k]) * s[..., k])[..., None] * h[:, None, k, :]
        integers[..., k] = best
    return integers


def _rounded(w: np.ndarray, s: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(np.round(w / s), -_LARGEST, _LARGEST))


def _rows(scales: np.ndarray) -> np.ndarray:
    """The scale of each row [groups, outputs], of few bits, from the scales of its blocks."""
    mantissa, exponent = np.frexp(scales.max(axis=-1) * _ROOM / LARGEST_FACTOR)
    return np.asarray(np.ldexp(np.ceil(np.ldexp(mantissa, _SHORT_BITS)), exponent - _SHORT_BITS))


def _factors(scales: np.ndarray, row: np.ndarray) -> np.ndarray:
    """The factors of scales [groups, outputs], or [groups, outputs, blocks]."""
    each = row if scales.ndim == row.ndim else row[..., None]
    return np.asarray(np.clip(np.round(scales / each), 1, LARGEST_FACTOR))


def _spread(factors: np.ndarray, block: int, taps: int) -> np.ndarray:
    return np.repeat(factors, block, axis=-1)[..., :taps]
