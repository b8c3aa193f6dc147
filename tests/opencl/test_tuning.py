# SPDX-License-Identifier: Apache-2.0
"""Tables of measured launches, sums fused into convolutions, and the devices of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mcugen import passes, pipeline
from mcugen.boards.target import Target, load
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.kernel import Grid
from mcugen.ir.types import TensorType
from mcugen.machines.toolchain import opencl
from mcugen.opencl_bench import tuning
from mcugen.ops._residual import ResidualConv2D
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.solve import device_kernels as chosen
from mcugen.solve.schedule import Choice
from tests.opencl import launched
from tests.support.tflite_writer import ModelWriter

FEATURES = frozenset({"cl12", "fence"})


def residual(channels: int = 8) -> Graph:
    """relu(conv(x) + x), with taps for several parts."""
    image = TensorType((1, 5, 4, channels), "f32")
    w = np.random.default_rng(3).standard_normal((channels, 3, 3, channels)).astype(np.float32)
    tensors = [
        Tensor("x", image, None, "x"),
        Tensor("w", TensorType(w.shape, "f32"), w, "w"),
        Tensor("c", image, None, "c"),
        Tensor("y", image, None, "y"),
    ]
    nodes = (
        Node("conv", Conv2D(), ("x", "w"), ("c",), "node 0"),
        Node("sum", Add("RELU"), ("x", "c"), ("y",), "node 1"),
    )
    return verify(Graph("case", {t.name: t for t in tensors}, nodes, ("x",), ("y",), format="tflite"), "test")


def test_a_sum_goes_into_the_convolution_for_devices_alone() -> None:
    (node,) = passes.run(residual(), "tflm", FEATURES).nodes
    assert isinstance(node.op, ResidualConv2D)
    assert node.op.activation == "RELU"
    assert len(passes.run(residual(), "tflm").nodes) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("channels", [8, 3])
def test_fused_sums_and_split_taps_equal_the_oracle(channels: int, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    count = 2 if pytestconfig.getoption("--whole") else 1
    graph = passes.run(residual(channels), "tflm", FEATURES)
    node = graph.nodes[0]
    call = graph.call(node, "tflm")
    rng = np.random.default_rng(1)
    x = rng.standard_normal(call.input(0).shape).astype(np.float32)
    expected = interpreter.run(residual(channels), [x], "tflm")["y"]
    cases = []
    from mcugen import kernels

    assert launched.DEVICE is not None
    for kernel in kernels.on_device(ResidualConv2D):
        assert isinstance(kernel.form, Grid)
        if kernel.refusals(call, launched.FEATURES):
            continue
        smallest = [k for k in chosen.launches(call, kernel, launched.DEVICE) if dict(k.grid.tile)["BM"] <= 16][:count]
        for made in smallest:
            title = f"{made.symbol} {dict(made.grid.tile)}"
            cases.append(launched.Launched(title, Choice(node, call, made, ""), (x, x), expected, 1.0))
    assert any("split" in c.label for c in cases)
    assert not launched.check(cases, tmp_path)


def test_joins_take_earlier_joins() -> None:
    part, two, three = (TensorType((1, 2, 2, c), "f32") for c in (4, 8, 12))
    tensors = [Tensor(n, part, None, n) for n in "abc"]
    tensors += [Tensor("ab", two, None, "ab"), Tensor("abc", three, None, "abc")]
    nodes = (
        Node("first", Concatenation(3), ("a", "b"), ("ab",), "node 0"),
        Node("second", Concatenation(3), ("a", "b", "c"), ("abc",), "node 1"),
    )
    graph = Graph("case", {t.name: t for t in tensors}, nodes, ("a", "b", "c"), ("ab", "abc"), format="tflite")
    assert passes.run(graph, "tflm", FEATURES).nodes[1].inputs == ("ab", "c")
    assert passes.run(graph, "tflm").nodes[1].inputs == ("a", "b", "c")


def board(folder: Path, entries: object) -> Target:
    text = (Path(load("opencl-generic").folder) / "board.toml").read_text(encoding="utf-8")
    (folder / "board.toml").write_text(text, encoding="utf-8")
    (folder / chosen.TABLE).write_text(json.dumps(entries), encoding="utf-8")
    return load(str(folder))


def test_a_table_decides_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    graph = passes.run(residual(), "tflm", FEATURES)
    call = graph.call(graph.nodes[0], "tflm")
    from mcugen import kernels

    fitting = [k for k in kernels.on_device(ResidualConv2D) if "split" not in k.symbol]
    free = chosen.tiled(call, fitting, load("opencl-generic"))[0]
    other = next(
        k
        for k in chosen.launches(call, fitting[0], chosen.device_of(load("opencl-generic")))
        if k.grid.tile != free.grid.tile
    )
    entry = {"kernel": other.symbol, "tile": dict(other.grid.tile), "seconds": 1.0}
    target = board(tmp_path, {"entries": {chosen.key_of(call): entry}})
    found = chosen.tiled(call, fitting, target)[0]
    assert found.grid.tile == other.grid.tile
    assert "measured" in chosen.reason(found, call, target)
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match="not a table of mcugen tune"):
        chosen.tiled(call, fitting, board(tmp_path / "other", {"entries": {"x": 1}}))


@pytest.mark.whole
def test_launches_with_and_without_an_activation_are_measured(tmp_path: Path) -> None:
    """A missing clamp has infinite bounds: the program of the launches must write them as C."""
    m = ModelWriter()
    x, h, y = m.tensor("x", (1, 16), "f32"), m.tensor("h", (1, 8), "f32"), m.tensor("y", (1, 4), "f32")
    first = m.tensor("v", (8, 16), "f32", data=np.linspace(-1, 1, 128).reshape(8, 16))
    second = m.tensor("w", (4, 8), "f32", data=np.linspace(-1, 1, 32).reshape(4, 8))
    m.op("FULLY_CONNECTED", [x, first, -1], [h], {"fused_activation_function": "RELU"})
    m.op("FULLY_CONNECTED", [h, second, -1], [y])
    (tmp_path / "net.tflite").write_bytes(m.build([x], [y]))
    prepared = pipeline.prepare(tmp_path / "net.tflite", Options(board="opencl-generic", backend="opencl"))
    calls = {key: choices[:1] for key, choices in tuning.candidates(prepared)}
    tuned = tuning.measure(calls, tmp_path / "table.json", lambda line: None)
    assert tuned.measured == len(calls) == len(tuned.entries) == 2
    assert not tuned.refused


def test_devices_are_listed() -> None:
    found = opencl.devices()
    assert found
    assert all(d.compute_units > 0 and d.max_group > 0 and d.name for d in found)
