# SPDX-License-Identifier: Apache-2.0
"""Draws shapes, trains a classifier on them, and writes shapes.tflite and shapes_test.npz.

    python examples/camera/train.py [output folder]

Needs NumPy alone; takes a few seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential import Array, Layer, Scale, at_8_bits, forward, random_layer, to_tflite, with_head

SEED = 7
SIDE = 32
NAMES = ("nothing", "disc", "square", "triangle")
TRAINING, TESTING, COMMITTED = 1600, 400, 24
PIXELS = Scale(1 / 255, -128)  # a pixel of a camera, 0 to 255, less 128


def drawn(rng: np.random.Generator, kind: int) -> Array:
    """A grey image [SIDE, SIDE] of one shape, anywhere, of any size, brighter than its ground, with noise."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    r = rng.uniform(5, 9)
    cy, cx = rng.uniform(r + 1, SIDE - r - 1, 2)
    dy, dx = y - cy, x - cx
    shapes = (
        np.zeros_like(dy, bool),
        dy**2 + dx**2 <= r**2,
        np.maximum(np.abs(dy), np.abs(dx)) <= 0.9 * r,
        (dy <= 0.8 * r) & (dy >= 2 * np.abs(dx) - r),
    )
    ground, contrast = rng.uniform(0.05, 0.4), rng.uniform(0.3, 0.55)
    image = ground + contrast * shapes[kind] + rng.normal(0, 0.03, (SIDE, SIDE))
    return np.asarray(image.clip(0, 1))


def dataset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Images [N, SIDE, SIDE, 1] as bytes, and their labels."""
    labels = rng.integers(0, len(NAMES), count)
    images = np.stack([drawn(rng, int(k)) for k in labels])
    return np.round(images * 255).astype(np.uint8)[..., None], labels.astype(np.uint8)


def network(rng: np.random.Generator) -> list[Layer]:
    """Three convolutions and three poolings, from 32x32x1 to 4x4x48."""
    half = {"window": (2, 2), "stride": (2, 2)}
    return [
        random_layer("CONV_2D", (12, 3, 3, 1), rng, padding="SAME"),
        Layer("MAX_POOL_2D", **half),
        random_layer("CONV_2D", (24, 3, 3, 12), rng, padding="SAME"),
        Layer("MAX_POOL_2D", **half),
        random_layer("CONV_2D", (48, 3, 3, 24), rng, padding="SAME"),
        Layer("MAX_POOL_2D", **half),
    ]


def main(folder: Path) -> None:
    """Trains, reports the accuracy in float, and writes both files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    images, labels = dataset(rng, TRAINING)
    real = images / 255
    layers = at_8_bits(network(rng), real[:200])
    layers = with_head(layers, real, labels)
    tests, wanted = dataset(rng, TESTING)
    print(f"float: {np.mean(forward(layers, tests / 255)[-1].argmax(axis=1) == wanted):7.2%} of {TESTING} test images")
    model = to_tflite(layers, real[:400], PIXELS, "shapes, 32x32 grey")
    (folder / "shapes.tflite").write_bytes(model)
    np.savez_compressed(folder / "shapes_test.npz", images=tests[:COMMITTED], labels=wanted[:COMMITTED])
    print(f"wrote shapes.tflite ({len(model)} bytes) and shapes_test.npz to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
