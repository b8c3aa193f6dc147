# SPDX-License-Identifier: Apache-2.0
"""The search for segments, against schedules as built and against every segmentation there is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest

from mcugen import pipeline, schedule, select
from mcugen.graph import Graph
from mcugen.options import Options
from mcugen.plan import lower_bound
from mcugen.schedule import Choice
from mcugen.schedule.cuts import Cut, cuts_of, part_of
from mcugen.schedule.segments import Search, Segments, events_of, peak_of
from tests.rows.graphs import random_graph

SEEDS = tuple(range(100, 130))
MAX_CUTS = 8


def prepared(folder: Path, seed: int) -> tuple[Graph, list[Choice]]:
    (folder / "m.tflite").write_bytes(random_graph(seed).data)
    model = pipeline.prepare(folder / "m.tflite", Options())
    candidates = select.candidates_of(model.graph, model.board, model.options)
    return model.graph, [listed[0].choice for listed in candidates]


def built_peak(graph: Graph, choices: list[Choice], groups: list[range]) -> tuple[int, int]:
    """(most bytes live, events) of the whole network with these groups run by rows."""
    made = schedule.build(graph, choices, groups, keep_input=False)
    return lower_bound(made.buffers())[0], len(made.trace)


def groups_of(found: Segments) -> list[range]:
    return [s.steps for s in found if s.by_rows]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_found_is_what_is_built(seed: int, tmp_path: Path) -> None:
    """The whole network needs no more than its segments say, and has the events they say."""
    graph, choices = prepared(tmp_path, seed)
    for found in Search(graph, choices, keep_input=False, pushed=None).front():
        assert [s.start for s in found] == [0, *(s.stop for s in found[:-1])]
        peak, events = built_peak(graph, choices, groups_of(found))
        assert peak <= peak_of(found)
        assert events == events_of(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_segmentation_is_better(seed: int, tmp_path: Path) -> None:
    """Every subset of the cuts, every segment whole or by rows: the front holds the best of them."""
    graph, choices = prepared(tmp_path, seed)
    front = Search(graph, choices, keep_input=False, pushed=None).front()
    cuts = cuts_of(graph, choices, keep_input=False)[-MAX_CUTS:]
    if cuts[0].index:
        cuts.insert(0, Cut(0, 0, 0))
    tried = 0
    for peak, events in every(graph, choices, cuts):
        tried += 1
        assert any(peak_of(f) <= peak and events_of(f) <= events for f in front), (peak, events)
    assert tried == 2 * 3 ** (len(cuts) - 2)


def every(graph: Graph, choices: list[Choice], cuts: list[Cut]) -> Iterator[tuple[int, int]]:
    """(peak, events) of every way to split the network at some of the cuts and run each part whole or by rows."""

    @cache
    def part(a: int, b: int, by_rows: bool) -> tuple[int, int]:
        sub, chosen = part_of(graph, choices, range(cuts[a].index, cuts[b].index))
        groups = [range(cuts[b].index - cuts[a].index)] if by_rows else []
        made = schedule.build(sub, chosen, groups, keep_input=bool(set(sub.inputs) & set(graph.outputs)))
        return lower_bound(made.buffers())[0] + cuts[a].held_bytes, len(made.trace)

    for places in product((False, True), repeat=len(cuts) - 2):
        ends = [0, *(k + 1 for k, taken in enumerate(places) if taken), len(cuts) - 1]
        for flags in product((False, True), repeat=len(ends) - 1):
            parts = [part(a, b, flag) for (a, b), flag in zip(pairwise(ends), flags, strict=True)]
            yield max(peak for peak, _ in parts), sum(events for _, events in parts)


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_the_front_falls_strictly(seed: int, tmp_path: Path) -> None:
    graph, choices = prepared(tmp_path, seed)
    search = Search(graph, choices, keep_input=False, pushed=None)
    front = search.front()
    for faster, smaller in pairwise(front):
        assert peak_of(faster) > peak_of(smaller)
        assert events_of(faster) < events_of(smaller)
    assert peak_of(front[-1]) == peak_of(search.least())
    assert search.within(peak_of(front[-1]) - 1) is None


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_answers_do_not_depend_on_earlier_questions(seed: int, tmp_path: Path) -> None:
    graph, choices = prepared(tmp_path, seed)
    used = Search(graph, choices, keep_input=False, pushed=None)
    limits = [peak_of(found) for found in used.front()]
    for limit in limits:
        fresh = Search(graph, choices, keep_input=False, pushed=None).within(limit)
        asked = used.within(limit)
        assert fresh is not None and asked is not None
        assert (events_of(fresh), peak_of(fresh) <= limit) == (events_of(asked), peak_of(asked) <= limit)


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_kept_inputs_count_to_the_end(seed: int, tmp_path: Path) -> None:
    graph, choices = prepared(tmp_path, seed)
    found = Search(graph, choices, keep_input=True, pushed=None).least()
    made = schedule.build(graph, choices, groups_of(found), keep_input=True)
    assert lower_bound(made.buffers())[0] <= peak_of(found)
