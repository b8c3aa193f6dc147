"""Boxes of detectors, compared with the true boxes of images: mean average precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.labels import Ragged, Truth
from mcugen.samples.metrics import WHERE, Interface, Outputs, ScoredOutput

BOXES, CLASSES = "boxes", "classes"
THRESHOLDS = tuple(k / 100 for k in range(50, 100, 5))
"""Overlaps from which a box counts as found, for the mean of COCO; the first alone for that of PASCAL VOC."""
_ROW, _CORNERS = 6, 4
_SLACK = 1e-3
"""How far a box may lie outside of its image, as a share of the image."""
_FORMS = "an output of rows (four corners, score, class), or outputs with boxes, classes and scores"


@dataclass(frozen=True, eq=False)
class Detections:
    """Boxes of an image: corners [n, 4] as (left, top, right, bottom) or (top, left, bottom, right), classes [n],
    and scores [n]; the scores of true boxes are 1.
    """

    corners: np.ndarray
    classes: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class _Places:
    """Indices of the outputs with boxes, classes and scores, and of the one with the number of boxes, if there is."""

    boxes: int
    classes: int
    scores: int
    count: int | None = None


def _is_rows(network: Interface) -> bool:
    """Whether the only output has rows of corners, score and class."""
    plain = network.outputs[0].plain
    return len(network.outputs) == 1 and len(plain) == 2 and plain[1] == _ROW


def _names(output: ScoredOutput, words: Sequence[str]) -> bool:
    return any(word in output.name.lower() for word in words)


def _places(network: Interface) -> _Places | None:
    """Where a detector with several outputs has what; None if it is none.

    Of two outputs with a number for each box, the one that numbers classes or whose name says so has the classes; if
    none does, it is the first, as TensorFlow Lite's TFLite_Detection_PostProcess orders them.
    """
    shapes = [output.plain for output in network.outputs]
    boxes = [k for k, shape in enumerate(shapes) if len(shape) == 2 and shape[1] == _CORNERS]
    if len(boxes) != 1:
        return None
    numbers = [k for k, shape in enumerate(shapes) if shape in (shapes[boxes[0]][:1], (shapes[boxes[0]][0], 1))]
    counts = [k for k, output in enumerate(network.outputs) if output.size == 1 and k not in numbers[:2]]
    if len(numbers) < 2:
        return None
    first, second = numbers[:2]
    outputs = network.outputs
    is_second = outputs[second].numbers_classes or _names(outputs[second], ("class", "label"))
    is_first = outputs[first].numbers_classes or _names(outputs[first], ("class", "label"))
    is_second = (is_second or _names(outputs[first], ("score", "conf"))) and not is_first
    classes, scores = (second, first) if is_second else (first, second)
    return _Places(boxes[0], classes, scores, counts[0] if counts else None)


def fits(truth: Truth, network: Interface) -> bool:
    return isinstance(truth, Ragged) and BOXES in truth.parts and (_is_rows(network) or _places(network) is not None)


def require(truth: Truth, network: Interface) -> None:
    """Raise UsageError if there are no true boxes, if one is impossible, or if the network gives no boxes."""
    where = truth.where if isinstance(truth, Ragged) else WHERE
    if not isinstance(truth, Ragged) or not {BOXES, CLASSES} <= truth.parts.keys():
        hint = "add arrays boxes [all boxes, 4], classes [all boxes], and counts [images] with the boxes of each image"
        raise UsageError("the samples have no true boxes", where=where, hint=hint)
    boxes, classes = truth.parts[BOXES], truth.parts[CLASSES]
    if boxes.shape[1:] != (_CORNERS,) or classes.shape[1:]:
        what = f"boxes are {list(boxes.shape)}, classes {list(classes.shape)}"
        raise UsageError(what, where=where, hint="give boxes [all boxes, 4] and classes [all boxes]")
    if not len(boxes):
        raise UsageError("no image has a true box", where=where, hint="give images with objects")
    _require_classes(truth, network.box_classes, where)
    _require_inside(truth, network, where)
    if not _is_rows(network) and _places(network) is None:
        shapes = ", ".join(str(list(output.plain)) for output in network.outputs)
        hint = f"build {_FORMS}: see --decide nms; or score the outputs by a function of yours, FILE.py:NAME"
        raise UsageError(f"outputs of {shapes} are no boxes", where=WHERE, hint=hint)


def _image_of(truth: Ragged, box: int) -> str:
    """The place of a true box, in words."""
    ends = np.cumsum(truth.counts)
    image = int(np.searchsorted(ends, box, side="right"))
    return f"box {box - int(ends[image] - truth.counts[image])} of image {image}"


def _require_classes(truth: Ragged, count: int, where: str) -> None:
    """Raise UsageError for a class that the model does not have. count: number of its classes, 0 if unknown."""
    classes = truth.parts[CLASSES]
    wrong = np.flatnonzero((classes < 0) | (classes != np.floor(classes)) | ((classes >= count) & (count > 0)))
    if wrong.size:
        known = f", but the model has classes 0 to {count - 1}" if count else ""
        what = f"{_image_of(truth, int(wrong[0]))} has the class {classes[wrong[0]]:g}{known}"
        raise UsageError(what, where=where, hint="number the classes as the model does: whole numbers from 0")


def _require_inside(truth: Ragged, network: Interface, where: str) -> None:
    """Raise UsageError for a box without area, or outside of the image: 0 to 1, or its size in pixels."""
    boxes = truth.parts[BOXES].astype(np.float64)
    flat = np.flatnonzero((boxes[:, 2] <= boxes[:, 0]) | (boxes[:, 3] <= boxes[:, 1]))
    if flat.size:
        what = f"{_image_of(truth, int(flat[0]))} is {_text(boxes[flat[0]])}, which has no area"
        raise UsageError(what, where=where, hint="give two opposite corners, the lesser one first")
    limits, size = [np.ones(4)], "0 to 1"
    image = [d for d in (network.inputs[0] if network.inputs else ()) if d > _CORNERS][-2:]
    if boxes.max() > 1 + _SLACK and len(image) == 2:
        limits, size = [np.array(image[::-1] * 2, float), np.array(image * 2, float)], f"{image[0]} x {image[1]} pixels"
    elif boxes.max() > 1 + _SLACK:
        limits, size = [np.full(4, np.inf)], "an unknown size"
    outside = [np.flatnonzero(((boxes < -_SLACK * m) | (boxes > (1 + _SLACK) * m)).any(axis=1)) for m in limits]
    if all(found.size for found in outside):
        first = int(outside[0][0])
        hint = "give corners as the model does: in pixels of its input, or as shares of the image"
        what = f"{_image_of(truth, first)} is {_text(boxes[first])}, outside of the image of {size}"
        raise UsageError(what, where=where, hint=hint)


def _text(box: np.ndarray) -> str:
    return f"[{', '.join(f'{v:g}' for v in box)}]"


def found_in(outputs: Outputs, network: Interface) -> list[Detections]:
    """The boxes that a network gives for each image: those with a score above 0."""
    count = len(outputs[0])
    plain = [a.reshape(count, *o.plain) for a, o in zip(outputs, network.outputs, strict=True)]
    if _is_rows(network):
        corners, scores, classes = plain[0][..., :4], plain[0][..., 4], plain[0][..., 5]
    else:
        at = _places(network)
        assert at is not None
        corners = plain[at.boxes]
        scores, classes = (plain[k].reshape(count, -1).astype(np.float64) for k in (at.scores, at.classes))
        if at.count is not None:
            rows = np.arange(scores.shape[1]) < plain[at.count].reshape(count, 1)
            scores = np.where(rows, scores, 0)
    there = scores > 0
    return [
        Detections(corners[k][there[k]].astype(np.float64), np.rint(classes[k][there[k]]), scores[k][there[k]])
        for k in range(count)
    ]


def true_boxes(truth: Truth) -> list[Detections]:
    """The true boxes of each image."""
    assert isinstance(truth, Ragged)
    pairs = zip(truth.rows(BOXES), truth.rows(CLASSES), strict=True)
    return [Detections(b.astype(np.float64), c.astype(np.float64), np.ones(len(b))) for b, c in pairs]


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union of each pair of boxes [n, 4] and [m, 4]: [n, m]; 0 for boxes without area."""
    first, last = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.maximum(last - first, 0).prod(axis=2)
    areas = [np.maximum(x[:, 2:] - x[:, :2], 0).prod(axis=1) for x in (a, b)]
    either = areas[0][:, None] + areas[1][None] - both
    return np.asarray(both / np.where(either > 0, either, 1))


def mean_precision(found: Sequence[Detections], truth: Sequence[Detections], threshold: float) -> float:
    """The average precision of each class that the truth has, averaged: areas below precision over recall.

    Boxes are taken by their score, best first. Each finds the true box of its class, not yet found, that it overlaps
    most, by at least the threshold; otherwise it is wrong. Precision is the best at that recall or beyond.
    """
    known = sorted({float(c) for image in truth for c in image.classes})
    return float(np.mean([_precision(found, truth, threshold, kind) for kind in known]))


def _precision(found: Sequence[Detections], truth: Sequence[Detections], threshold: float, kind: float) -> float:
    scores, hits = [np.zeros(0)], [np.zeros(0, bool)]
    for got, there in zip(found, truth, strict=True):
        mine = np.flatnonzero(got.classes == kind)
        mine = mine[np.argsort(-got.scores[mine], kind="stable")]
        shared = overlaps(got.corners[mine], there.corners[there.classes == kind])
        scores.append(got.scores[mine])
        hits.append(_hits(shared, threshold))
    order = np.argsort(-np.concatenate(scores), kind="stable")
    right = np.cumsum(np.concatenate(hits)[order])
    total = sum(int((image.classes == kind).sum()) for image in truth)
    precision = right / np.arange(1, right.size + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((np.diff(right, prepend=0) * best).sum() / total)


def _hits(shared: np.ndarray, threshold: float) -> np.ndarray:
    """Whether each box [n], best first, finds a true one. shared: overlaps [n, true boxes]."""
    left, found = np.ones(shared.shape[1], bool), np.zeros(len(shared), bool)
    for k, row in enumerate(shared):
        free = np.where(left, row, -1.0)
        if free.size and free.max() >= threshold:
            found[k] = True
            left[int(free.argmax())] = False
    return found
