# SPDX-License-Identifier: Apache-2.0
"""Coefficients of kernels from counted layers: least squares of the relative error, no coefficient below zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mcugen.solve import costs
from tests.costs.firmware import Measured

Row = tuple[float, float, float]
LARGE = 20_000
"""Instructions from which on a layer counts in full; small ones matter less, in the same measure as to a model."""
DIGITS = 4


def coefficients(measured: Sequence[Measured]) -> dict[str, Row]:
    """Feature -> instructions, least and most cycles, of one kernel on one core."""
    found = [costs.features(m.layer.kernel, m.layer.call, m.layer.by_rows) for m in measured]
    names = sorted({name for features in found for name in features})
    matrix = np.array([[features.get(name, 0.0) for name in names] for features in found])
    targets = np.array([(m.instructions, m.cycles_low, m.cycles_high) for m in measured], np.float64)
    weights = np.minimum(targets[:, 0] / LARGE, 1.0) ** 0.25 / targets[:, 0]
    fits = np.array([nonnegative(matrix * weights[:, None], targets[:, k] * weights) for k in range(3)])
    rounded = {name: tuple(float(f"{v:.{DIGITS}g}") for v in fits[:, k]) for k, name in enumerate(names)}
    return {name: (a, b, c) for name, (a, b, c) in rounded.items() if a or b or c}


def nonnegative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x >= 0 with the least |a x - b|.

    Source: C. Lawson, R. Hanson, Solving Least Squares Problems, chapter 23.
    """
    scale = np.linalg.norm(a, axis=0)
    scale[scale == 0] = 1.0
    a = a / scale
    x = np.zeros(a.shape[1])
    active = np.zeros(a.shape[1], bool)
    for _ in range(4 * a.shape[1]):
        gradient = a.T @ (b - a @ x)
        gradient[active] = -np.inf
        if gradient.max() < 1e-9:
            break
        active[int(gradient.argmax())] = True
        x = _feasible(a, b, x, active)
    return x / scale


def _feasible(a: np.ndarray, b: np.ndarray, x: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Solve on the active columns, and drop those that would go below zero on the way there."""
    while True:
        tried = np.zeros_like(x)
        tried[active] = np.linalg.lstsq(a[:, active], b, rcond=None)[0]
        below = active & (tried <= 0)
        if not below.any():
            return tried
        share = np.min(x[below] / np.maximum(x[below] - tried[below], 1e-300))
        x = x + share * (tried - x)
        active &= x > 1e-12
        x[~active] = 0.0


def errors(measured: Sequence[Measured], table: Mapping[str, Row]) -> np.ndarray:
    """Estimated over counted instructions, less one, of each layer."""
    found = [costs.features(m.layer.kernel, m.layer.call, m.layer.by_rows) for m in measured]
    guessed = [sum(table[n][0] * v for n, v in features.items() if n in table) for features in found]
    return np.array([g / m.instructions - 1.0 for g, m in zip(guessed, measured, strict=True)])
