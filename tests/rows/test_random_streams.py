# SPDX-License-Identifier: Apache-2.0
"""A fixed twentieth of the random streams, under sanitizers with poisoned gaps, against the oracle on each window."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import mcugen
from mcugen.emit import emit
from mcugen.options import Options
from tests.rows import soak, streams
from tests.rows.graphs import board_of
from tests.rows.program import Workshop, problem
from tests.rows.tensors import KINDS

SAMPLE = soak.GRAPHS // 20
AT_ONCE = 5


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("kernels"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("first", range(0, SAMPLE, AT_ONCE))
def test_each_frame_gives_what_the_oracle_gives_for_its_window(first: int, workshop: Workshop, tmp_path: Path) -> None:
    graphs = [streams.random_stream(seed) for seed in range(first, first + AT_ONCE)]
    assert streams.failures(graphs, workshop, tmp_path) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [1, 12])
def test_a_ring_too_short_is_noticed(seed: int, workshop: Workshop, tmp_path: Path) -> None:
    """Each ring that keeps rows from frame to frame, a row shorter: its reader finds another frame there."""
    stream = streams.streamed(streams.random_stream(seed), tmp_path)
    named = streams.OFFSET + seed
    path = tmp_path / f"g{named}.tflite"
    made = mcugen.compile(path, name=f"g{named}_frames", board=board_of(named), input_mode="frames")
    rings = [(key, buffer) for key, buffer in made.schedule.row_buffers.items() if buffer.kept > 1]
    assert rings
    short = []
    for k, (key, buffer) in enumerate(rings):
        schedule = replace(
            made.schedule, row_buffers=made.schedule.row_buffers | {key: replace(buffer, kept=buffer.kept - 1)}
        )
        options = Options(reference=made.view.reference, input_mode="frames")
        view, files = emit(schedule, made.plan, made.imported, options, f"short{seed}_{k}")
        short.append(replace(stream.model, view=view, files=files))
    program = workshop.program(short, tmp_path / "short")
    assert all(problem(program, k, model, [[stream.frames]], stream.wanted) for k, model in enumerate(short))


def test_all_streams_cover_what_is_promised() -> None:
    """Coverage of the whole set: kinds, operators, depths, and branches."""
    graphs = [streams.random_stream(seed) for seed in range(soak.GRAPHS)]
    assert soak.rare(sum((g.operators for g in graphs), Counter[str]()), soak.STREAMED) == []
    kinds = Counter(g.kind for g in graphs)
    assert all(kinds[kind] >= soak.GRAPHS // 3 for kind in KINDS)
    depths = [sum(g.operators.values()) for g in graphs]
    assert (min(depths), max(depths)) == (3, 20)
    assert sum(bool({"ADD", "CONCATENATION"} & set(g.operators)) for g in graphs) >= soak.GRAPHS // 4
