"""Weights in blocks: integers of 4 bits, with one factor for each block of adjacent weights of a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGEST_FACTOR = 255
_LOWEST, _HIGHEST = -8, 7


@dataclass(frozen=True, eq=False)
class FactoredRows:
    """Rows of weights as products: weight[r, k] = factors[r, k / block] * integers[r, k]."""

    integers: np.ndarray
    factors: np.ndarray


def factored(rows: np.ndarray, block: int) -> FactoredRows | None:
    """Rows of integers [rows, n] as factors from 1 to 255 and integers from -8 to 7; None if they are no such products.

    The last block of a row may be shorter.
    """
    length = rows.shape[1]
    padded = np.pad(rows.astype(np.int64), ((0, 0), (0, -length % block))).reshape(len(rows), -1, block)
    divisor = np.maximum(np.gcd.reduce(padded, axis=2), 1)
    low, high = padded.min(axis=2) // divisor, padded.max(axis=2) // divisor
    factors = divisor.copy()
    for part in range(2, -_LOWEST + 1):
        fits = (divisor % part == 0) & (low * part >= _LOWEST) & (high * part <= _HIGHEST)
        factors = np.where(fits, divisor // part, factors)
    integers = padded // factors[..., None]
    if factors.max(initial=1) > LARGEST_FACTOR or integers.min() < _LOWEST or integers.max() > _HIGHEST:
        return None
    return FactoredRows(integers.reshape(len(rows), -1)[:, :length].astype(np.int8), factors)
