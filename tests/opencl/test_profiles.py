# SPDX-License-Identifier: Apache-2.0
"""Devices on paper: their limits hold under oclgrind, their times are marked, and whose table a device takes."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels, pipeline, solve
from mcugen.boards.target import load, names
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Grid
from mcugen.opencl_bench import device_bench
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.softmax import Softmax
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.solve import device_kernels as chosen
from mcugen.system import resources
from tests.opencl.test_runs import SIZE, Builder

PAPER = ("opencl-videocore-vi", "opencl-mali-g72", "opencl-adreno-630", "opencl-vivante-gc7000")


def network() -> Graph:
    """A small network of convolutions, with an end as classifiers have it."""
    b = Builder(1)
    b.conv("a", "x", 16, 8, 3)
    b.node(DepthwiseConv2D(), "d", 8, "a", b.constant(1, 3, 3, 8), b.constant(8))
    b.node(Conv2D(activation="RELU"), "p", 12, "d", b.constant(12, 1, 1, 8), b.constant(12))
    b.node(MaxPool2D((SIZE, SIZE), (1, 1), "VALID"), "m", 12, "p", size=(1, 1))
    b.node(FullyConnected(keep_dims=True), "f", 4, "m", b.constant(4, 12), b.constant(4), size=(1, 1))
    b.node(Softmax(), "y", 4, "f", size=(1, 1))
    return b.graph("y")


def built(board: str) -> pipeline.Artifact:
    prepared = pipeline.prepare_graph(network(), Options(board=board), "net")
    return pipeline.finish(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


def limits(artifact: pipeline.Artifact) -> list[str]:
    device = chosen.device_of(artifact.target)
    grids = [s.choice.kernel.launch(s.choice.call) for s in artifact.schedule.steps if s.on_device]
    assert grids
    assert all(g.group_items <= device.max_group and g.local_bytes <= device.local_bytes for g in grids)
    return ["--max-wgsize", str(device.max_group), "--local-mem-size", str(device.local_bytes)]


@pytest.mark.parametrize("board", PAPER)
def test_launches_keep_the_limits_of_a_profile(board: str) -> None:
    assert limits(built(board))


@pytest.mark.parametrize("board", [PAPER[0], *(pytest.param(name, marks=pytest.mark.whole) for name in PAPER[1:])])
def test_programs_keep_the_limits_of_a_profile(board: str, tmp_path: Path) -> None:
    artifact = built(board)
    options = limits(artifact)
    x = np.random.default_rng(5).standard_normal(artifact.graph.type("x").shape).astype(np.float32)
    program = device_bench.write(artifact, tmp_path, [x])
    files = [str(tmp_path / device_bench.INPUT), str(tmp_path / device_bench.OUTPUT)]
    environment = {**os.environ, "MCUGEN_CL_CACHE": "", "OCL_ICD_VENDORS": "", "MCUGEN_CL_DEVICE": ""}
    command = ["oclgrind", "--data-races", "--check-api", *options, str(program), "0", "0", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Oclgrind" in done.stdout
    assert not any(word in done.stderr for word in ("Error", "race", "Invalid")), done.stderr
    expected = interpreter.run(network(), [x], "tflm")["y"]
    got = np.frombuffer((tmp_path / device_bench.OUTPUT).read_bytes(), np.float32)
    assert np.allclose(got, expected.reshape(-1), atol=1e-5)


def test_times_on_paper_are_marked() -> None:
    artifact = built(PAPER[1])
    steps = [line for line in artifact.report.notes if line.startswith("times are by the roofline of Arm Mali-G72")]
    assert steps
    assert "not measured" in steps[0]
    assert "384" in steps[0]
    page = artifact.files["report.html"].decode()
    on_device = sum(step.on_device for step in artifact.schedule.steps)
    assert page.count("not measured") >= on_device
    measured = load("opencl-nvidia-h100").device
    assert measured is not None
    assert measured.measured
    assert all(not chosen.device_of(load(name)).measured and chosen.device_of(load(name)).source for name in PAPER)


def test_a_device_without_a_table_takes_the_nearest_one_and_says_so(tmp_path: Path) -> None:
    own = load("opencl-nvidia-h100")
    text = (own.folder / "board.toml").read_text(encoding="utf-8")
    assert "compute_units = 132" in text
    (tmp_path / "board.toml").write_text(text.replace("compute_units = 132", "compute_units = 108"), encoding="utf-8")
    target = load(str(tmp_path))
    graph = network()
    table = chosen.table_of(own.folder)
    call = graph.call(next(n for n in graph.nodes if n.outputs == ("p",)), "tflm")
    fitting = [
        k for k in kernels.on_device(Conv2D) if isinstance(k.form, Grid) and not k.refusals(call, target.features)
    ]
    other = list(chosen.launches(call, fitting[0], chosen.device_of(target)))[-1]
    known = {**table, chosen.key_of(call): chosen.Tuned(other.symbol, other.grid.tile, 1e-6)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chosen, "table_of", lambda folder: known if folder == own.folder else {})
        chosen.nearest.cache_clear()
        found = chosen.tiled(call, fitting, target)[0]
        assert (found.symbol, found.grid.tile) == (other.symbol, other.grid.tile)
        why = chosen.reason(found, call, target)
    chosen.nearest.cache_clear()
    assert "opencl-nvidia-h100, the nearest device with a table" in why
    assert "not measured" in why


def test_devices_that_are_far_take_no_table() -> None:
    """Neither those on paper nor the generic one; one of the same maker does, one of another only if it is alike."""
    assert [chosen.nearest(chosen.device_of(load(name))) for name in (*PAPER, "opencl-generic")] == [""] * 5
    device = chosen.device_of(load("opencl-nvidia-h100"))
    half = dataclasses.replace(device, compute_units=66, flops=device.flops / 2)
    assert chosen.nearest(half) == "opencl-nvidia-h100"
    assert chosen.nearest(dataclasses.replace(half, vendor="amd")) == "opencl-nvidia-h100"
    assert chosen.nearest(dataclasses.replace(half, vendor="amd", bandwidth=device.bandwidth / 64)) == ""


def test_tables_lie_beside_the_boards_that_ship() -> None:
    """Tables are package data of a wheel: each is beside a board with limits, and is read."""
    found = sorted(resources.boards().glob(f"*/{chosen.TABLE}"))
    assert [path.parent.name for path in found] == ["opencl-nvidia-h100"]
    assert all(path.parent.name in names() and len(chosen.table_of(path.parent)) > 100 for path in found)
    settings = (resources.boards().parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '"boards" = "mcugen/_data/boards"' in settings
