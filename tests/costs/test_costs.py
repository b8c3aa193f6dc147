# SPDX-License-Identifier: Apache-2.0
"""Estimates of kernels: near what is counted, for every kernel, and on the high side where nothing is known."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import kernels, registry, target
from mcugen.reference.inputs import cases
from mcugen.select import costs
from mcugen.verify import emulated
from tests.costs import fitting
from tests.support.calls import example_calls

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TABLE = Path(costs.__file__).parent / costs.TABLE
NEAR = 0.10
SMALL = 1500
"""Instructions below which a layer is more setting up than work."""


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"])
@pytest.mark.parametrize("name", ["camera/shapes", "microphone/sweeps"])
def test_estimates_are_near_what_is_counted(name: str, core: str) -> None:
    artifact = mcugen.compile(EXAMPLES / f"{name}.tflite", board=core, name="model")
    ran = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    compared = 0
    for step, counted in zip(artifact.schedule.steps, ran.steps, strict=True):
        found = costs.estimate(step.choice.kernel, step.choice.call, core, step.by_rows)
        if found.is_fitted and counted.instructions > SMALL:
            compared += 1
            assert counted.cycles is not None
            hint = f"{found}, counted {counted}; after a change of the kernel run ci/fit --only {counted.kernel}"
            assert abs(found.instructions / counted.instructions - 1) < NEAR, hint
            assert abs(found.cycles_low / counted.cycles.low - 1) < 1.5 * NEAR, hint
            assert abs(found.cycles_high / counted.cycles.high - 1) < 1.5 * NEAR, hint
    assert compared >= 3


def test_rows_cost_a_little_more_than_the_whole() -> None:
    artifact = mcugen.compile(EXAMPLES / "digits/digits.tflite", board="cortex-m4", name="model")
    for step in artifact.schedule.steps:
        kernel, call = step.choice.kernel, step.choice.call
        whole, rows = (costs.estimate(kernel, call, "cortex-m4", by_rows) for by_rows in (False, True))
        assert whole.instructions <= rows.instructions <= 1.2 * whole.instructions + 2000


def test_an_unknown_kernel_is_never_the_cheapest() -> None:
    """More than the same call on the kernel that is known, on every core."""
    tables = json.loads(TABLE.read_text())
    for op in registry.load().ops:
        for call in example_calls(op)[:6]:
            for kernel in kernels.of(op):
                if not kernel.has_code or kernel.refusals(call, frozenset()):
                    continue
                other = dataclasses.replace(kernel, symbol="mg_of_another_maker")
                for core in ("cortex-m0plus", "cortex-m4", "rv32imc"):
                    known = costs.estimate(kernel, call, core)
                    guessed = costs.estimate(other, call, core)
                    assert not guessed.is_fitted and guessed.cycles_high >= guessed.instructions
                    if kernel.symbol in tables[core] and call.op.macs(call) > 10_000:
                        assert guessed.instructions > known.instructions, f"{kernel.symbol} {core}"


def test_the_ends_of_an_estimate_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = mcugen.compile(EXAMPLES / "digits/digits.tflite", board="cortex-m4", name="model")
    choice = artifact.schedule.steps[0].choice
    monkeypatch.setattr(costs, "_tables", lambda: {"cortex-m4": {choice.kernel.symbol: {"once": (5.0, 9.0, 7.0)}}})
    found = costs.estimate(choice.kernel, choice.call, "cortex-m4")
    assert (found.instructions, found.cycles_low, found.cycles_high) == (5, 7, 9)


def test_the_table_is_sorted_and_of_known_cores() -> None:
    text = TABLE.read_text()
    tables = json.loads(text)
    assert set(tables) <= set(target.names()) and list(tables) == sorted(tables)
    for core, rows in tables.items():
        if not isinstance(rows, str):
            assert list(rows) == sorted(rows), core
            assert all(min(triple) >= 0 for row in rows.values() for triple in row.values())
    assert tables["cortex-m85"] == "cortex-m55"


def test_coefficients_are_never_negative_and_the_best_such() -> None:
    rng = np.random.default_rng(5)
    a = rng.uniform(0, 1, (40, 6))
    truth = np.array([3.0, 0.0, 1.5, 0.0, 0.25, 7.0])
    assert fitting.nonnegative(a, a @ truth) == pytest.approx(truth, abs=1e-8)
    b = a @ (truth - np.array([0, 2.0, 0, 1.0, 0, 0]))
    x = fitting.nonnegative(a, b)
    assert x.min() >= 0
    gradient = a.T @ (b - a @ x)
    assert (gradient < 1e-7).all() and abs(gradient[x > 0]).max() < 1e-7
