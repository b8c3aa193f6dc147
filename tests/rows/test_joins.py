# SPDX-License-Identifier: Apache-2.0
"""Random networks with joins and splits keep their tensors apart; one that lies a few bytes too low is found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.ir.kernel import Alias, Form, Join
from tests.rows import checks, memory
from tests.rows.joins import joining_graph


def test_a_part_at_another_place_is_found(tmp_path: Path) -> None:
    made = checks.built(joining_graph(4), "whole", tmp_path)
    assert made is not None
    a = made.artifact
    assert memory.faults(a.graph, a.schedule, a.plan) == []
    inside = [name for name, place in a.schedule.places.items() if place.start and a.graph.type(name).nbytes > 4]
    assert inside
    for name in inside:
        place = a.schedule.places[name]
        moved = replace(a.schedule, places=a.schedule.places | {name: replace(place, start=place.start - 4)})
        assert memory.faults(a.graph, moved, a.plan), name


@pytest.mark.whole
def test_the_networks_have_what_is_promised(tmp_path: Path) -> None:
    """Joins of several parts without copies, parts that must be copied, and parts taken from a tensor."""
    forms: Counter[type[Form]] = Counter()
    copies = 0
    for seed in range(16):
        made = checks.built(joining_graph(seed), "whole", tmp_path)
        assert made is not None
        graph = made.artifact.graph
        kinds = {name: type(node.op).__name__ for node in graph.nodes for name in node.outputs}
        for node in graph.nodes:
            call = graph.call(node, "tflm")
            free = [k for k in kernels.of(node.op) if k.form.has_parts and not k.refusals(call, frozenset())]
            forms.update(type(k.form) for k in free)
            copies += sum(kinds.get(str(name)) == "Copy" for name in node.inputs if free)
    assert forms[Join] >= 10
    assert forms[Alias] >= 10
    assert copies >= 4
