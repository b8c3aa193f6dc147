# SPDX-License-Identifier: Apache-2.0
"""Words as operators: their results beside float64."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.samples import front_end, words
from mcugen.samples.preprocess import parse
from mcugen.samples.spectra import Mel

RATE = 16000


def speech(length: int, seed: int = 0) -> np.ndarray:
    """A sound like speech, of 16 bits: harmonics that glide and swell over noise."""
    rng, time = np.random.default_rng(seed), np.arange(length) / RATE
    pitch = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 3 * time)) / RATE
    voice = sum(np.sin(k * pitch) / k for k in range(1, 30)) * (0.2 + 0.2 * np.sin(2 * np.pi * 2 * time))
    return np.float32(np.rint((voice + 0.02 * rng.standard_normal(length)) * 20000).clip(-32768, 32767) / 32768)


def features(text: str, x: np.ndarray, rate: float = RATE) -> np.ndarray:
    return front_end.applied(parse(text, words()).steps, x[None], rate)[0]


def judged(mel: Mel, x: np.ndarray, rate: float = RATE) -> np.ndarray:
    """The features of a sound in float64, with NumPy's transform and logarithm."""
    window, hop, points = mel.sizes(rate)
    frames = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), window)[::hop]
    frames = frames * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window))
    power = np.abs(np.fft.rfft(frames, points)) ** 2 @ mel.filters(points, rate).T
    found = np.log(power + mel.floor) * (10 / np.log(10) if mel.decibels else 1)
    return found @ mel.cosines().T if mel.coefficients else found


@pytest.mark.parametrize(
    "parameters",
    [
        "window=25ms,hop=10ms",
        "window=30ms,hop=20ms,bands=80,low=0,high=7600",
        "window=400,hop=160,fft=400,floor=1e-3",
        "window=64ms,hop=32ms,decibels=yes",
        "window=480,hop=320,fft=600,bands=20,low=100",
    ],
)
def test_features_come_near_to_those_of_float64(parameters: str) -> None:
    x = speech(RATE)
    for text in (f"logmel({parameters})", f"mfcc({parameters})"):
        found, wanted = features(text, x), judged(parse(text, words()).steps[0].value, x)
        assert found.dtype == np.float32 and found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()
