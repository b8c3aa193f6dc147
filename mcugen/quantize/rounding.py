"""Weights as integers: rounded to the nearest, or so that results change least for the inputs that reach the layer.

All arrays are per group of outputs that read the same inputs: [groups, outputs, taps].
Source of the greedy rounding by columns: Frantar et al., GPTQ; Hassibi and Stork, Optimal Brain Surgeon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.quantize.recipe import ODD, TERNARY

DAMP = 0.01
_REFIT = 10
"""Factor on the damping of a refit, since 100 samples do not determine weights reliably."""
_SHRINK_4, _SHRINK_2 = np.linspace(0.4, 1.0, 31), np.linspace(0.2, 1.0, 41)
_TINY = 1e-10
_BLOCK = 64
_SWEEPS, _MORE_SWEEPS = 3, 12
"""Rounds of fitting scales and adjusting each integer; below 4 bits, more of them pay."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of a layer's inputs and wanted results, over all rows.

    rows: number of rows; x: mean input [groups, taps]; y: mean result [groups, outputs]
    xx: covariance of inputs [groups, taps, taps]; xy: covariance of results and inputs [groups, outputs, taps], or None
    """

    rows: int
    x: np.ndarray
    y: np.ndarray
    xx: np.ndarray
    xy: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Rounded:
    """Integers [groups, outputs, taps] and their scales [groups, outputs]."""

    integers: np.ndarray
    scales: np.ndarray

    @property
    def real(self) -> np.ndarray:
        return np.asarray(self.integers * self.scales[..., None])


def largest(bits: int) -> int:
    """The largest weight of this many bits; the smallest is -largest, as weights are symmetric."""
    return 3 if bits == ODD else 1 if bits == TERNARY else int(2 ** (bits - 1) - 1)


def on_grid(steps: np.ndarray, bits: int) -> np.ndarray:
    """The integers of this many bits that are nearest to weights in steps of their scale."""
    q = largest(bits)
    near = 2 * np.floor(steps / 2) + 1 if bits == ODD else np.round(steps)
    return np.asarray(np.clip(near, -q, q))


def scales(w: np.ndarray, bits: int, weight: np.ndarray | None = None) -> np.ndarray:
    """A float32 scale per output: the largest weight over the largest integer; below 8 bits, the scale of least error.

    weight: importance of the error of each tap, [groups, taps].
    """
    most = np.maximum(np.abs(w).max(axis=-1), 1e-12)
    q = largest(bits)
    best = most / q
    if bits < 8:
        counted = 1.0 if weight is None else weight[:, None, :]
        least = np.full(most.shape, np.inf)
        for r in _SHRINK_4 if bits > ODD else _SHRINK_2:
            s = most * r / q
            error = (((on_grid(w / s[..., None], bits) * s[..., None] - w) ** 2) * counted).sum(axis=-1)
            best = np.where(error < least, s, best)
            least = np.minimum(error, least)
    return np.asarray(best.astype(np.float32).astype(np.float64))


def nearest(w: np.ndarray, s: np.ndarray, bits: int) -> Rounded:
    """Every weight to its nearest integer."""
    return Rounded(on_grid(w / s[..., None], bits), s)


def damped(xx: np.ndarray) -> np.ndarray:
    """Damping added to the diagonal, [groups]: a hundredth of its mean, so that the inverse exists."""
    return np.asarray(DAMP * np.trace(xx, axis1=1, axis2=2) / xx.shape[-1] + _TINY)


def refitted(w: np.ndarray, m: Moments) -> np.ndarray:
    """Weights whose results are nearest to the wanted results, for the inputs that reach the layer."""
    if m.xy is None:
        return w
    ridge = _REFIT * damped(m.xx)[:, None, None]
    left = m.xx + ridge * np.eye(m.xx.shape[-1])
    return np.asarray(np.linalg.solve(left, (m.xy + ridge * w).swapaxes(1, 2)).swapaxes(1, 2))


def least_squares(w: np.ndarray, m: Moments, bits: int) -> Rounded:
    """Weights rounded column by column, in the order of falling input power; later columns compensate for each rounding
    error.
    """
    s = scales(w, bits, np.einsum("gkk->gk", m.xx))
    h = m.xx + damped(m.xx)[:, None, None] * np.eye(m.xx.shape[-1])
    order = np.argsort(-np.einsum("gkk->gk", h), axis=1, kind="stable")
    w = np.take_along_axis(w, order[:, None, :], axis=2)
    h = np.take_along_axis(np.take_along_axis(h, order[:, :, None], axis=1), order[:, None, :], axis=2)
    upper = np.linalg.cholesky(np.linalg.inv(h)).swapaxes(1, 2)
    wanted = w.copy()
    found = _rounded_columns(w, upper, s, bits)
    found, s = (found, s) if bits >= 8 else improved(found, s, wanted, h, bits)
    back = np.empty_like(found)
    np.put_along_axis(back, np.broadcast_to(order[:, None, :], w.shape), found, axis=2)
    return Rounded(back, s)


def _rounded_columns(w: np.ndarray, upper: np.ndarray, s: np.ndarray, bits: int) -> np.ndarray:
    """Round weights column by column. Overwrites w: later columns compensate for the errors of a column.

    The errors of a block of columns are applied to all columns after the block at once.
    """
    found = np.empty_like(w)
    for start in range(0, w.shape[-1], _BLOCK):
        end = min(start + _BLOCK, w.shape[-1])
        errors = np.empty((*w.shape[:-1], end - start))
        for k in range(start, end):
            found[..., k] = on_grid(w[..., k] / s, bits)
            error = (w[..., k] - found[..., k] * s) / upper[:, k, k][:, None]
            w[..., k:end] -= error[..., None] * upper[:, None, k, k:end]
            errors[..., k - start] = error
        w[..., end:] -= errors @ upper[:, start:end, end:]
    return found


def improved(
    found: np.ndarray, s: np.ndarray, w: np.ndarray, h: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """Integers and scales improved in turn: scales are fitted to the integers, then each integer is adjusted.

    found: integers of `bits` bits; s: scales; w: wanted weights; h: second moments of inputs. It only pays for few
    bits.
    """
    for _ in range(_SWEEPS if bits > ODD else _MORE_SWEEPS):
        product = found @ h
        power = (product * found).sum(axis=-1)
        fitting = (product * w).sum(axis=-1) / np.maximum(power, _TINY)
        s = np.where((power > _TINY) & (fitting > 0), fitting, s).astype(np.float32).astype(np.float64)
        slope = (found * s[..., None] - w) @ h
        for k in range(w.shape[-1]):
            best = on_grid(found[..., k] - slope[..., k] / (h[:, None, k, k] * s), bits)
            slope += ((best - found[..., k]) * s)[..., None] * h[:, None, k, :]
            found[..., k] = best
    return found, s
