# SPDX-License-Identifier: Apache-2.0
"""Data that is drawn, not downloaded: gratings, movements of a sensor, and pictures with one thing to find."""

from __future__ import annotations

import numpy as np

GRATINGS, MOVES, THINGS = 12, 8, 2


def gratings(n: int, seed: int, size: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Colour images [n, size, size, 3] of waves in 6 directions and 2 widths, with noise; and their classes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, GRATINGS, n)
    angle = np.pi * (label % 6 + rng.normal(0, 0.08, n)) / 6
    wave = np.where(label < 6, 0.14, 0.24) * np.exp(rng.normal(0, 0.08, n)) * 2 * np.pi
    y, x = np.mgrid[:size, :size]
    along = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * y
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    drawn = np.sin(along * wave[:, None, None] + phase)[..., None] * rng.uniform(0.15, 0.6, (n, 1, 1, 3))
    noise = rng.normal(0, 1, drawn.shape) * rng.uniform(0.05, 0.3, (n, 1, 1, 1))
    return np.clip(drawn + noise + rng.uniform(-0.3, 0.3, (n, 1, 1, 3)), -1, 1).astype(np.float32), label


def moves(n: int, seed: int, steps: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Three axes of a sensor [n, steps, 3] in 8 movements, which differ in rhythm and in the axes that take part."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, MOVES, n)
    rhythm = np.array([0.06, 0.10, 0.15, 0.21])[label % 4] * np.exp(rng.normal(0, 0.07, n))
    weight = np.array([[1, 0.7, 0.2], [0.2, 0.7, 1]])[label // 4] * rng.uniform(0.5, 1.3, (n, 3))
    t = np.arange(steps)[None, :, None]
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1)) + np.array([0, 1.3, 2.1])
    turn = rhythm[:, None, None] * 2 * np.pi * t + phase
    found = weight[:, None, :] * (np.sin(turn) + 0.4 * np.sin(2 * turn))
    return (found + rng.normal(0, 0.45, found.shape)).astype(np.float32), label


def scenes(n: int, seed: int, size: int = 32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gray images [n, size, size, 1] of a disc or a square, its kind, and its box: centre y, x, height, width."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, THINGS, n)
    half = rng.uniform(3.0, 6.0, n)
    middle = rng.uniform(7, size - 7, (n, 2))
    y, x = (np.abs(grid - middle[:, k, None, None]) for k, grid in enumerate(np.mgrid[:size, :size]))
    far = np.where(kind[:, None, None] == 0, np.hypot(y, x), np.maximum(y, x))
    inside = np.clip(half[:, None, None] - far + 0.5, 0, 1)
    image = inside * rng.uniform(0.6, 1.2, (n, 1, 1)) + rng.normal(0, 0.12, (n, size, size)) - 0.4
    box = np.stack([middle[:, 0], middle[:, 1], 2 * half, 2 * half], axis=1) / size
    return image[..., None].astype(np.float32), kind, box.astype(np.float32)
