# SPDX-License-Identifier: Apache-2.0
"""The least flash takes fast kernels where their bytes bring much time, within limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import pipeline, solve
from mcugen.options import Options
from mcugen.solve import flash
from mcugen.solve.candidates import Candidates
from mcugen.solve.sharing import Picks, code_of
from tests.solve.test_budget import chain
from tests.support.tflite_writer import ModelWriter

LAYERS = chain((32, 32, 32, 16, 16), (3, 16, 16, 32, 32))


@pytest.fixture(scope="module")
def candidates(tmp_path_factory: pytest.TempPathFactory) -> list[Candidates]:
    return candidates_of(tmp_path_factory.mktemp("flash"), LAYERS)


def candidates_of(folder: Path, data: bytes) -> list[Candidates]:
    path = folder / "m.tflite"
    path.write_bytes(data)
    options = Options(board="cortex-m4", optimize="flash")
    model = pipeline.prepare(path, options)
    listed = solve.candidates_of(model.graph, model.board, options)
    return [tuple(c for c in each if not c.choice.kernel.widened) for each in listed]


def time_of(picks: Picks) -> float:
    return sum(c.cost for c in picks)


def constants_of(picks: Picks) -> int:
    return sum(c.choice.constant_bytes for c in picks)


def least(candidates: list[Candidates]) -> Picks:
    return tuple(min(listed, key=lambda c: (c.choice.constant_bytes, c.cost)) for listed in candidates)


def test_fast_kernels_are_taken_within_the_limit_of_code(candidates: list[Candidates]) -> None:
    found = flash.least_flash(candidates)
    fewest = least(candidates)
    assert time_of(found) < 0.5 * time_of(fewest)
    assert code_of(found) < flash.MODEL_CODE_BYTES
    assert constants_of(found) < 1.1 * constants_of(fewest)


def test_a_copy_that_layers_share_is_taken_where_code_is_short(
    candidates: list[Candidates], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flash, "MODEL_CODE_BYTES", 5120)
    found = flash.least_flash(candidates)
    assert code_of(found) < 5120
    assert len({c.function for c in found if "shared_gathered" in c.choice.kernel.symbol}) == 1


def test_a_share_of_a_large_models_bytes_is_within_the_limit(
    candidates: list[Candidates], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flash, "MODEL_CODE_BYTES", 3072)
    small = flash.least_flash(candidates)
    share = 7168 / flash._bytes_of(small)
    monkeypatch.setattr(flash, "CODE_SHARE", share)
    large = flash.least_flash(candidates)
    assert code_of(small) < code_of(large) < 7168
    assert time_of(large) < 0.8 * time_of(small)


def test_code_beyond_the_limit_is_taken_in_place_of_many_more_constants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed, fast = "_nibbles", "dsp4_gathered"
    found = [
        tuple(c for c in listed if c.choice.kernel.symbol.endswith((packed, fast, "dsp8_shared_gathered")))
        for listed in candidates_of(tmp_path, chain((16, 16, 16), (32, 64, 64), most=7))
    ]
    monkeypatch.setattr(flash, "MODEL_CODE_BYTES", 4096)
    assert all(fast in c.choice.kernel.symbol for c in flash.least_flash(found))
    monkeypatch.setattr(flash, "FEWER", 0.5)
    assert not any(fast in c.choice.kernel.symbol for c in flash.least_flash(found))


def test_where_the_smallest_kernels_are_over_the_limit_faster_ones_of_no_more_code_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = candidates_of(tmp_path, chain((16, 16, 16), (32, 64, 64)))
    monkeypatch.setattr(flash, "MODEL_CODE_BYTES", 0)
    assert time_of(flash.least_flash(found)) < 0.5 * time_of(least(found))


def test_bytes_that_bring_little_are_left(candidates: list[Candidates], monkeypatch: pytest.MonkeyPatch) -> None:
    cheap = flash.least_flash(candidates)
    monkeypatch.setattr(flash, "BYTES_PRICE", 50.0)
    dear = flash.least_flash(candidates)
    assert code_of(dear) + constants_of(dear) < code_of(cheap) + constants_of(cheap)
    assert time_of(dear) > time_of(cheap)


def test_over_the_limit_by_a_call_the_layer_that_gains_least_goes_back(candidates: list[Candidates]) -> None:
    def of(part: str) -> Picks:
        return tuple(next(c for c in listed if part in f"{c.choice.kernel.symbol} ") for listed in candidates)

    slow, fast = of("conv2d_s8 "), of("dsp8_shared_gathered")
    picks = (slow[0], *fast[1:])
    limit = flash._code_of(picks) - 1
    found = flash._trimmed(candidates, picks, limit)
    assert flash._code_of(found) <= limit
    changed = [i for i in range(len(picks)) if found[i] is not picks[i]]
    assert changed == [min(range(1, len(picks)), key=lambda i: slow[i].cost - fast[i].cost)]
    assert found[changed[0]].function == slow[0].function


def depthwise(sides: tuple[int, ...] = (23, 23, 12, 6, 3), channels: int = 16) -> bytes:
    """Depthwise convolutions of strides 1 and 2."""
    rng = np.random.default_rng(5)
    m = ModelWriter()
    x = first = m.tensor("x", (1, sides[0], sides[0], channels), "s8", scale=0.05)
    for k in range(1, len(sides)):
        data = rng.integers(-127, 128, (1, 3, 3, channels))
        w = m.tensor(f"w{k}", data.shape, "s8", scale=(0.01,) * channels, axis=3, data=data)
        y = m.tensor(f"y{k}", (1, sides[k], sides[k], channels), "s8", scale=0.05)
        stride = round(sides[k - 1] / sides[k])
        m.op("DEPTHWISE_CONV_2D", [x, w], [y], {"stride_h": stride, "stride_w": stride, "depth_multiplier": 1})
        x = y
    return m.build([first], [x])


def dense(sizes: tuple[int, ...] = (1, 12, 16, 40, 9)) -> bytes:
    """Fully connected layers."""
    rng = np.random.default_rng(5)
    m = ModelWriter()
    x = first = m.tensor("x", (1, sizes[0]), "s8", scale=0.05)
    for k in range(1, len(sizes)):
        data = rng.integers(-127, 128, (sizes[k], sizes[k - 1]))
        y = m.tensor(f"y{k}", (1, sizes[k]), "s8", scale=0.5)
        m.op("FULLY_CONNECTED", [x, m.tensor(f"w{k}", data.shape, "s8", scale=0.01, data=data)], [y])
        x = y
    return m.build([first], [x])


@pytest.mark.parametrize("goal", ["flash", "balanced", "speed", "ram"])
@pytest.mark.parametrize(("data", "frugal"), [(depthwise(), "each"), (dense(), "dsp8_shared")])
def test_forms_that_spare_bytes_at_the_cost_of_time_are_for_flash(
    goal: str, data: bytes, frugal: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    model = mcugen.compile(path, name="m", board="cortex-m4", optimize=goal)
    found = [step.choice.kernel for step in model.schedule.steps if step.choice.kernel.frugal]
    assert len({kernel.symbol for kernel in found}) == int(goal == "flash")
    assert all(kernel.symbol.endswith(frugal) for kernel in found)
