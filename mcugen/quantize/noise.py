"""Signal and noise: the distance of integer results from float results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_LEAST = 1e-30


def powers(wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> np.ndarray:
    """Sums of squares of each sample over all outputs, [2, samples]: of the wanted values, and of the differences."""
    count = len(wanted[0])
    sums = np.zeros((2, count))
    for real, got in zip(wanted, found, strict=True):
        a = real.reshape(count, -1).astype(np.float64)
        sums[0] += (a**2).sum(axis=1)
        sums[1] += ((a - got.reshape(count, -1)) ** 2).sum(axis=1)
    return sums


def decibels(found: np.ndarray, most: float = 300.0) -> np.ndarray:
    """Signal-to-noise ratio in dB, at most `most`, of powers [2] or [2, samples]."""
    signal, noise = found
    least = _LEAST + 10 ** (-most / 10) * signal
    return np.asarray(10 * np.log10(np.maximum(signal, _LEAST) / np.maximum(noise, least)))
