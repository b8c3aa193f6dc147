# SPDX-License-Identifier: Apache-2.0
"""Draws spectra of sweeping tones, trains a streaming detector on them, and writes sweeps.tflite and sweeps_test.npz.

    python examples/microphone/train.py [output folder]

Needs NumPy alone; takes a few seconds. The features stand for what a filter bank gives: one frame is the energy in
BANDS bands, on a scale of 0 to 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential import Array, Layer, Scale, at_8_bits, forward, random_layer, to_tflite, with_head

SEED = 11
FRAMES, BANDS = 24, 16
NAMES = ("nothing", "rising", "falling")
TRAINING, TESTING = 1500, 400
STREAM_FRAMES = 4 * FRAMES
FEATURES = Scale(1 / 255, -128)


def spectra(rng: np.random.Generator, kind: int, frames: int) -> Array:
    """Energies [frames, BANDS] of a tone that sweeps up, down, or of none, over noise."""
    t = np.arange(frames)
    low, high = rng.uniform(0, 5), rng.uniform(10, BANDS - 1)
    ends = (low, high) if kind == 1 else (high, low)
    start = rng.uniform(0, 4)
    centre = ends[0] + (ends[1] - ends[0]) * ((t - start) / rng.uniform(frames - 8, frames - 4)).clip(0, 1)
    tone = np.exp(-(((np.arange(BANDS) - centre[:, None]) / 1.2) ** 2)) * rng.uniform(0.5, 0.8)
    steady = np.exp(-(((np.arange(BANDS) - rng.uniform(0, BANDS)) / 1.2) ** 2)) * rng.uniform(0, 0.6)
    energy = tone if kind else np.broadcast_to(steady, (frames, BANDS))
    return np.asarray((energy + rng.uniform(0, 0.15, (frames, BANDS))).clip(0, 1))


def dataset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Windows [N, FRAMES, 1, BANDS] in steps of 1/255, and their labels."""
    labels = rng.integers(0, len(NAMES), count)
    windows = np.stack([spectra(rng, int(k), FRAMES) for k in labels])
    return np.round(windows * 255)[:, :, None, :] / 255, labels


def network(rng: np.random.Generator) -> list[Layer]:
    """VALID in time and stride 1 throughout, so that a frame more is a row more: 24 frames, 22, 14, then their mean."""
    return [
        random_layer("CONV_2D", (24, 3, 1, BANDS), rng),
        random_layer("CONV_2D", (32, 3, 1, 24), rng, dilation=(4, 1)),
        random_layer("DEPTHWISE_CONV_2D", (1, 3, 1, 32), rng),
        random_layer("CONV_2D", (48, 1, 1, 32), rng),
        Layer("AVERAGE_POOL_2D", window=(12, 1)),
    ]


def stream(rng: np.random.Generator) -> Array:
    """A long stream of int8 frames [STREAM_FRAMES, BANDS]: noise, a rising sweep, noise, a falling one."""
    parts = [spectra(rng, kind, FRAMES) for kind in (0, 1, 0, 2)]
    return (np.round(np.concatenate(parts) * 255) - 128).astype(np.int8)


def main(folder: Path) -> None:
    """Trains, reports the accuracy in float, and writes both files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    windows, labels = dataset(rng, TRAINING)
    layers = at_8_bits(network(rng), windows[:200])
    layers = with_head(layers, windows, labels)
    tests, wanted = dataset(rng, TESTING)
    print(f"float: {np.mean(forward(layers, tests)[-1].argmax(axis=1) == wanted):7.2%} of {TESTING} test windows")
    model = to_tflite(layers, windows[:400], FEATURES, "sweeping tones, 24 frames of 16 bands")
    (folder / "sweeps.tflite").write_bytes(model)
    np.savez_compressed(folder / "sweeps_test.npz", frames=stream(rng))
    print(f"wrote sweeps.tflite ({len(model)} bytes) and sweeps_test.npz to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
