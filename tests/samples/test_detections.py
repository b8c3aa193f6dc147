# SPDX-License-Identifier: Apache-2.0
"""The words `anomaly` and `nms` after a network: formulas in float64, the C, and files and outputs that do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.samples import decide
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from tests.samples.test_decide import joined, network

CENTROIDS = np.array([[0, 0, 0], [1, 1, 2.0]])
DEVIATIONS = np.array([0.5, 1, 2])


def normal(folder: Path, **arrays: object) -> str:
    np.savez(folder / "normal.npz", **{"centroids": CENTROIDS, "distance": [1.0], **arrays})
    return f"anomaly={folder / 'normal.npz'}"


def in_oracle(text: str, rows: np.ndarray) -> np.ndarray:
    """The results [runs, ...] for the outputs [runs, ...] of a float network."""
    graph = joined(text, network(shape=(1, *rows.shape[1:])))
    runs = interpreter.runs(graph, [[row[None]] for row in rows], "tflm")
    return np.stack([values[graph.outputs[0]][0] for values in runs])


def built(text: str, shape: tuple[int, ...], board: str = "host") -> Artifact:
    prepared = pipeline.prepare_graph(joined(text, network(shape=shape)), Options(board=board, decide=text), "net")
    return pipeline.finish(prepared, pipeline.solve.solve(prepared.graph, prepared.board, prepared.options))


@pytest.mark.parametrize("distance", [[1.2], [0.8, 1.6]])
def test_numbers_far_from_all_centroids(distance: list[float], tmp_path: Path) -> None:
    x = np.random.default_rng(2).uniform(-0.8, 1.9, (60, 3)).astype(np.float32)
    text = normal(tmp_path, distance=distance, deviations=DEVIATIONS)
    apart = np.linalg.norm((x[:, None] - CENTROIDS) / DEVIATIONS, axis=2)
    wanted = (apart > distance).all(axis=1)
    assert np.array_equal(in_oracle(text, x)[:, 0], wanted) and 10 < wanted.sum() < 50
    model = built(text, (1, 3)).load()
    assert np.array_equal([model.run(row[None])[0].item() for row in x], wanted)
    held = in_oracle(text + ",holdoff=1", x)[:, 0]
    assert not (held[1:] & held[:-1]).any() and held.sum() > 5


def test_a_number_at_the_distance_is_normal(tmp_path: Path) -> None:
    text = normal(tmp_path, centroids=np.zeros((1, 2)), distance=[5.0])
    x = np.array([[3, 4], [3, 4.000001]], np.float32)
    assert in_oracle(text, x)[:, 0].tolist() == [False, True]


def detections(count: int, classes: int, extra: int = 0) -> np.ndarray:
    """Boxes of the form xywh in a unit square, with scores in steps of 1/64, so that some are equal."""
    rng = np.random.default_rng(count)
    boxes = np.concatenate([rng.uniform(0.2, 0.8, (count, 2)), rng.uniform(0.1, 0.4, (count, 2))], axis=1)
    scores = rng.integers(0, 64, (count, classes + extra)) / 64
    return np.concatenate([boxes, scores], axis=1).astype(np.float32)


def union_share(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union of two boxes."""
    common = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0).prod()
    return float(common / (sum((box[2:] - box[:2]).prod() for box in (a, b)) - common))


def best(rows: np.ndarray, score: float, overlap: float, most: int) -> np.ndarray:
    """The table of `nms` in float64, for boxes of two corners (left, top, right, bottom), then scores."""
    corners, scores, found = rows[:, :4].astype(float), rows[:, 4:], []
    for c in range(scores.shape[1]):
        taken: list[int] = []
        for i in np.argsort(-scores[:, c], kind="stable"):
            is_alone = all(union_share(corners[i], corners[j]) <= overlap for j in taken)
            if scores[i, c] > score and len(taken) < most and is_alone:
                taken.append(int(i))
                found.append((*corners[i], scores[i, c], c))
    found.sort(key=lambda row: -row[4])
    return np.array([*found[:most], *[(0,) * 6] * most])[:most]


def cornered(rows: np.ndarray) -> np.ndarray:
    half = rows[:, 2:4] / 2
    return np.concatenate([rows[:, :2] - half, rows[:, :2] + half, rows[:, 4:]], axis=1)


def test_the_best_boxes() -> None:
    rows = detections(30, 3)
    wanted = best(cornered(rows), 0.4, 0.3, 8)
    assert np.count_nonzero(wanted[:, 4]) == 8 and len(np.unique(wanted[:, 5])) == 3
    text = "nms(score=0.4,overlap=0.3,most=8)"
    found = in_oracle(text, np.stack([rows]))[0]
    assert np.allclose(found, wanted, rtol=0, atol=1e-6)
    assert np.array_equal(in_oracle(text, rows.T[None])[0], found)
    two = cornered(rows)
    assert np.allclose(in_oracle(text[:-1] + ",boxes=xyxy)", two[None])[0], wanted, rtol=0, atol=1e-6)
    swapped = two[:, [1, 0, 3, 2, 4, 5, 6]]
    assert np.allclose(in_oracle(text[:-1] + ",boxes=yxyx)", swapped[None])[0], wanted, rtol=0, atol=1e-6)


def test_objectness_and_no_boxes() -> None:
    rows = detections(20, 2, extra=1)
    product = np.concatenate([cornered(rows)[:, :4], rows[:, 5:] * rows[:, 4:5]], axis=1)
    found = in_oracle("nms(score=0.2,overlap=0.5,most=5,objectness=yes)", rows[None])[0]
    assert np.allclose(found, best(product, 0.2, 0.5, 5), rtol=0, atol=1e-6) and found.any()
    assert not in_oracle("nms(score=1)", rows[None]).any()


@pytest.mark.parametrize("board", ["host", pytest.param("cortex-m4", marks=pytest.mark.whole)])
def test_the_c_has_the_boxes_of_the_oracle(board: str) -> None:
    rows, text = detections(30, 3), "nms(score=0.4,overlap=0.3,most=8)"
    artifact = built(text, (1, 30, 7), board)
    if board == "host":
        found = artifact.run(rows[None])[0]
    else:
        (found,) = emulated.simulate(artifact, [Case("boxes", [rows[None]])]).outputs[0]
    assert found.reshape(8, 6).tobytes() == in_oracle(text, rows[None])[0].tobytes()


@pytest.mark.parametrize(
    ("arrays", "parts"),
    [
        ({"centroid": CENTROIDS}, ("an unknown array 'centroid'", "centroids=..., distance=[...]")),
        ({"distance": [[1.0]]}, ("centroids [2, 3] and distance [1, 1] do not fit each other",)),
        ({"distance": [1.0, 2, 3]}, ("distance [3] do not fit", "one for each cluster")),
        ({"distance": [-1.0]}, ("distance has a number below 0", "the largest normal distance")),
        ({"deviations": [1.0, 0, 1]}, ("deviations must be an array [3] or [1] of numbers above 0",)),
        ({"centroids": [[np.nan, 0, 0]]}, ("'centroids' has numbers that are not finite",)),
        ({"centroids": np.zeros((30000, 3))}, ("'centroids' has more than 65,536 numbers",)),
        ({"centroids": np.zeros((2, 4))}, ("has centroids of 4 numbers, but the network gives f32 [1, 3]",)),
    ],
)
def test_files_of_what_is_normal(arrays: dict[str, object], parts: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        decide.graph_for(normal(tmp_path, **arrays), network())
    for part in parts:
        assert part in caught.value.explain()


def test_arrays_that_are_missing(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", centroids=CENTROIDS)
    np.savez(tmp_path / "b.npz", distance=[1.0])
    for name, missing in (("a", "distance"), ("b", "centroids")):
        with pytest.raises(UsageError, match=f"has no array '{missing}'"):
            decide.graph_for(f"anomaly={tmp_path / name}.npz", network())
    with pytest.raises(UsageError, match="cannot be read"):
        decide.graph_for("anomaly=none.npz", network())


@pytest.mark.parametrize(
    ("text", "shape", "parts"),
    [
        ("nms", (1, 3), ("takes boxes [1, boxes, 4 + classes], but gets f32 [1, 3]",)),
        ("nms(objectness=yes)", (1, 9, 5), ("takes at least 6 numbers of a box, but gets 5: [1, 9, 5]",)),
        ("unknown=0.5,nms", (1, 9, 5), ("takes boxes",)),
        ("nms,mean=2", (1, 9, 5), ("takes scores, but comes after a word that makes decisions",)),
        ("nms(score=2)", (1, 9, 5), ("score: expected a number from 0 to 1, found '2'",)),
        ("nms(most=0)", (1, 9, 5), ("most: expected a whole number, 1 to 1000",)),
        ("nms(boxes=wxyh)", (1, 9, 5), ("boxes: expected one of xywh, xyxy, yxyx, found 'wxyh'",)),
        ("nms(iou=0.5)", (1, 9, 5), ("'iou=0.5' is no parameter; parameters are boxes, most, objectness",)),
        ("nms=0.5", (1, 9, 5), ("expected parameters in parentheses",)),
    ],
)
def test_outputs_and_parameters_that_do_not_fit(text: str, shape: tuple[int, ...], parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        decide.graph_for(text, network(shape=shape))
    for part in parts:
        assert part in caught.value.explain()
