# SPDX-License-Identifier: Apache-2.0
"""Random networks in every mode: what each event reads is in memory, every row is made once, and modes save RAM."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rows import checks, memory
from tests.rows.graphs import random_graph
from tests.rows.joins import joining_graph
from tests.rows.streams import random_stream, streamed

SEEDS = [pytest.param(seed, marks=[pytest.mark.whole] if seed % 2 else []) for seed in range(700, 706)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [random_graph, joining_graph])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_read_finds_what_was_written(make: type, seed: int, tmp_path: Path) -> None:
    made = {mode: checks.built(make(seed), mode, tmp_path) for mode in checks.MODES}
    found = {mode: b.artifact for mode, b in made.items() if b is not None}
    for mode, a in found.items():
        assert memory.faults(a.graph, a.schedule, a.plan) == [], mode
    sizes = {mode: a.report.ram_bytes for mode, a in found.items()}
    assert sizes["ram"] <= sizes["whole"]
    assert sizes["ram"] <= sizes["kept"]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_that_a_frame_reads_was_pushed_or_made(seed: int, tmp_path: Path) -> None:
    model = streamed(random_stream(seed), tmp_path).model
    steps = {event.step for event in model.trace}
    assert steps >= {step.index for step in model.steps}
    assert all(b.align % 4 == 0 and b.nbytes > 0 for b in model.buffers)
