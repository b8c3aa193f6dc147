# SPDX-License-Identifier: Apache-2.0
"""The search for kernels and rows takes no more for each layer of a long network than of a short one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mcugen
from mcugen import pipeline, solve
from mcugen.options import Options
from mcugen.solve import budget, segment, stretch, time_memory_curve
from mcugen.solve.candidates import Candidates
from mcugen.solve.dominance import undominated
from mcugen.solve.stretch import Network
from mcugen.solve.time_memory_curve import CostCurve
from mcugen.system import forked
from mcugen.verify import c_checks
from tests.support.clock import Watch
from tests.support.long_networks import network

SHORT, LONG = 24, 68
LAYERS = 200
LAYER_SECONDS = 0.07
"""Most seconds per layer on a usual core for a network of this many layers; layers of longer ones take less."""


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Any, list[Candidates]]]:
    found = {}
    for layers in (SHORT, LONG):
        path = tmp_path_factory.mktemp("growth") / "m.tflite"
        path.write_bytes(network(layers))
        options = Options(board="cortex-m4", optimize="ram")
        model = pipeline.prepare(path, options)
        listed = solve.candidates_of(model.graph, model.board, options)
        narrow = [tuple(c for c in each if not c.choice.kernel.widened)[:2] for each in listed]
        found[layers] = model.graph, narrow
    return found


def work(chains: dict[int, tuple[Any, list[Candidates]]], layers: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Per layer: queries to segments for a whole curve, and steps of the segments that are built."""
    calls: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        inner = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            calls[name] += 1
            return inner(*given, **named)

        monkeypatch.setattr(owner, name, call)

    counted(segment.Segment, "_look_into")
    counted(stretch, "_offers")
    graph, listed = chains[layers]
    assert [*CostCurve(graph, listed, keep_input=False, pushed=None, no_rows=False).points()]
    return calls.total() / layers


def test_the_search_grows_with_the_layers(chains: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And faster where a network is not cut into segments."""
    found = []
    for layers, cuts in ((SHORT, time_memory_curve.MAX_CUTS), (LONG, time_memory_curve.MAX_CUTS), (LONG, LONG)):
        with monkeypatch.context() as m:
            m.setattr(time_memory_curve, "MAX_CUTS", cuts)
            found.append(work(chains, layers, m))
    short, long, whole = found
    assert long <= 1.5 * short < whole


def test_layers_that_differ_in_slow_kernels_alone_are_of_one_kind(tmp_path: Path) -> None:
    """The cost of SWAR kernels depends on weights, but no segment on Cortex-M4 uses them: other kernels are faster and
    need no more memory."""
    path = tmp_path / "m.tflite"
    path.write_bytes(network(30))
    options = Options(board="cortex-m4", optimize="ram")
    model = pipeline.prepare(path, options)
    every = tuple(solve.candidates_of(model.graph, model.board, options))
    useful = tuple(map(undominated, every))
    all_kinds, kinds = (
        set(Network(model.graph, listed, keep_input=False, pushed=None, results=frozenset()).kinds)
        for listed in (every, useful)
    )
    assert len(kinds) == 3 < len(all_kinds)


@pytest.mark.whole
@pytest.mark.parametrize(("goal", "branches", "results_apart"), [("ram", 1, 4), ("balanced", 4, 2), ("speed", 1, 1)])
def test_files_are_the_same_with_and_without_further_processes(
    goal: Any, branches: int, results_apart: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others find candidates, each second plan for the least RAM, and what another order of the nodes gives."""
    path, found, results, loaded = tmp_path / "m.tflite", [], [], forked._loaded
    path.write_bytes(network(SHORT, branches))

    def load(data: bytes, shared: Any) -> Any:
        results.append(loaded(data, shared))
        return results[-1]

    monkeypatch.setattr(budget, "LONG", SHORT)
    monkeypatch.setattr(forked, "_loaded", load)
    for possible in (False, True):
        assert not results
        monkeypatch.setattr(forked, "is_possible", lambda possible=possible: possible)
        found.append(mcugen.compile(path, board="cortex-m4", optimize=goal).files)
    assert found[0] == found[1] and len(results) >= results_apart


@pytest.mark.whole
def test_the_c_of_the_leanest_kernels_obeys_the_rules(tmp_path: Path) -> None:
    """Also of those that networks of usual sizes hardly take."""
    path, folder = tmp_path / "m.tflite", tmp_path / "out"
    path.write_bytes(network(SHORT))
    made = pipeline.build(path, Options(board="cortex-m4", optimize="ram"))
    assert any("dw_direct" in name for name in made.files)
    for name, content in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    assert c_checks.violations(made, folder) == []


@pytest.mark.whole
@pytest.mark.parametrize("branches", (1, 4))
def test_a_long_network_is_built_in_time(branches: int, tmp_path: Path) -> None:
    """One that is cut into segments, and one that is not; `ci/growth` builds longer ones."""
    path = tmp_path / "m.tflite"
    path.write_bytes(network(LAYERS, branches))
    watch = Watch()
    mcugen.compile(path, board="cortex-m4", optimize="ram")
    assert watch.seconds() < LAYER_SECONDS * LAYERS
