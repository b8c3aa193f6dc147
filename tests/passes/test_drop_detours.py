# SPDX-License-Identifier: Apache-2.0
"""Casts and joins that give back a tensor are left out, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcugen import passes
from mcugen.ir.graph import Graph
from tests.passes.front import Front
from tests.passes.net import differences, read


def rejoined(folder: Path, first: int, last: int, filled: int = 0, *, is_output: bool = False) -> Graph:
    """A front end whose energies of bins 3 to 20 are cut and joined again before they are read."""
    front = Front(64, 64)
    energies = front.energies(front.spectrum(front.flat(front.x)), 3, 20)
    y = front.rejoined(energies, first, last, filled)
    doubled = front.moved("CAST", [y], (33,), "s32")
    summed = front.moved("ADD", [doubled, doubled], (33,), "s32")
    before = read(front.build(summed, *([y] if is_output else [])), folder)
    after = passes.run(before, "tflm")
    assert differences(before, after, "tflm") == []
    return after


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes if type(node.op).__name__ != "Reshape"]


@pytest.mark.parametrize("bins", [(3, 20), (2, 20), (3, 32)])
def test_energies_between_zeros_are_the_energies(bins: tuple[int, int], tmp_path: Path) -> None:
    graph = rejoined(tmp_path, *bins)
    assert names(graph)[0] == "PowerSpectrum"
    assert not {"Concatenation", "StridedSlice"} & set(names(graph))
    assert graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]
    assert [part.what for part in graph.removed].count("detours") == 1


@pytest.mark.parametrize(("first", "last", "filled"), [(4, 20, 0), (3, 19, 0), (3, 20, 1)])
def test_other_values_are_computed(first: int, last: int, filled: int, tmp_path: Path) -> None:
    graph = rejoined(tmp_path, first, last, filled)
    assert names(graph).count("Concatenation") == 1
    assert "detours" not in [part.what for part in graph.removed]


def test_an_output_of_the_model_is_written(tmp_path: Path) -> None:
    graph = rejoined(tmp_path, 3, 20, is_output=True)
    assert names(graph).count("Concatenation") == 1
