# SPDX-License-Identifier: Apache-2.0
"""RAM budgets: the fastest schedule that fits, or the smallest RAM that exists and what takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import kernels, pipeline, solve
from mcugen.boards import target
from mcugen.errors import MemoryBudgetError, NoKernelError, UsageError
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Op
from mcugen.options import Options, bytes_of
from mcugen.pipeline import Artifact
from mcugen.solve import budget, constant_limits, costs, solver
from mcugen.solve.constant_limits import FIRMWARE_BYTES
from mcugen.solve.prices import FREE, Prices
from mcugen.solve.stretch import Stretch
from tests.rows.graphs import random_graph
from tests.support.tflite_writer import ModelWriter


def chain(sides: tuple[int, ...], channels: tuple[int, ...], most: int = 127, apart: int = 1) -> bytes:
    """3x3 convolutions, stride 2 where the side halves. most: of the weights; apart: columns from tap to tap."""
    rng = np.random.default_rng(3)
    m = ModelWriter()
    dilated = {"dilation_w_factor": apart} if apart > 1 else {}
    x = first = m.tensor("x", (1, sides[0], sides[0], channels[0]), "s8", scale=0.05)
    for k in range(1, len(sides)):
        w = rng.integers(-most, min(most, 127) + 1, (channels[k], 3, 3, channels[k - 1]))
        weights = m.tensor(f"w{k}", w.shape, "s8", scale=(0.01,) * channels[k], data=w)
        y = m.tensor(f"y{k}", (1, sides[k], sides[k], channels[k]), "s8", scale=0.05)
        stride = sides[k - 1] // sides[k]
        m.op("CONV_2D", [x, weights], [y], {"padding": "SAME", "stride_h": stride, "stride_w": stride} | dilated)
        x = y
    return m.build([first], [x])


def residual(tmp_path: Path, **choices: Any) -> Artifact:
    """Two convolutions and the sum of their results."""
    rng = np.random.default_rng(4)
    m = ModelWriter()
    x = m.tensor("x", (1, 16, 16, 8), "s8", scale=0.05)
    weights = m.tensor("w", (8, 3, 3, 8), "s8", scale=(0.01,) * 8, data=rng.integers(-127, 128, (8, 3, 3, 8)))
    y, z, s = (m.tensor(name, (1, 16, 16, 8), "s8", scale=0.05) for name in "yzs")
    for source, made in ((x, y), (y, z)):
        m.op("CONV_2D", [source, weights], [made], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    m.op("ADD", [y, z], [s])
    return built(tmp_path, m.build([x], [s]), **choices)


SMALL = chain((16, 16, 16, 8, 8, 4), (1, 6, 4, 8, 4, 2))


def built(folder: Path, data: bytes, **choices: Any) -> Artifact:
    (folder / "m.tflite").write_bytes(data)
    return mcugen.compile(folder / "m.tflite", **choices)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("20000", 20000), ("20K", 20480), ("64KiB", 65536), ("2M", 2 << 20), ("512B", 512), (" 1k", 1024)],
)  # fmt: skip
def test_sizes_are_read(text: str, expected: int) -> None:
    assert bytes_of(text) == expected
    assert Options(ram=text).ram_bytes == expected


@pytest.mark.parametrize("text", ["0", "-5", "20.5K", "K", "1G", "0x10", "٣", "1" * 13, "20K20", "20 000"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        Options(ram=text)


def test_no_budget_is_whole() -> None:
    assert Options().ram_bytes is None


def test_whole_tensors_where_they_fit(tmp_path: Path) -> None:
    whole = built(tmp_path, SMALL)
    same = built(tmp_path, SMALL, ram=str(whole.report.ram_bytes))
    assert not same.schedule.interleaved
    assert same.report.ram_bytes == whole.report.ram_bytes
    assert same.report.notes == ()


def test_every_budget_is_kept_and_less_ram_takes_no_fewer_events(tmp_path: Path) -> None:
    whole = built(tmp_path, SMALL).report.ram_bytes
    least = built(tmp_path, SMALL, optimize="ram").report.ram_bytes
    assert least < whole // 2
    events = 0
    for limit in range(whole, least - 1, -160):
        artifact = built(tmp_path, SMALL, ram=str(limit))
        assert artifact.report.ram_bytes <= limit
        assert len(artifact.schedule.trace) >= events
        events = len(artifact.schedule.trace)
    assert built(tmp_path, SMALL, ram=str(least)).report.ram_bytes <= least


def test_the_least_ram_takes_no_kernel_of_whole_tensors_where_one_runs_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if it is estimated to be the faster one. The broadcasting kernel takes here what runs of elements can do."""
    fast = costs.Estimate(1, 1, 1, True)
    estimate, of = costs.estimate, kernels.of

    def without_rules(op: Op) -> tuple[Kernel, ...]:
        return tuple(replace(k, accepts=k.accepts[:1]) if isinstance(k.form, Whole) else k for k in of(op))

    monkeypatch.setattr(kernels, "of", without_rules)
    monkeypatch.setattr(
        costs,
        "estimate",
        lambda k, *args, **named: fast if isinstance(k.form, Whole) and k.symbol else estimate(k, *args, **named),
    )
    speed, least = (residual(tmp_path, optimize=goal, board="cortex-m4") for goal in ("speed", "ram"))
    assert isinstance(speed.schedule.steps[-1].choice.kernel.form, Whole)
    assert all(step.by_rows for step in least.schedule.steps)
    assert least.report.ram_bytes < speed.report.ram_bytes


def test_the_report_says_why_rows_are_used(tmp_path: Path) -> None:
    artifact = built(tmp_path, SMALL, ram="2K")
    (note,) = artifact.report.notes
    assert "computed row by row: with whole tensors the model needs 2,672 bytes, --ram allows 2,048" in note
    assert "--ram 2048" in artifact.view.command


def test_too_small_a_budget_says_what_exists(tmp_path: Path) -> None:
    least = built(tmp_path, SMALL, optimize="ram").report
    with pytest.raises(MemoryBudgetError) as caught:
        built(tmp_path, SMALL, ram="300")
    text = caught.value.explain()
    assert f"smallest RAM found for the model is {least.ram_bytes:,} bytes, 300 are there" in text
    assert f"{least.ram_bytes - 300:,} over" in text
    assert "most at step" in text
    assert f"{least.lower_bound:,} bytes live" in text
    assert "--input-mode rows" in text
    with pytest.raises(MemoryBudgetError) as of_board:
        built(tmp_path, SMALL, ram="300", board="microbit-v1")
    assert "does not fit the budget" in str(of_board.value) and "larger board" not in of_board.value.hint
    assert of_board.value.hint.startswith("give a larger --ram, ")


def test_what_no_kernels_go_below_is_refused_without_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the kernels with the least RAM are planned, for the figures in the error."""
    least = built(tmp_path, SMALL, board="cortex-m4", optimize="ram").report.ram_bytes
    within = Stretch.within

    def without_choice(stretch: Stretch, limit: float) -> object:
        assert all(len(offers) == 1 for offers in stretch.offers), "a search for kernels"
        return within(stretch, limit)

    monkeypatch.setattr(Stretch, "within", without_choice)
    with pytest.raises(MemoryBudgetError, match=f"smallest RAM found for the model is {least:,} bytes"):
        built(tmp_path, SMALL, board="cortex-m4", ram="512")
    with pytest.raises(AssertionError, match="a search"):
        built(tmp_path, SMALL, board="cortex-m4", ram=str(least))


@pytest.mark.parametrize(
    "choices, text, hint",
    [
        ({"ram": "100"}, "--ram: at least 256 bytes of 100 available: the whole input", "--input-mode rows"),
        ({"flash": "100"}, "--flash: at least", "a larger --flash"),
        ({"board": "microbit-v1", "ram": "100"}, "--ram: at least 256 bytes", "rows, give a larger --ram"),
    ],
)
def test_what_can_never_fit_is_refused_before_any_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choices: dict[str, str], text: str, hint: str
) -> None:
    monkeypatch.setattr("mcugen.solve.candidates_of", None)
    with pytest.raises(MemoryBudgetError) as caught:
        built(tmp_path, SMALL, **choices)
    assert text in str(caught.value) and hint in caught.value.hint


def test_a_refusal_for_flash_names_boards_with_as_much_ram(tmp_path: Path) -> None:
    """The bound of RAM may be far below what the model takes: a board of 16 KB is no help."""
    m = ModelWriter()
    x, y = (m.tensor(name, (1, n), "s8", scale=0.05) for name, n in (("x", 1024), ("y", 1200)))
    m.op("FULLY_CONNECTED", [x, m.tensor("w", (1200, 1024), "s8", scale=0.01, data=np.full((1200, 1024), 99))], [y])
    with pytest.raises(MemoryBudgetError, match="flash of nucleo-h723zg: at least 1,228,800 bytes") as caught:
        built(tmp_path, m.build([x], [y]), board="nucleo-h723zg")
    named = caught.value.hint.partition("(")[2].partition(")")[0].split(", ")
    assert all((target.load(name).total_ram_bytes or 0) >= 327_680 for name in named)


def test_without_rows_the_budget_is_for_whole_tensors(tmp_path: Path) -> None:
    with pytest.raises(MemoryBudgetError, match="2,672 bytes, 2,048 are there") as caught:
        built(tmp_path, SMALL, ram="2K", no_rows=True)
    assert "leave --no-rows out" in caught.value.hint


def test_pushed_rows_take_the_least_ram_or_the_budget(tmp_path: Path) -> None:
    least = built(tmp_path, SMALL, input_mode="rows")
    roomy = built(tmp_path, SMALL, input_mode="rows", ram="2500")
    assert least.report.ram_bytes < roomy.report.ram_bytes <= 2500
    assert len(roomy.schedule.trace) < len(least.schedule.trace)


def test_the_ram_of_the_board_is_the_default_budget(tmp_path: Path) -> None:
    """128x128x4 twice is 131,072 bytes; with the input 147,456: a little over with scratch."""
    data = chain((128, 128, 128, 32), (1, 4, 4, 2))
    free = built(tmp_path, data, board="cortex-m0plus", optimize="speed")
    board = built(tmp_path, data, board="nucleo-g0b1re", optimize="speed", ram="")
    assert not free.schedule.interleaved
    assert board.target.ram_bytes is not None
    fits = free.report.ram_bytes <= board.target.ram_bytes
    assert board.schedule.interleaved != fits
    small = built(tmp_path, chain((256, 256, 256, 64), (1, 2, 2, 1)), board="nucleo-g0b1re", optimize="speed")
    assert small.schedule.interleaved
    assert small.report.ram_bytes <= board.target.ram_bytes
    assert any(f"the RAM of nucleo-g0b1re has {board.target.ram_bytes:,}" in note for note in small.report.notes)


def test_constants_leave_room_for_code_in_the_flash_of_the_board(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 2, 2, 480), "s8", scale=0.05) for name in "xy")
    w = m.tensor("w", (480, 1, 1, 480), "s8", scale=(0.01,) * 480, data=rng.integers(-9, 10, (480, 1, 1, 480)))
    m.op("CONV_2D", [x, w], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    core, board = (
        built(tmp_path, m.build([x], [y]), board=b, optimize="speed") for b in ("cortex-m0plus", "nucleo-g0b1re")
    )
    flash = target.load("nucleo-g0b1re").flash_bytes
    assert flash is not None and flash - FIRMWARE_BYTES < core.report.weights_bytes <= flash
    assert board.report.weights_bytes <= flash - FIRMWARE_BYTES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("goal", ["balanced", "ram", "flash"])
def test_every_budget_of_flash_from_the_least_to_the_most_is_met(tmp_path: Path, goal: str) -> None:
    """Rows outside images count, which are no fields of a kernel; weights of 4 bits may be packed, or made int16."""
    data = chain((32, 32, 32, 16), (4, 8, 8, 16), most=7)
    whole = built(tmp_path, data, board="cortex-m4", optimize=goal)
    model = pipeline.prepare(tmp_path / "m.tflite", Options(board="cortex-m4", optimize=goal))
    listed = solve.candidates_of(model.graph, model.board, model.options)
    fewest = constant_limits.constants_of(constant_limits.within([c[0] for c in listed], listed, 0))
    assert fewest < 0.8 * whole.report.weights_bytes
    for room in (fewest, fewest + 100, whole.report.weights_bytes - 1):
        made = built(tmp_path, data, board="cortex-m4", optimize=goal, flash=str(room))
        assert made.report.weights_bytes <= room


def test_accelerated_kernels_are_required_of_what_was_chosen(tmp_path: Path) -> None:
    """Only kernels that need memory of their own take columns that lie apart, which `ram` saves."""
    full = chain((16, 16, 16), (1, 6, 4), apart=2)
    made = built(tmp_path, full, board="cortex-m4", require_accelerated=True)
    assert all(step.choice.kernel.needs for step in made.schedule.steps)
    with pytest.raises(NoKernelError, match=r"portable kernels for.*\n.*mg_conv2d_s8\w*, though mg_conv2d_s8__dsp"):
        built(tmp_path, full, board="cortex-m4", optimize="ram", require_accelerated=True)
    built(tmp_path, full, board="cortex-m4", features="-dsp", optimize="ram", require_accelerated=True)


@pytest.mark.parametrize(("steps", "text"), [([], ""), ([3], "3"), ([0, 1, 2, 4, 7, 8], "0-2, 4, 7-8")])
def test_steps_in_words(steps: list[int], text: str) -> None:
    assert budget.ranges(steps) == text


def test_solutions_are_ranked_by_what_they_exceed_then_by_cost() -> None:
    board = SimpleNamespace(ram_bytes=100, flash_bytes=10_000)

    def rank(nbytes: int, cost: float, **options: str) -> tuple[float, float, float]:
        return solver.rank_of(SimpleNamespace(ram_bytes=nbytes, choices=()), cost, Options(**options), board, prices)

    prices = FREE
    assert rank(130, 7) == (30, 7, 130)
    assert rank(90, 7) == (0, 7, 90)
    assert rank(90, 7, ram="80") == (10, 7, 90)
    assert rank(90, 7, optimize="ram") == (0, 90, 7)
    prices = Prices(ram=0.1)
    assert rank(90, 7) == (0, 16, 90)


@pytest.mark.whole
@pytest.mark.parametrize("goal", ["speed", "balanced"])
def test_more_ram_is_never_slower(tmp_path: Path, goal: str, pytestconfig: pytest.Config) -> None:
    """Times by the estimates that select kernels, from the least RAM to the most."""
    steps = 40 if pytestconfig.getoption("--whole") else 12
    (tmp_path / "m.tflite").write_bytes(SMALL)
    options = Options(board="cortex-m4", optimize=goal)
    model = pipeline.prepare(tmp_path / "m.tflite", options)
    whole = solve.solve(model.graph, model.board, options).ram_bytes
    least = solve.solve(model.graph, model.board, replace(options, optimize="ram")).ram_bytes
    costs_found = []
    for k in range(steps):
        budget_bytes = least + (whole - least) * k // (steps - 1)
        made, cost = solve.solve_with_time(model.graph, model.board, replace(options, ram=str(budget_bytes)))
        assert made.ram_bytes <= budget_bytes
        costs_found.append(cost)
    assert costs_found == sorted(costs_found, reverse=True)
    assert costs_found[-1] < costs_found[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("goal", ["speed", "balanced"])
def test_every_goal_keeps_a_budget_that_ram_keeps(goal: str, tmp_path: Path) -> None:
    """A network of which the candidates of other goals take more."""
    data = random_graph(17).data
    least = built(tmp_path, data, board="cortex-m4", optimize="ram").report.ram_bytes
    kept = built(tmp_path, data, board="cortex-m4", optimize=goal, ram=str(least))
    assert kept.report.ram_bytes == least
    with pytest.raises(MemoryBudgetError):
        built(tmp_path, data, board="cortex-m4", optimize=goal, ram=str(least - 16))


def dense(values: int, dtype: str) -> bytes:
    """A fully connected layer from 64 values, with weights of 4 bytes or of one."""
    writer = ModelWriter()
    scaled = {} if dtype == "f32" else {"scale": 0.5}
    x = writer.tensor("x", (1, 64), dtype, **scaled)
    w = np.arange(values * 64).reshape(values, 64) % 101 - 50
    weights = writer.tensor("w", (values, 64), dtype, data=w, **scaled)
    y = writer.tensor("y", (1, values), dtype, **scaled)
    writer.op("FULLY_CONNECTED", [x, weights], [y], {})
    return writer.build([x], [y])


@pytest.mark.parametrize(
    ("dtype", "flash", "way"),
    [
        ("f32", "2K", "`mcugen quantize`, which leaves about 2,0"),
        ("f32", "1100", "4-bit weights, --weights 4, which leaves about 1,0"),
        ("s8", "1100", "4-bit weights, --weights 4, which leaves about 1,0"),
        ("s8", "1000", ""),
    ],
)
def test_a_refusal_for_flash_names_the_quantization_that_would_fit(
    dtype: str, flash: str, way: str, tmp_path: Path
) -> None:
    with pytest.raises(MemoryBudgetError) as caught:
        built(tmp_path, dense(32, dtype), flash=flash)
    assert way in caught.value.hint and ("quantize" in caught.value.hint) == bool(way)


def test_a_refusal_for_ram_names_quantization_for_floats(tmp_path: Path) -> None:
    for dtype in ("f32", "s8"):
        with pytest.raises(MemoryBudgetError) as caught:
            built(tmp_path, dense(32, dtype), ram="40")
        assert ("mcugen quantize" in caught.value.hint) == (dtype == "f32")
