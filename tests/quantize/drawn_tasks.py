# SPDX-License-Identifier: Apache-2.0
"""Samples and tests of the nine networks with recurrence, attention, norms, states, pixels and boxes.

The data are spoken by espeak-ng and drawn by NumPy from fixed seeds. A hash says whether they are the data on which the
networks were trained and judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from mcugen.samples.metrics import _detections
from tests.quantize import drawn_scenes, spoken_words

SAMPLES, WORD_TESTS, STREAM_TESTS, FRAMES = 100, 2000, 8, 2000
STRIDE, LEAST_SCORE, MOST_OVERLAP, CLASSES = 4.0, 0.05, 0.5, 3
HASHES = {
    "words": "b854378cc153255e",
    "voices": "ba2760ef155b51b7",
    "pixels": "a9a6dee649c26bee",
    "boxes": "6e0e5c11a5f7f07a",
}
"""First digits of the SHA-256 of each kind of data: samples and test, rounded to steps of 2^-12."""
_STEPS = 4096
BARS = {
    "kws_gru": (0.5, 36.0), "kws_lstm": (0.5, 34.5), "kws_kwt": (0.5, 32.0), "kws_rms": (0.5, 32.0),
    "kws_mixer": (0.5, 28.5), "stream_gru": (0.01, 41.0), "stream_lstm": (0.01, 42.0), "unet_gn": (0.5, 30.0),
    "yolo": (0.5, 28.0),
}  # fmt: skip
"""Network -> most loss (points; of streams, a share of the error) and least SQNR in dB."""
WORST = {"stream_gru": 30.0, "stream_lstm": 35.0}
"""Least SQNR of the worst sequence, in dB."""


@dataclass(frozen=True, eq=False)
class DrawnTask:
    """The samples and the test of a network: arrays by key, and what the quantizer is told of them."""

    samples: Mapping[str, np.ndarray]
    test: Mapping[str, np.ndarray]
    states: tuple[str, ...] = ()
    metric: str = ""


def made(name: str, folder: Path) -> DrawnTask | None:
    """The task of a network; None if it is none of the nine. folder: where spoken words are kept.

    Raises SystemExit if other data were drawn.
    """
    if name not in BARS:
        return None
    if name.startswith("kws"):
        samples, test, labels = _words(folder)
        return DrawnTask({"x": samples}, {"x": test, "y": labels})
    if name.startswith("stream"):
        samples, test, shares = _voices()
        count = 2 if "gru" in name else 4
        return DrawnTask({"x": samples}, {"x": test, "y": shares}, tuple(f"t{k}=s{k}" for k in range(count)))
    if name == "unet_gn":
        samples, scenes = _chosen(drawn_scenes.shapes(3000, 32, 1).images), drawn_scenes.shapes(300, 32, 2)
        _require_hash("pixels", samples, scenes.images, scenes.pixels)
        return DrawnTask({"x": samples}, {"x": scenes.images, "y": scenes.pixels})
    samples, scenes = _chosen(drawn_scenes.shapes(4000, 48, 3).images), drawn_scenes.shapes(500, 48, 4)
    images, boxes = scenes.images[:300], scenes.boxes[:300]
    _require_hash("boxes", samples, images, boxes)
    there = boxes[..., 0] >= 0
    truth = {"boxes": boxes[there][:, 1:], "classes": boxes[there][:, 0], "counts": there.sum(axis=1)}
    return DrawnTask({"x": samples}, {"x": images, **truth}, metric=f"{__file__}:map50")


def digest(*arrays: np.ndarray) -> str:
    """The hash of arrays. Floats are rounded first, since libraries differ in their last bits."""
    found = hashlib.sha256()
    for a in arrays:
        steps = np.rint(a.astype(np.float64) * _STEPS) if a.dtype.kind == "f" else a
        found.update(np.ascontiguousarray(steps.astype(np.int64)).tobytes())
    return found.hexdigest()[:16]


def _require_hash(kind: str, *arrays: np.ndarray) -> None:
    got = digest(*arrays)
    if got != HASHES[kind]:
        raise SystemExit(f"the data of {kind} have the hash {got}, not {HASHES[kind]}: other versions drew them")


def _chosen(x: np.ndarray) -> np.ndarray:
    """The samples for calibration."""
    return x[np.random.default_rng(7).permutation(len(x))[:SAMPLES]]


@cache
def _words(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalized features of the samples and of the test, and the classes of the test."""
    file = folder / "spoken.npz"
    if not file.exists():
        found = spoken_words.words()
        np.savez_compressed(file, train=found.train_x, test=found.test_x, labels=found.test_y)
    with np.load(file) as kept:
        train, test, labels = kept["train"], kept["test"][:WORD_TESTS], kept["labels"][:WORD_TESTS]
    mean, deviation = train.mean((0, 1)), train.std((0, 1))
    samples, test = _chosen((train - mean) / deviation), (test - mean) / deviation
    _require_hash("words", samples, test, labels)
    return samples, test, labels


@cache
def _voices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    samples = _chosen(drawn_scenes.voices(500, 100, 1)[0])
    test, shares = drawn_scenes.voices(STREAM_TESTS, FRAMES, 2)
    _require_hash("voices", samples, test, shares)
    return samples, test, shares


def map50(outputs: np.ndarray, labels: Mapping[str, list[np.ndarray]]) -> float:
    """The mean average precision of the detector's outputs [n, 7, rows, columns] at an overlap of 0.5, in %."""
    found = [_boxes(image.reshape(7, 12, 12)) for image in outputs]
    pairs = zip(labels["boxes"], labels["classes"], strict=True)
    truth = [_detections.Detections(boxes, classes, np.ones(len(boxes))) for boxes, classes in pairs]
    return 100 * _detections.mean_precision(found, truth, MOST_OVERLAP)


def _boxes(y: np.ndarray) -> _detections.Detections:
    """The boxes of an image, from distances to their sides in cells and logits of classes [7, rows, columns]: those
    with the best scores of each class, none of which overlaps a better one by half.
    """
    centre = (np.arange(y.shape[-1]) + 0.5) * STRIDE
    score, reach = 1 / (1 + np.exp(-y[4:].astype(np.float64))).reshape(CLASSES, -1), y[:4].astype(np.float64) * STRIDE
    across, down = centre[None, :], centre[:, None]
    corners = np.stack([across - reach[0], down - reach[1], across + reach[2], down + reach[3]], axis=-1).reshape(-1, 4)
    kept: list[tuple[int, int]] = []
    for kind in range(CLASSES):
        best = np.flatnonzero(score[kind] > LEAST_SCORE)
        best = best[np.argsort(-score[kind][best], kind="stable")]
        overlap, taken = _detections.overlaps(corners[best], corners[best]), list[int]()
        for k in range(len(best)):
            if not (overlap[k, taken] >= MOST_OVERLAP).any():
                taken.append(k)
        kept += [(kind, int(best[k])) for k in taken]
    kinds, cells = np.array([k for k, _ in kept], int), np.array([c for _, c in kept], int)
    return _detections.Detections(corners[cells], kinds.astype(np.float64), score[kinds, cells])
