"""Object detection: boxes decoded from anchors, and non-maximum suppression as the runtimes compute it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.types import TensorType

Found = tuple[int, int, float]
"""Anchor, class and score of a detection."""


def real(x: np.ndarray, t: TensorType) -> np.ndarray:
    """Stored numbers as float32 numbers."""
    if t.is_float:
        return x.astype(np.float32)
    return (x.astype(np.float32) - np.float32(t.zero_point)) * np.float32(t.scale)


def decoded(boxes: np.ndarray, anchors: np.ndarray, scales: Sequence[float]) -> np.ndarray:
    """Boxes [N, 4] as top, left, bottom, right in float32.

    Centres and half sizes are computed in float64 and rounded once each.
    """
    x, a = boxes[:, :4].astype(np.float64), anchors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = (x[:, :2] / scales[:2] * a[:, 2:] + a[:, :2]).astype(np.float32)
        half = (0.5 * np.exp(x[:, 2:] / scales[2:]) * a[:, 2:]).astype(np.float32)
        return np.concatenate([centre - half, centre + half], axis=1)


def _overlap(a: np.ndarray, b: np.ndarray) -> np.float32:
    """Intersection over union of two boxes, in float32."""
    areas = [(v[2] - v[0]) * (v[3] - v[1]) for v in (a, b)]
    if areas[0] <= 0 or areas[1] <= 0:
        return np.float32(0)
    zero = np.float32(0)
    common = max(min(a[2], b[2]) - max(a[0], b[0]), zero) * max(min(a[3], b[3]) - max(a[1], b[1]), zero)
    return np.float32(common / (areas[0] + areas[1] - common))


def _kept(places: np.ndarray, scores: np.ndarray, limits: tuple[float, float], most: int) -> list[int]:
    """Indices of at most `most` boxes by descending score, without boxes that overlap an earlier box.

    limits: (least score, greatest overlap).
    """
    least, most_overlap = np.float32(limits[0]), np.float32(limits[1])
    order = [int(i) for i in np.argsort(-scores.astype(np.float64), kind="stable") if scores[i] >= least]
    kept: list[int] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for i in order:
            if len(kept) < most and not any(_overlap(places[j], places[i]) > most_overlap for j in kept):
                kept.append(i)
    return kept


def by_box(places: np.ndarray, scores: np.ndarray, limits: tuple[float, float], each: int, most: int) -> list[Found]:
    """Detections: the best `each` classes of each box that remains after suppression by the boxes' best scores."""
    found: list[Found] = []
    for i in _kept(places, scores.max(axis=1), limits, most):
        best = np.argsort(-scores[i].astype(np.float64), kind="stable")[:each]
        found += [(i, int(c), float(scores[i, c])) for c in best]
    return found


def by_class(
    places: np.ndarray, scores: np.ndarray, limits: tuple[float, float], per_class: int, most: int
) -> list[Found]:
    """The best `most` detections of all classes, after suppression within each class."""
    found: list[Found] = []
    for c in range(scores.shape[1]):
        found += [(i, c, float(scores[i, c])) for i in _kept(places, scores[:, c], limits, per_class)]
        found = sorted(found, key=lambda one: -one[2])[:most]
    return found


def tables(places: np.ndarray, found: Sequence[Found], rows: int, each: int) -> tuple[np.ndarray, ...]:
    """Boxes, classes and scores of `rows` detections, padded with zeros, and the number of boxes.

    each: number of detections per box.
    """
    boxes, classes, scores = (np.zeros(shape, np.float32) for shape in ((1, rows, 4), (1, rows), (1, rows)))
    for k, (i, c, score) in enumerate(found):
        boxes[0, k], classes[0, k], scores[0, k] = places[i], c, score
    return boxes, classes, scores, np.array([len(found) // each], np.float32)


def corners(boxes: np.ndarray, *, centred: bool) -> np.ndarray:
    """Boxes [..., 4] in float32 as (low, low, high, high) of both axes.

    centred: whether the input has the centre and the size of each axis; else it has two opposite corners.
    """
    if centred:
        half = boxes[..., 2:] / np.float32(2)
        return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)
    first, second = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def suppressed(places: np.ndarray, scores: np.ndarray, limits: tuple[float, float], most: int) -> list[int]:
    """Indices of at most `most` boxes by descending score, without boxes that overlap an earlier box.

    limits: (score that must be exceeded, greatest overlap).

    Source: onnxruntime non_max_suppression.cc, SuppressByIOU.
    """
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    kept: list[int] = []
    for i in (int(k) for k in order if scores[k] > np.float32(limits[0])):
        if len(kept) < most and not any(_is_over(places[i], places[j], np.float32(limits[1])) for j in kept):
            kept.append(i)
    return kept


def _is_over(a: np.ndarray, b: np.ndarray, most: np.float32) -> bool:
    """Whether the intersection over union of two boxes is above `most`, in float32."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if not (sides > 0).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        common, first, second = sides[0] * sides[1], *((v[2] - v[0]) * (v[3] - v[1]) for v in (a, b))
        both = first + second - common
        return bool(common > 0 and first > 0 and second > 0 and both > 0 and common / both > most)
