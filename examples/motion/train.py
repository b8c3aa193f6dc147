# SPDX-License-Identifier: Apache-2.0
"""Draws motions, trains on their features, and writes motions.tflite, words.txt and motions_test.npz.

    python examples/motion/train.py [output folder]

Needs NumPy alone; takes a few seconds. The motions stand for what an accelerometer of 16 bits and +-4 g gives at 50 Hz.
The features are those that the C computes: `mcugen features` writes the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential import Array, Layer, at_8_bits, forward, random_layer, scale_of, to_tflite, with_head

from mcugen.samples import feature_files

SEED = 5
RATE, WINDOW = 50, 100
GRAVITY = 8192
"""Counts per g."""
NAMES = ("resting", "walking", "running", "shaking")
TRAINING, TESTING = 600, 200
FEATURES = (
    "rate=50,magnitude,windows(window=2s,hop=1s),statistics=std:range:mean-crossings:kurtosis,"
    "bands(edges=0.5:1.5:3:5:9,decibels=yes),autocorrelation=12:25"
)
_STEPS = {1: (1.6, 2.2, 0.15, 0.35), 2: (2.5, 3.2, 0.7, 1.5), 3: (4.0, 7.0, 0.5, 1.5)}
"""Kind of motion -> least and most cycles a second, least and most g."""


def motion(rng: np.random.Generator, kind: int, samples: int) -> Array:
    """Counts of 16 bits [samples, 3] of a motion: gravity in some direction, a repeated movement, and noise."""
    down, side = np.linalg.qr(rng.standard_normal((3, 2)))[0].T
    found = GRAVITY * down + rng.standard_normal((samples, 3)) * 60
    if kind:
        slow, fast, least, most = _STEPS[kind]
        turns = np.cumsum(rng.uniform(slow, fast) + 0.1 * rng.standard_normal(samples)) / RATE + rng.uniform()
        phase, size = 2 * np.pi * turns[:, None], GRAVITY * rng.uniform(least, most)
        if kind == NAMES.index("shaking"):
            found += size * np.sin(phase) * side
        else:
            found += size * (np.sin(phase) + 0.4 * np.sin(2 * phase + 1)) * down + 0.3 * size * np.sin(phase / 2) * side
    return np.rint(found).clip(-32768, 32767).astype(np.int16)


def dataset(rng: np.random.Generator, count: int, words: str) -> tuple[Array, Array]:
    """Features [count, 1, 1, features] of motions in a folder for each kind, and their labels."""
    with TemporaryDirectory() as folder:
        for k in range(count):
            kind = k % len(NAMES)
            path = Path(folder) / f"{kind} {NAMES[kind]}"
            path.mkdir(exist_ok=True)
            np.save(path / f"{k:04}.npy", motion(rng, kind, WINDOW))
        made = feature_files.of(Path(folder), words)
    return made.values[:, None], np.asarray(made.labels)


def standardizing(features: Array) -> str:
    """Words for numbers that give each feature the mean 0 and the deviation 1."""
    x = features.reshape(len(features), -1)
    means, deviations = (":".join(f"{v:.4g}" for v in values) for values in (x.mean(axis=0), x.std(axis=0)))
    return f"mean={means},std={deviations}"


def network(rng: np.random.Generator, features: int) -> list[Layer]:
    return [random_layer("CONV_2D", (64, 1, 1, features), rng)]


def stream(rng: np.random.Generator) -> Array:
    """A stream of all kinds of motion, 5 s of each, [samples, 3]."""
    return np.concatenate([motion(rng, kind, 5 * RATE) for kind in (0, 1, 2, 1, 3, 0)])


def main(folder: Path) -> None:
    """Trains, reports the accuracy in float, and writes the files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    words = f"{FEATURES},{standardizing(dataset(rng, TRAINING, FEATURES)[0])}"
    x, labels = dataset(rng, TRAINING, words)
    layers = with_head(at_8_bits(network(rng, x.shape[-1]), x), x, labels)
    tests, wanted = dataset(rng, TESTING, words)
    print(f"float: {np.mean(forward(layers, tests)[-1].argmax(axis=1) == wanted):7.2%} of {TESTING} test windows")
    model = to_tflite(layers, x, scale_of(x), "motions, 2 s of an accelerometer")
    (folder / "motions.tflite").write_bytes(model)
    (folder / "words.txt").write_text(words + "\n", encoding="ascii")
    np.savez_compressed(folder / "motions_test.npz", motion=stream(rng))
    print(f"wrote motions.tflite ({len(model)} bytes), words.txt and motions_test.npz to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
