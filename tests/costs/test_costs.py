# SPDX-License-Identifier: Apache-2.0
"""Estimates of kernels: near what is counted, for every kernel, and on the high side where nothing is known."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import kernels
from mcugen.boards import target
from mcugen.errors import InternalError, UsageError
from mcugen.formats import registry
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.solve import costs, fitted
from mcugen.solve.schedule.steps import Choice, node_of
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.costs import fitting
from tests.support.calls import example_calls

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEAR = 0.10
SMALL = 1500
"""Instructions below which a layer is more setting up than work."""


COUNTED = [
    pytest.param(name, core, id=f"{name}-{core}", marks=[pytest.mark.whole] if (k + n) % 2 else [])
    for n, name in enumerate(("camera/shapes", "microphone/sweeps"))
    for k, core in enumerate(("cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"))
]
"""Each core with one of the two models in the sample; with --whole, with both."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "core"), COUNTED)
def test_estimates_are_near_what_is_counted(name: str, core: str) -> None:
    """Estimates for whole tensors: by rows, a few kernels that convert rows are estimated up to a fifth too low."""
    artifact = mcugen.compile(EXAMPLES / f"{name}.tflite", board=core, name="model", no_rows=True)
    ran = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    compared = 0
    for step, counted in zip(artifact.schedule.steps, ran.steps, strict=True):
        found = costs.estimate(step.choice.kernel, step.choice.call, core, step.by_rows)
        if found.is_fitted and counted.instructions > SMALL:
            compared += 1
            assert counted.core is not None
            hint = f"{found}, counted {counted}; after a change of the kernel run ci/fit --only {counted.kernel}"
            assert abs(found.instructions / counted.instructions - 1) < NEAR, hint
            assert abs(found.cycles_low / counted.core.low - 1) < 1.5 * NEAR, hint
            assert abs(found.cycles_high / counted.core.high - 1) < 1.5 * NEAR, hint
    assert compared >= 3


def test_rows_cost_a_little_more_than_the_whole() -> None:
    artifact = mcugen.compile(EXAMPLES / "digits/digits.tflite", board="cortex-m4", name="model")
    for step in artifact.schedule.steps:
        kernel, call = step.choice.kernel, step.choice.call
        whole, rows = (costs.estimate(kernel, call, "cortex-m4", by_rows) for by_rows in (False, True))
        assert whole.instructions <= rows.instructions <= 1.2 * whole.instructions + 2000


@pytest.mark.whole
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m7", "cortex-m55"])
def test_rows_never_cost_less_than_the_whole(core: str) -> None:
    """However many rows an event has, and whether or not the last has fewer."""
    features, compared = target.load(core).features, 0
    for call in (*example_calls(Conv2D), *example_calls(FullyConnected)):
        for kernel in (k for k in kernels.of(call.op) if not k.refusals(call, features)):
            if Choice(node_of(call), call, kernel, "").can_run_by_rows:
                whole, *some = (costs.estimate(kernel, call, core, n > 0, n or None) for n in (0, 1, 2, 3, 4))
                compared += 1
                for rows in some:
                    assert whole.instructions <= rows.instructions, kernel.symbol
                    assert whole.cycles_low <= rows.cycles_low and whole.cycles_high <= rows.cycles_high, kernel.symbol
    assert compared > 50


def test_an_unknown_kernel_is_never_the_cheapest() -> None:
    """More than the same call on the kernel that is known, on every core."""
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
                    if kernel.symbol in fitted.rows(core) and call.op.macs(call) > 10_000:
                        assert guessed.instructions > known.instructions, f"{kernel.symbol} {core}"


def test_the_ends_of_an_estimate_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = mcugen.compile(EXAMPLES / "digits/digits.tflite", board="cortex-m4", name="model")
    choice = artifact.schedule.steps[0].choice
    row = fitted.FittedCost(100, {"once": (5.0, 9.0, 7.0)})
    monkeypatch.setattr(fitted, "rows", lambda core: {choice.kernel.symbol: row})
    found = costs.estimate(choice.kernel, choice.call, "cortex-m4")
    assert (found.instructions, found.cycles_low, found.cycles_high) == (5, 7, 9)


def is_countable(kernel: Kernel) -> bool:
    """Whether an emulated core can run a kernel. Nothing counts the cycles of computers."""
    cores = (target.load(name) for name in target.names())
    return any(kernel.needs <= core.features for core in cores if core.emulators and not core.runs_linux)


def test_tables_are_sorted_and_of_known_cores() -> None:
    for folder, found in fitted.places():
        files = sorted((folder / fitted.FOLDER).glob("*.json"))
        assert bool(files) == any(map(is_countable, found)) and {path.stem for path in files} <= set(target.names())
        for path in files:
            assert fitted.read(folder, found, path.stem), path
            rows = json.loads(path.read_text())
            if not isinstance(rows, str):
                assert list(rows) == sorted(rows), path
                triples = [of for row in rows.values() for name, of in row.items() if name != fitted.CODE]
                assert all(len(triple) == 3 and min(triple) >= 0 for triple in triples)
    assert fitted.rows("cortex-m85") == fitted.rows("cortex-m55")


def test_every_kernel_of_a_family_was_measured() -> None:
    measured = {symbol for name in target.names() for symbol in fitted.rows(name)}
    stated = [kernel for family in kernels.families().values() for kernel in family.kernels]
    countable = [kernel for kernel in stated if is_countable(kernel)]
    assert {kernel.symbol for kernel in countable if not kernel.cost.parts} <= measured  # parts are kernels themselves
    assert len(measured) > len(countable) > len(stated) / 2


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"mg_test": {"code": 8, "once": [1, 1, 1], "swirls": [1, 1, 1]}}, "states no 'swirls'"),
        ({"mg_other": {"code": 8, "once": [1, 1, 1]}}, "not among the kernels there"),
    ],
)
def test_a_row_that_its_kernel_does_not_state_is_refused(row: object, reason: str, tmp_path: Path) -> None:
    kernel = Kernel("mg_test", Whole(), cost=Cost(terms=("blocks",)))
    path = tmp_path / fitted.FOLDER / "cortex-m4.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mg_test": {"code": 8, "blocks": [3, 4, 5]}}))
    assert fitted.read(tmp_path, [kernel], "cortex-m4") == {"mg_test": fitted.FittedCost(8, {"blocks": (3, 4, 5)})}
    path.write_text(json.dumps(row))
    with pytest.raises(UsageError, match=reason):
        fitted.read(tmp_path, [kernel], "cortex-m4")


def test_work_gives_what_its_kernel_states() -> None:
    call = example_calls(MaxPool2D)[0]
    kernel = next(k for k in kernels.of(MaxPool2D) if k.cost.work and not k.refusals(call, frozenset()))
    assert costs.features(kernel, call)["taps"] > 0
    with pytest.raises(InternalError, match="taps"):
        costs.features(dataclasses.replace(kernel, cost=dataclasses.replace(kernel.cost, terms=())), call)


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
