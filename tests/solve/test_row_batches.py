# SPDX-License-Identifier: Apache-2.0
"""Rows of narrow images: several at a time where kernels are faster on them, with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.pipeline import Artifact
from mcugen.solve import candidates
from mcugen.solve import row_batches as batches_of
from mcugen.solve.candidates import Candidate
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from mcugen.verify.runs import sequence_of
from tests.solve.test_budget import built
from tests.support.tflite_writer import ModelWriter


def pointwise(width: int, layers: int = 3) -> bytes:
    """Convolutions of 1x1 on images of 25 rows, the last of which is no whole batch."""
    rng, m = np.random.default_rng(5), ModelWriter()
    x = first = m.tensor("x", (1, 25, width, 32), "s8", scale=0.05)
    weights = rng.integers(-127, 128, (32, 1, 1, 32))
    for k in range(layers):
        w = m.tensor(f"w{k}", weights.shape, "s8", scale=(0.01,) * 32, data=weights)
        y = m.tensor(f"y{k}", (1, 25, width, 32), "s8", scale=0.05)
        m.op("CONV_2D", [x, w], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
        x = y
    return m.build([first], [x])


def batches(artifact: Artifact) -> set[int]:
    return {step.batch for step in artifact.schedule.steps if step.by_rows}


def test_narrow_rows_are_computed_several_at_a_time(tmp_path: Path) -> None:
    narrow, wide = (built(tmp_path, pointwise(width), board="cortex-m4") for width in (5, 24))
    whole = built(tmp_path, pointwise(5), board="cortex-m4", no_rows=True)
    assert batches(narrow) == {3} and batches(wide) == {1}
    assert narrow.report.ram_bytes < 0.7 * whole.report.ram_bytes
    case = next(iter(cases(whole.imported, 1)))
    found = [emulated.counted(artifact, case, sequence_of(whole, case)) for artifact in (narrow, whole)]
    assert all(agrees for _, agrees in found)
    assert found[0][0] < 1.02 * found[1][0]


def test_layers_of_one_kind_are_looked_into_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def asking(c: Candidate, *rest: Any) -> list[float]:
        asked.append(c.choice.node.name)
        return candidates.rows_costs_of(c, *rest)

    monkeypatch.setattr(batches_of, "rows_costs_of", asking)
    narrow = built(tmp_path, pointwise(5), board="cortex-m4")
    assert batches(narrow) == {3} and len(set(asked)) == 1


def test_the_least_ram_holds_single_rows(tmp_path: Path) -> None:
    least = built(tmp_path, pointwise(5), board="cortex-m4", optimize="ram")
    assert batches(least) == {1}
    assert least.report.ram_bytes < built(tmp_path, pointwise(5), board="cortex-m4").report.ram_bytes
