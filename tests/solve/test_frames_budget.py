# SPDX-License-Identifier: Apache-2.0
"""Budgets of streams by frames: between the fastest kernels and those with the least RAM; more RAM is never slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcugen.errors import MemoryBudgetError
from mcugen.pipeline import Artifact
from tests.solve.schedule.test_frames import Net


def stream() -> tuple[Net, int]:
    net = Net(frames=30, channels=128)
    y = net.conv(net.input, 0, (10, 1), kind="DEPTHWISE_CONV_2D")
    y = net.conv(net.conv(y, 128, (1, 1)), 0, (15, 1), kind="DEPTHWISE_CONV_2D")
    return net, net.dense(net.mean(net.conv(y, 32, (1, 1))), 3)


def built(folder: Path, **options: str) -> Artifact:
    net, output = stream()
    return net.compiled(folder, output, board="cortex-m55", **options)


def cost(made: Artifact) -> int:
    assert made.report.cycles is not None
    return made.report.cycles.low


def test_a_budget_takes_the_fastest_kernels_that_fit(tmp_path: Path) -> None:
    fastest, least = built(tmp_path), built(tmp_path, optimize="ram")
    low, high = least.report.ram_bytes, fastest.report.ram_bytes
    budgets = [low, *range(low + 16, high, (high - low) // 6), high]
    made = [built(tmp_path, ram=str(budget)) for budget in budgets]
    assert all(m.report.ram_bytes <= budget for m, budget in zip(made, budgets, strict=True))
    costs = [cost(m) for m in made]
    assert costs[-1] == cost(fastest) and costs == sorted(costs, reverse=True)
    assert len(set(costs)) > 2, "no plan between the two"
    with pytest.raises(MemoryBudgetError):
        built(tmp_path, ram=str(low - 16))
