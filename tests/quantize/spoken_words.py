# SPDX-License-Identifier: Apache-2.0
"""Spoken words by espeak-ng, as 10 cepstral coefficients of 49 windows: ten words, other words, and noise."""

from __future__ import annotations

import io
import subprocess
import wave
from dataclasses import dataclass

import numpy as np

RATE = 16000
WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
OTHER_WORDS = ("house", "tree", "seven", "marvin", "cat", "learn", "visual", "happy", "bird", "zero")
ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-gb-x-gbclan")
TONES = ("", *(f"+m{k}" for k in range(1, 8)), *(f"+f{k}" for k in range(1, 6)), "+croak", "+whisper")
HELD_OUT = (3, 7, 10, 13)
"""Tones that only the test has."""
PER_WORD, VIEWS = 200, 4
WINDOW, HOP, WINDOWS, BANDS, BINS, COEFFICIENTS = 640, 320, 49, 40, 1024, 10


@dataclass(frozen=True, eq=False)
class WordSet:
    """Features [n, 49, 10] as float32, and classes: the word, 10 for another one, 11 for noise."""

    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


def bands() -> np.ndarray:
    """Triangular mel bands [40, bins], from 20 to 7600 Hz."""
    ends = [2595 * np.log10(1 + f / 700) for f in (20.0, 7600.0)]
    edges = 700 * (10 ** (np.linspace(*ends, BANDS + 2) / 2595) - 1)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bins = np.fft.rfftfreq(BINS, 1 / RATE)
    return np.clip(np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)), 0, None)


def cepstrum(x: np.ndarray) -> np.ndarray:
    """The coefficients [49, 10] of one second of sound."""
    padded = np.pad(x, (0, HOP))
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=-1)[::HOP, :] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(windows, BINS)) ** 2
    logarithms = np.log(power @ bands().T + 1e-6)[:WINDOWS]
    k = np.arange(BANDS)
    cosines = np.cos(np.pi * (k[:, None] + 0.5) * np.arange(COEFFICIENTS)[None] / BANDS) * np.sqrt(2 / BANDS)
    return logarithms @ cosines


def spoken(word: str, voice: str, pitch: int, speed: int) -> np.ndarray:
    """A word by espeak-ng, at 16 kHz."""
    command = ["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(speed), "--stdout", word]
    sound = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(sound)) as header:
        rate = header.getframerate()
    x = np.frombuffer(sound[44:], np.int16).astype(float) / 32768
    return np.interp(np.arange(0, len(x), rate / RATE), np.arange(len(x)), x)


def _heard(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A second with the word somewhere in it, in noise."""
    second, n = np.zeros(RATE), min(len(clip), RATE)
    start = int(rng.integers(-1500, max(1, RATE - n) + 1500))
    first, last = max(0, start), min(RATE, start + n)
    second[first:last] = clip[first - start : last - start] * rng.uniform(0.1, 1.0)
    noise = np.cumsum(rng.standard_normal(RATE)) if rng.random() < 0.4 else rng.standard_normal(RATE)
    noise = noise - np.convolve(noise, np.ones(64) / 64, "same") if rng.random() < 0.5 else noise - noise.mean()
    return second + noise / noise.std() * 10 ** rng.uniform(-2.6, -1.0)


def words() -> WordSet:
    """All words in many voices; the numbers are drawn in a fixed order, so the features are the same each time."""
    rng = np.random.default_rng(1)
    said = [(label, word) for label, word in enumerate(WORDS) for _ in range(PER_WORD)]
    said += [(len(WORDS), OTHER_WORDS[k % len(OTHER_WORDS)]) for k in range(PER_WORD)]
    features, labels, tones = [], [], []
    for label, word in said:
        accent, tone = int(rng.integers(len(ACCENTS))), int(rng.integers(len(TONES)))
        pitch, speed = int(rng.integers(10, 95)), int(rng.integers(110, 260))
        clip = spoken(word, ACCENTS[accent] + TONES[tone], pitch, speed)
        for _ in range(VIEWS):
            features.append(cepstrum(_heard(clip, rng)))
            labels.append(label)
            tones.append(tone)
    for _ in range(PER_WORD * VIEWS):
        noise = np.cumsum(rng.standard_normal(RATE)) if rng.random() < 0.5 else rng.standard_normal(RATE)
        noise -= noise.mean()
        features.append(cepstrum(noise / noise.std() * 10 ** rng.uniform(-3, -0.7)))
        labels.append(len(WORDS) + 1)
        tones.append(int(rng.integers(len(TONES))))
    x, y, held = np.array(features, np.float32), np.array(labels), np.isin(tones, HELD_OUT)
    return WordSet(x[~held], y[~held], x[held], y[held])
