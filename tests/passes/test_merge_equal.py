# SPDX-License-Identifier: Apache-2.0
"""Equal nodes with equal operands are computed once, for every format; what must stay after the run stays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import passes
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.verify import checks
from tests.formats.onnx_models import Writer, write
from tests.passes.net import Net, differences


def kinds(graph: Graph) -> Counter[str]:
    return Counter(type(node.op).__name__ for node in passes.run(graph, "tflm").nodes)


def loaded(path: Path) -> Graph:
    return read.load(path, registry.load())


def twice(net: Net, other: bool = False) -> list[int]:
    """Two convolutions and clamps with constants of their own, with equal bytes or not."""
    found = []
    for k in range(2):
        net.rng = np.random.default_rng(other * k)
        c = net.conv(net.x, [1, 2, 3], size=3)
        found.append(net.op("RELU", [c], net.shape[c]))
    return found


@pytest.mark.parametrize("dtype", ["s8", "s16", "f32"])
def test_two_identical_convolutions_are_one(dtype: str, tmp_path: Path) -> None:
    net = Net(dtype=dtype)
    a, b = twice(net)
    (tmp_path / "m.tflite").write_bytes(net.build(net.op("ADD", [a, b], net.shape[a])))
    graph = loaded(tmp_path / "m.tflite")
    done = passes.run(graph, "tflm")
    assert Counter(type(node.op).__name__ for node in done.nodes)["Conv2D"] == 1
    assert "equal nodes" in {item.what for item in done.removed}
    assert dtype == "f32" or not differences(graph, done, "tflm")


def test_other_weights_and_other_scales_are_not_equal(tmp_path: Path) -> None:
    net = Net()
    a, b = twice(net, other=True)
    (tmp_path / "m.tflite").write_bytes(net.build(net.op("ADD", [a, b], net.shape[a])))
    assert kinds(loaded(tmp_path / "m.tflite"))["Conv2D"] == 2
    net = Net()
    c, d = (net.op("RELU", [net.x], (1, 4, 4, 2), zero) for zero in (0, 5))
    (tmp_path / "m.tflite").write_bytes(net.build(net.op("ADD", [c, d], (1, 4, 4, 2))))
    assert kinds(loaded(tmp_path / "m.tflite"))["Relu"] == 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kept", [(), (0,), (1,), (0, 1), (2,), (0, 3), (0, 1, 2, 3)])
def test_results_that_are_outputs_keep_their_names(kept: tuple[int, ...], tmp_path: Path) -> None:
    w = Writer(seed=4)
    x, taps = w.input([1, 2, 5, 5]), w.rng.normal(size=(3, 2, 3, 3)).astype(np.float32)
    made = [w.node("Conv", [x, w.constant(taps.copy())]) for _ in range(2)]
    made += [w.node("Tanh", [c]) for c in made]
    y = w.node("Mul", made[2:])
    path = write(w.model(y, *(made[k] for k in kept)), tmp_path)
    artifact = mcugen.compile(path)
    assert sum(type(node.op).__name__ == "Conv2D" for node in artifact.graph.nodes) == 1
    assert checks.verify(artifact, 1, None, None, lambda text: None).agrees


def test_equal_rows_of_a_chain_collapse_from_the_top(tmp_path: Path) -> None:
    """Nodes whose operands become equal are equal."""
    net = Net()
    values = [net.x, net.x]
    for _ in range(3):
        values = [net.op("LOGISTIC", [x], net.shape[net.x]) for x in values]
    (tmp_path / "m.tflite").write_bytes(net.build(net.op("ADD", values, net.shape[net.x])))
    graph = loaded(tmp_path / "m.tflite")
    assert not differences(graph, passes.run(graph, "tflm"), "tflm")
    assert sum(item.what == "equal nodes" for item in passes.run(graph, "tflm").removed) == 3
