# SPDX-License-Identifier: Apache-2.0
"""Words after a network: what they decide over several runs, and scores that they do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline
from mcugen.errors import UsageError
from mcugen.formats import chain
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.reshape import Reshape
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.samples import decide

SCORES = np.random.default_rng(4).integers(0, 17, (40, 3)).astype(np.float32) / 16
"""Scores of 40 runs in steps of 1/16, so that sums are exact."""


def network(dtype: str = "f32", shape: tuple[int, ...] = (1, 3)) -> Graph:
    t = TensorType(shape, dtype, None if dtype == "f32" else QuantParams((1 / 16,), (0,)))
    tensors = {"x": Tensor("x", t), "y": Tensor("y", t)}
    return Graph("net", tensors, (Node("n", Reshape(shape), ("x",), ("y",)),), ("x",), ("y",), format="tflite")


def joined(text: str, net: Graph) -> Graph:
    return chain.joined(net, chain.renamed(decide.graph_for(text, net), "decide_"))


def decided(text: str, scores: np.ndarray = SCORES) -> np.ndarray:
    """The decisions of all runs, in the oracle."""
    graph = joined(text, network())
    runs = interpreter.runs(graph, [[row[None]] for row in scores], "tflm")
    return np.concatenate([values[graph.outputs[0]].reshape(1, -1) for values in runs])


def newest(x: np.ndarray, count: int) -> np.ndarray:
    """[runs, count, classes]: the newest rows, with zeros before the first."""
    padded = np.concatenate([np.zeros((count - 1, x.shape[1])), x])
    return np.stack([padded[k : k + count] for k in range(len(x))])


def test_means_and_smoothing() -> None:
    assert np.array_equal(decided("mean=4"), newest(SCORES, 4).mean(axis=1))
    assert np.array_equal(decided("mean=1"), SCORES)
    state, wanted = np.zeros(3, np.float32), []
    for row in SCORES:
        state = state + np.float32(0.25) * (row - state)
        wanted.append(state)
    assert np.array_equal(decided("smooth=0.25"), wanted)


def test_classes_votes_and_the_best() -> None:
    best = SCORES.argmax(axis=1)
    wanted = np.where(SCORES.max(axis=1) >= 0.75, best, 3)
    assert np.array_equal(decided("unknown=0.75")[:, 0], wanted) and 3 in wanted
    votes = newest(np.eye(3)[best], 5).sum(axis=1)
    assert np.array_equal(decided("vote=5")[:, 0], votes.argmax(axis=1))
    assert np.array_equal(decided("topk=2"), np.argsort(-SCORES, axis=1, kind="stable")[:, :2])


def test_hysteresis_and_holdoff() -> None:
    on, wanted, held, wait = np.zeros(3, bool), [], [], 0
    for row in SCORES:
        on = row > np.where(on, 0.25, 0.5)
        wanted.append(on)
        held.append(on & (wait == 0))
        wait = 3 if held[-1].any() else max(wait - 1, 0)
    assert np.array_equal(decided("hysteresis=0.5:0.25"), wanted)
    assert np.array_equal(decided("hysteresis=0.5:0.25,holdoff=3"), held)
    assert 5 < np.sum(np.any(held, axis=1)) <= 10


def test_the_c_decides_as_the_oracle() -> None:
    text = "mean=3,smooth=0.5,hysteresis=0.6:0.4,holdoff=2"
    prepared = pipeline.prepare_graph(joined(text, network("s8")), Options(decide=text), "net")
    artifact = pipeline.finish(prepared, pipeline.solve.solve(prepared.graph, prepared.board, prepared.options))
    model = artifact.load()
    found = [model.run(np.int8(row * 16)[None])[0].reshape(-1) for row in SCORES]
    assert np.array_equal(found, decided(text)) and np.any(found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mean=0", ("'mean=0'", "expected a whole number, 1 to 1000, found '0'")),
        ("smooth=1", ("expected a number above 0 and below 1",)),
        ("hysteresis=0.2:0.4", ("expected ON, or ON:OFF with OFF at most ON",)),
        ("unknown=nan", ("expected a number or a fraction",)),
        ("hysteresis=a", ("expected a number or a fraction",)),
        ("topk=4", ("there are only 3 classes", "correct 'topk=4'")),
        ("unknown=0.5,mean=2", ("takes scores, but comes after a word that makes decisions",)),
        ("holdoff=5", ("takes detections: put hysteresis before it",)),
        ("median=3", ("'median=3' is not a known word", "vote=N", "--decide")),
    ],
)
def test_words_that_cannot_be(text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        decide.graph_for(text, network())
    for part in parts:
        assert part in caught.value.explain()


def test_networks_without_scores() -> None:
    net = network()
    two = net.updated(outputs=("y", "x"))
    with pytest.raises(UsageError, match="needs a model with one output, but this one has 2"):
        decide.graph_for("mean=2", two)
    with pytest.raises(UsageError, match="is no scores"):
        decide.graph_for("mean=2", network(shape=(2, 3)))


def test_the_docs_list_every_word() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/sensors.md").read_text(encoding="utf-8")
    assert not [word.form for word in decide.WORDS if f"`{word.form}`" not in page]
