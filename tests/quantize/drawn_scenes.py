# SPDX-License-Identifier: Apache-2.0
"""Drawn data for networks of frames, pixels and boxes: bands of a voice in noise, and discs, squares and triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BANDS = 40
VOICES = ((1, 10), (6, 22), (16, 36))
"""Ranges of bands in which the three bumps of a voice move."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Images [n, 3, size, size], the class of each pixel (0: none), and for each image up to 4 rows (class, left, top,
    right, bottom) of boxes, of which rows of -1 are none: [n, 4, 5].
    """

    images: np.ndarray
    pixels: np.ndarray
    boxes: np.ndarray


def voices(n: int, frames: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The logarithm of the power of 40 bands [n, frames, 40], and the share that the voice has in each."""
    rng = np.random.default_rng(seed)
    band = np.arange(BANDS)
    x, y = (np.empty((n, frames, BANDS), np.float32) for _ in range(2))

    def walk(low: float, high: float, speed: float) -> np.ndarray:
        phase = np.cumsum(rng.standard_normal(frames) * speed) + rng.uniform(0, 7)
        return np.asarray(low + (high - low) * (0.5 + 0.5 * np.sin(phase)))

    for k in range(n):
        on = np.convolve(rng.random(frames) < 0.03, np.ones(12), "same")[:frames] > 0
        voice: np.ndarray | int = 0
        for low, high in VOICES:
            centre = walk(low, high, 0.25)[:, None]
            bump = np.exp(-0.5 * ((band - centre) / rng.uniform(1, 3)) ** 2)
            voice = voice + bump * 10 ** rng.uniform(-0.5, 1.5)
        voice = (voice * np.convolve(on, np.ones(3) / 3, "same")[:, None] * walk(0.3, 1, 0.1)[:, None]) ** 2 + 1e-6
        level, slope = rng.uniform(-1.5, 1.2), np.cumsum(rng.standard_normal(BANDS)) * 0.12
        noise = 10 ** (level + slope + 0.3 * walk(-1, 1, 0.05)[:, None])
        noise = noise * rng.gamma(6, 1 / 6, (frames, BANDS))
        x[k], y[k] = np.log10(voice + noise), voice / (voice + noise)
    return x, y


def _inside(kind: int, dx: np.ndarray, dy: np.ndarray, r: float) -> np.ndarray:
    """Whether pixels at these distances from the centre are in a disc, a square or a triangle."""
    if kind == 0:
        return np.asarray(np.hypot(dx, dy) < r)
    if kind == 1:
        return np.asarray(np.maximum(abs(dx), abs(dy)) < r)
    return np.asarray((dy < r) & (dy > 2 * abs(dx) - r))


def shapes(n: int, size: int, seed: int) -> Shapes:
    """Images of one to three shapes on a sloping, noisy ground, from -1 to 1."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] + 0.5
    found = Shapes(
        np.empty((n, 3, size, size), np.float32),
        np.zeros((n, size, size), np.int64),
        np.full((n, 4, 5), -1.0, np.float32),
    )
    for k in range(n):
        slope = np.einsum("ck,khw->chw", rng.uniform(-0.01, 0.01, (3, 2)), np.stack([x, y]) - size / 2)
        image = rng.uniform(0.2, 0.8, 3)[:, None, None] + slope
        for row in range(rng.integers(1, 4)):
            kind, r = int(rng.integers(3)), rng.uniform(4, 9) * size / 48
            cx, cy = rng.uniform(r, size - r, 2)
            there = _inside(kind, x - cx, y - cy, r)
            color = rng.uniform(0, 1, 3)[:, None, None]
            image = np.where(there, color + 0.1 * np.sin(x * rng.uniform(0, 2)), image)
            found.pixels[k][there] = kind + 1
            found.boxes[k, row] = kind, cx - r, cy - r, cx + r, cy + r
        noise = rng.standard_normal(image.shape) * rng.uniform(0.01, 0.08)
        found.images[k] = np.clip(image + noise, 0, 1) * 2 - 1
    return found
