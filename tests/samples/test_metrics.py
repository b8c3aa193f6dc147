# SPDX-License-Identifier: Apache-2.0
"""Metrics: scores worked out by hand, the choice of a metric by labels, and labels that fit none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.samples import metrics
from mcugen.samples.labels import Ragged
from mcugen.samples.metrics import Interface, ScoredOutput, ctc

IMAGE = ((1, 3, 40, 60),)
ROWS = Interface((ScoredOutput("y", (1, 5, 6)),), IMAGE)
SSD = Interface(
    tuple(ScoredOutput(name, shape) for name, shape in (("b", (1, 2, 4)), ("c", (1, 2)), ("s", (1, 2)), ("n", (1,)))),
    IMAGE,
)


def truth(boxes: list[list[float]], classes: list[float], counts: list[int]) -> Ragged:
    parts = {"boxes": np.array(boxes, np.float64).reshape(-1, 4), "classes": np.array(classes, np.float64)}
    return Ragged(np.array(counts), parts, "t.npz")


def scored(outputs: Any, labels: Any, network: Interface, name: str = "", task: str = "") -> dict[str, Any]:
    found = metrics.chosen(name, labels, network, task)
    return dict(found.score(tuple(np.asarray(o) for o in outputs), labels, network))


def rows(*each: list[float]) -> np.ndarray:
    """An image's rows (four corners, score, class), then rows of zeros."""
    return np.concatenate([np.reshape(each, (-1, 6)), np.zeros((5 - len(each), 6))])


FIRST, SECOND = [0, 0, 10, 10], [20, 20, 30, 30]


def test_precision_falls_by_wrong_boxes_and_by_boxes_found_twice() -> None:
    """Two true boxes; found are the first, the first again, nothing, and the second: precision 1, then 2 of 4."""
    there = truth([FIRST, SECOND], [0, 0], [1, 1])
    image = rows([*FIRST, 0.9, 0], [*FIRST, 0.8, 0]), rows([50, 0, 60, 5, 0.7, 0], [*SECOND, 0.6, 0])
    assert scored([image], there, ROWS) == pytest.approx({"map": (1 + 0.5) / 2, "map50": (1 + 0.5) / 2})


def test_overlap_decides_from_which_threshold_a_box_counts() -> None:
    """7 of 10 columns overlap: found at 0.5 to 0.7, so at 5 of the 10 thresholds; the class without boxes gives 0."""
    there = truth([FIRST], [2], [1])
    assert scored([[rows([0, 0, 7, 10, 0.5, 2])]], there, ROWS) == {"map": 0.5, "map50": 1.0}
    assert scored([[rows([0, 0, 7, 10, 0.5, 2])]], truth([FIRST] * 2, [2, 1], [2]), ROWS, "map50") == {"map50": 0.5}
    assert scored([[rows([0, 0, 7, 10, 0.5, 1])]], there, ROWS, task="detection")["map50"] == 0


def test_outputs_of_a_detector_in_parts() -> None:
    """Boxes, classes, scores and their number, as TFLite_Detection_PostProcess gives them; names may say otherwise."""
    boxes, classes, scores = np.array([[FIRST, SECOND]]) / 64, np.array([[0, 1.0]]), np.array([[0.9, 0.8]])
    there = truth([[v / 64 for v in FIRST], [v / 64 for v in SECOND]], [0, 1], [2])
    assert scored([boxes, classes, scores, [[2]]], there, SSD) == {"map": 1, "map50": 1}
    assert scored([boxes, classes, scores, [[1]]], there, SSD)["map50"] == 0.5
    turned = Interface(
        (SSD.outputs[0], ScoredOutput("scores", (1, 2)), ScoredOutput("labels", (1, 2), numbers_classes=True)), IMAGE
    )
    assert scored([boxes, scores, classes], there, turned)["map50"] == 1


@pytest.mark.parametrize(
    ("labels", "network", "says"),
    [
        (np.zeros(3, np.int64), ROWS, "the samples have no true boxes"),
        (Ragged(np.array([1]), {"boxes": np.zeros((1, 4))}, "t.npz"), ROWS, "t.npz: the samples have no true boxes"),
        (truth([], [], [0, 0]), ROWS, "no image has a true box"),
        (truth([FIRST, SECOND], [0, -1], [1, 1]), ROWS, "box 0 of image 1 has the class -1"),
        (truth([FIRST], [0.5], [1]), ROWS, "has the class 0.5"),
        (truth([FIRST], [3], [1]), Interface(ROWS.outputs, IMAGE, 0, 3), "the class 3, but the model has classes 0 to"),
        (truth([FIRST, [9, 3, 9, 5]], [0, 0], [2]), ROWS, "box 1 of image 0 is [9, 3, 9, 5], which has no area"),
        (truth([[-2, 0, 5, 5]], [0], [1]), ROWS, "is [-2, 0, 5, 5], outside of the image of 40 x 60 pixels"),
        (truth([[50, 0, 62, 5]], [0], [1]), ROWS, "outside of the image"),
        (truth([[-0.1, 0, 0.5, 0.5]], [0], [1]), ROWS, "outside of the image of 0 to 1"),
        (
            truth([FIRST], [0], [1]),
            Interface((ScoredOutput("y", (1, 7, 12, 12)),), IMAGE),
            "outputs of [7, 12, 12] are no",
        ),
    ],
)
def test_truth_that_no_detector_can_match(labels: Any, network: Interface, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        metrics.chosen("", labels, network, "detection")
    assert says in str(caught.value)


def test_boxes_may_have_either_axis_first() -> None:
    metrics.chosen("map50", truth([[0, 50, 10, 60]], [0], [1]), ROWS)
    metrics.chosen("map50", truth([[50, 0, 60, 10]], [0], [1]), ROWS)


@pytest.mark.parametrize("last", [False, True])
def test_mean_iou_leaves_out_absent_classes_and_pixels_that_do_not_count(last: bool) -> None:
    """Labels 0 0 1 -1, answers 0 1 1 1: class 0 has 1 of 2 pixels, class 1 has 1 of 2; class 2 does not occur."""
    labels = np.array([[[0, 0], [1, -1]]])
    scores = np.eye(3)[np.array([[[0, 1], [1, 1]]])]
    shape = (1, 2, 2, 3) if last else (1, 3, 2, 2)
    network = Interface((ScoredOutput("y", shape),))
    assert scored([scores if last else scores.transpose(0, 3, 1, 2)], labels, network) == {"miou": 0.5}
    numbers = Interface((ScoredOutput("y", (1, 2, 2), numbers_classes=True),))
    assert scored([[[[0, 1], [1, 1]]]], labels, numbers) == {"miou": 0.5}
    with pytest.raises(UsageError, match=r"\[0, 1\] of sample 0 has the class 3, but the model has classes 0 to 2"):
        metrics.chosen("", np.array([[[0, 3], [1, -1]]]), network)


def test_frames_name_the_worst_sequence_and_the_course() -> None:
    """Errors of 0, but 0.1 squared in the second sequence's last tenth."""
    targets = np.zeros((2, 20, 3), np.float32)
    found = targets.astype(np.float64)
    found[1, 18:] = 0.1
    network = Interface((ScoredOutput("y", (1, 3)),), frames=20)
    got = scored([found], targets, network)
    assert got["frames"] == pytest.approx(0.01 * 2 / 40) and got["worst_sequence"] == pytest.approx(0.01 * 2 / 20)
    assert got["tenths"] == pytest.approx((0,) * 9 + (0.005,))
    classes = np.zeros((2, 20), np.int64)
    answers = np.eye(3)[(found[..., 0] > 0).astype(int)]
    assert scored([answers], classes, network)["worst_sequence"] == 0.1
    whole = Interface((ScoredOutput("y", (1, 20, 3)),))
    assert scored([answers], classes, whole)["frames"] == 0.05
    assert set(scored([found], targets, whole)) == {"mse"} and set(scored([found], targets, whole, "frames")) == {*got}


def test_edit_distance_of_the_best_path() -> None:
    """Blank 0: the path 1 1 0 1 2 reads 1 1 2, which is one edit from 1 2; and 0 0 0 0 3 reads 3, one of 3 3."""
    paths = np.array([[1, 1, 0, 1, 2], [0, 0, 0, 0, 3]])
    labels = Ragged(np.array([2, 2]), {"y": np.array([1, 2, 3, 3])}, "t.npz")
    network = Interface((ScoredOutput("y", (1, 5, 4)),))
    assert scored([np.eye(4)[paths]], labels, network) == {"ctc": 0.5}
    last = Ragged(np.array([2, 2]), {"y": np.array([0, 1, 2, 2])}, "t.npz")
    assert scored([np.eye(4)[(paths + 3) % 4]], last, network) == {"ctc": 0.5}
    assert ctc.edits([1, 2, 3], []) == 3 and ctc.edits([2, 3, 1], [1, 2, 3]) == 2
    with pytest.raises(UsageError, match="labels have both 0 and 3"):
        metrics.chosen("", Ragged(np.array([2]), {"y": np.array([0, 3])}), network)
    with pytest.raises(UsageError, match="a label is 4"):
        metrics.chosen("ctc", Ragged(np.array([2]), {"y": np.array([0, 4])}), network)


@pytest.mark.parametrize(
    ("labels", "network", "says"),
    [
        (
            np.zeros((2, 5), np.int64),
            Interface((ScoredOutput("y", (1, 7)),)),
            "classes [5] and outputs of [7] fit no metric",
        ),
        (np.zeros((2, 5), np.float32), Interface((ScoredOutput("y", (1, 7)),)), "there are 5 targets per sample"),
        (
            truth([FIRST], [0], [1]),
            Interface((ScoredOutput("y", (1, 7)),)),
            "boxes, classes for each sample and outputs",
        ),
    ],
)
def test_labels_that_ask_for_nothing(labels: Any, network: Interface, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        metrics.chosen("", labels, network)
    assert says in str(caught.value)
