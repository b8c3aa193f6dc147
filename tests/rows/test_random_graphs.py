# SPDX-License-Identifier: Apache-2.0
"""A fixed twentieth of the random networks, in every other mode, with the kernels of each core in turn, by the oracle.

Under sanitizers, with poisoned gaps. `python -m tests.rows.soak` runs all of them in every mode.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.rows import checks, soak
from tests.rows.graphs import BOARDS, board_of, planted_graph, random_graph
from tests.rows.joins import joining_graph
from tests.rows.program import Workshop
from tests.rows.tensors import KINDS

SAMPLE = soak.GRAPHS // 20
AT_ONCE = 5


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("kernels"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, SAMPLE, AT_ONCE))
def test_equal_the_oracle(first: int, workshop: Workshop, tmp_path: Path) -> None:
    graphs = [random_graph(seed) for seed in range(first, first + AT_ONCE)]
    assert checks.failures(graphs, workshop, tmp_path, checks.sampled) == []


@pytest.mark.whole
def test_networks_with_channels_to_remove_equal_the_oracle_as_imported(workshop: Workshop, tmp_path: Path) -> None:
    graphs = [planted_graph(seed) for seed in range(AT_ONCE)]
    assert checks.failures(graphs, workshop, tmp_path, checks.sampled) == []


@pytest.mark.whole
def test_networks_with_joins_and_splits_equal_the_oracle(workshop: Workshop, tmp_path: Path) -> None:
    graphs = [joining_graph(seed) for seed in range(4, 4 + AT_ONCE)]
    assert checks.failures(graphs, workshop, tmp_path, checks.sampled) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["grouped", "grouped_rows"])
def test_every_tensor_of_a_branching_network_is_compared(mode: str, tmp_path: Path) -> None:
    made = checks.built(random_graph(4), mode, tmp_path)
    assert made is not None
    assert made.artifact.schedule.interleaved
    verdict = host.verify(made.artifact, cases(made.artifact.imported, 1))
    assert verdict.agrees, verdict.first_difference


def test_the_sample_has_every_mode_and_every_core() -> None:
    """The modes and cores occur in the networks of all three kinds together."""
    seeds = [*range(SAMPLE), *range(AT_ONCE), *range(4, 4 + AT_ONCE)]
    run = {(board_of(seed), mode) for seed in seeds for mode in checks.sampled(seed)}
    assert {mode for _, mode in run} == set(checks.MODES) and {board for board, _ in run} == set(BOARDS)


def test_all_networks_cover_what_is_promised() -> None:
    """Coverage of the whole set: kinds, operators, depths, and sizes down to one row or column."""
    graphs = [random_graph(seed) for seed in range(soak.GRAPHS)]
    operators = sum((g.operators for g in graphs), Counter[str]())
    assert soak.rare(operators) == []
    kinds = Counter(g.kind for g in graphs)
    assert all(kinds[kind] >= soak.GRAPHS // 3 for kind in KINDS)
    depths = [sum(g.operators.values()) for g in graphs]
    assert min(depths) >= 2
    assert max(depths) >= 20
    joins = {"ADD", "MUL", "CONCATENATION"}
    branching = sum(bool(joins & set(g.operators)) for g in graphs)
    assert branching >= soak.GRAPHS // 4


def test_same_seed_same_network() -> None:
    assert random_graph(5).data == random_graph(5).data
    assert random_graph(5).data != random_graph(6).data
