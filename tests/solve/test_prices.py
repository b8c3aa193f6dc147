# SPDX-License-Identifier: Apache-2.0
"""The default goal weighs time, RAM and constants; builds report the gain from more RAM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline, solve
from mcugen.options import Options
from mcugen.solve import flash
from mcugen.solve.advice import faster_points, knee_of, sentence
from mcugen.solve.memories import allowing
from mcugen.solve.prices import FLASH_PRICE, FREE, RAM_PRICE, prices_of
from mcugen.solve.time_memory_curve import Point
from tests.solve.test_budget import SMALL, built, chain
from tests.support.tflite_writer import ModelWriter

IMAGES = chain((48, 48, 48, 24), (3, 16, 16, 16))
"""Two layers of images that take most of the RAM, and cost little more by rows."""


def dense(*sizes: int, largest: int = 20) -> bytes:
    """Layers of many weights that are read once: a core without SMLAD gains much from int16."""
    m, rng = ModelWriter(), np.random.default_rng(1)
    x = first = m.tensor("x", (1, sizes[0]), "s8", scale=0.05)
    for k, shape in enumerate(zip(sizes[1:], sizes, strict=False)):
        w = m.tensor(f"w{k}", shape, "s8", scale=0.01, data=rng.integers(-largest, largest + 1, shape))
        y = m.tensor(f"y{k}", (1, shape[0]), "s8", scale=0.05)
        m.op("FULLY_CONNECTED", [x, w], [y])
        x = y
    return m.build([first], [x])


def test_rows_that_cost_next_to_nothing_are_taken(tmp_path: Path) -> None:
    speed, default = (built(tmp_path, IMAGES, board="cortex-m4", optimize=goal) for goal in ("speed", "balanced"))
    assert not speed.schedule.interleaved and default.schedule.interleaved
    assert default.report.ram_bytes < 0.7 * speed.report.ram_bytes
    assert any("less RAM than whole tensors for" in note for note in default.report.notes)


def test_no_budget_makes_a_slower_model_than_a_smaller_one(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(IMAGES)
    found = []
    for ram in ("", "60K", "30K", "20K", "14K"):
        options = Options(board="cortex-m4", ram=ram)
        model = pipeline.prepare(tmp_path / "m.tflite", options)
        found.append(solve.solve_with_time(model.graph, model.board, options)[1])
    assert found == sorted(found)


def test_constants_are_stored_wider_where_they_pay(tmp_path: Path) -> None:
    boards, layer = ("cortex-m4", "cortex-m0plus"), dense(256, 256)
    small, large = (built(tmp_path, layer, board=board).report.weights_bytes for board in boards)
    assert small < 1.2 * 65536 < 1.8 * 65536 < large


def test_ram_of_a_kernel_is_not_saved_with_more_constants_than_it_is_worth(tmp_path: Path) -> None:
    model = built(tmp_path, dense(640, 128, 128, 640, largest=7), board="cortex-m4")
    assert not any(step.choice.kernel.widened for step in model.schedule.steps)
    assert model.report.weights_bytes < 1.1 * 128 * (640 + 128 + 640)


def narrow_layers() -> bytes:
    """Two small convolutions and a large layer on a vector, all with weights of 4 bits."""
    m, rng = ModelWriter(), np.random.default_rng(2)
    a, b, c, d = (
        m.tensor(name, shape, "s8", scale=0.05)
        for name, shape in (("a", (1, 8, 8, 16)), ("b", (1, 8, 8, 32)), ("c", (1, 8, 8, 32)), ("d", (1, 10)))
    )
    made = [
        m.tensor(f"w{k}", shape, "s8", scale=0.01, data=rng.integers(-7, 8, shape))
        for k, shape in enumerate(((32, 1, 1, 16), (1, 3, 3, 32), (10, 2048)))
    ]
    once = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    m.op("CONV_2D", [a, made[0]], [b], once)
    m.op("DEPTHWISE_CONV_2D", [b, made[1]], [c], once)
    m.op("FULLY_CONNECTED", [c, made[2]], [d])
    return m.build([a], [d])


def narrow_images() -> bytes:
    """Four convolutions of an image, with weights of 4 bits."""
    m, rng = ModelWriter(), np.random.default_rng(3)
    x = first = m.tensor("x", (1, 8, 8, 32), "s8", scale=0.05)
    for k in range(4):
        w = m.tensor(f"w{k}", (32, 1, 1, 32), "s8", scale=0.01, data=rng.integers(-7, 8, (32, 1, 1, 32)))
        y = m.tensor(f"y{k}", (1, 8, 8, 32), "s8", scale=0.05)
        m.op("CONV_2D", [x, w], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
        x = y
    return m.build([first], [x])


@pytest.mark.parametrize("board", ["cortex-m4", "cortex-m0plus"])
def test_weights_of_four_bits_are_packed_where_bytes_are_dear(tmp_path: Path, board: str) -> None:
    packed = built(tmp_path, narrow_layers(), board=board, optimize="flash")
    whole = built(tmp_path, narrow_layers(), board=board, optimize="speed")
    weights = 32 * 16 + 9 * 32 + 10 * 2048
    assert packed.report.weights_bytes < 0.75 * weights < weights <= whole.report.weights_bytes
    again = built(tmp_path, narrow_layers(), board=board, flash=str(packed.report.weights_bytes))
    assert again.report.weights_bytes <= packed.report.weights_bytes  # and not refused by the bound
    large = packed.schedule.steps[2].choice
    assert large.constant_bytes < 0.62 * 10 * 2048 and large.kernel.symbol.endswith(("__nibbles", "__dsp4"))


def test_packed_weights_stay_for_a_larger_share_of_bytes_than_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.tflite").write_bytes(narrow_images())
    options = Options(board="cortex-m0plus", optimize="flash")
    model = pipeline.prepare(tmp_path / "m.tflite", options)
    listed = solve.candidates_of(model.graph, model.board, options)
    found = [tuple(c for c in each if not c.choice.kernel.widened) for each in listed]
    assert all("nibbles" in c.choice.kernel.symbol for c in flash.least_flash(found))
    monkeypatch.setattr(flash, "BYTES_PRICE", 0.03)
    assert not any("nibbles" in c.choice.kernel.symbol for c in flash.least_flash(found))


def test_balanced_prices_all_bytes_and_ram_those_of_flash_but_on_a_computer(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(SMALL)
    for board, goal, paid in (
        ("cortex-m4", "balanced", 1), ("cortex-m4", "speed", 0), ("cortex-m4", "ram", 0), ("host", "ram", 0),
        ("host", "balanced", 0),
    ):  # fmt: skip
        options = Options(board=board, optimize=goal)
        model = pipeline.prepare(tmp_path / "m.tflite", options)
        candidates = solve.candidates_of(model.graph, model.board, options)
        prices = prices_of(model.graph, candidates, options, model.board)
        assert (prices == FREE) == (board == "host" or goal == "speed")
        if prices != FREE:
            time = sum(min(c.cost for c in listed) for listed in candidates)
            constants = sum(min(c.choice.constant_bytes for c in listed) for listed in candidates)
            assert prices.ram * (16 * 16 * 6 + 16 * 16 * 4) == pytest.approx(paid * RAM_PRICE * time)
            assert prices.flash * constants == pytest.approx(FLASH_PRICE * time)


def test_the_knee_is_furthest_below_the_line() -> None:
    assert knee_of([(100, 10), (40, 12), (30, 40), (20, 90)]) == 1
    assert knee_of([(30, 40), (20, 90), (100, 10), (40, 12)]) == 3
    assert knee_of([]) is None and knee_of([(100, 10)]) is None and knee_of([(100, 10), (50, 20)]) is None
    assert knee_of([(100, 10), (90, 40), (50, 50)]) is None


def test_faster_plans_are_named() -> None:
    points = [Point(cost, peak, (), ()) for cost, peak in ((50, 4000), (52, 1100), (80, 1015), (99, 1001), (100, 1000))]
    found = [*faster_points(points, 1000, 100.0, Options(optimize="ram"))]
    assert [(p.peak, name) for p, name in found] == [(1015, "almost as little RAM"), (1100, "the knee")]
    assert [p.peak for p, _ in faster_points(points, 1000, 100.0, Options())] == [1100]
    assert not [*faster_points(points, 1100, 52.0, Options())]
    text = sentence("the knee", 1000, 100.0, 1060, 52.6, allowing(Options(), {"ram": 1060}))
    assert text == "the knee: 6 % more RAM is 1.9 times faster: --ram 1060"
    spread = allowing(Options(optimize="ram", region="a=1K,b"), {"a": 60, "b": 1000})
    assert sentence("the knee", 1000, 100.0, 1060, 52.6, spread).endswith(": --optimize balanced --region a=60,b=1000")
