# SPDX-License-Identifier: Apache-2.0
"""Features of sounds in float64: what words are compared with."""

from __future__ import annotations

import numpy as np

from mcugen.samples.spectra import Mel


def judged(mel: Mel, x: np.ndarray, rate: float) -> np.ndarray:
    """The features of a sound in float64, with NumPy's transform and logarithm."""
    window, hop, points = mel.sizes(rate)
    frames = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), window)[::hop]
    frames = frames * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window))
    power = np.abs(np.fft.rfft(frames, points)) ** 2 @ mel.filters(points, rate).T
    found = np.log(power + mel.floor) * (10 / np.log(10) if mel.decibels else 1)
    return found @ mel.cosines().T if mel.coefficients else found
