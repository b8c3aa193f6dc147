# SPDX-License-Identifier: Apache-2.0
"""Recorded outputs may round values next to a half the other way, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mcugen.oracle.interpreter
from mcugen.ir.graph import Graph
from mcugen.verify import half_rounding
from tests.formats.test_quantized import imported


def ran(folder: Path) -> tuple[Graph, list[np.ndarray], dict[str, np.ndarray]]:
    graph, sets = imported("qdq_add_halves", folder)
    return graph, sets[0], mcugen.oracle.interpreter.run(graph, sets[0], "ort")


def test_a_half_that_goes_the_other_way_is_named(tmp_path: Path) -> None:
    graph, inputs, values = ran(tmp_path)
    half = next(iter(half_rounding.near(graph, values, "ort")))
    wanted = values[graph.outputs[0]].copy()
    wanted[half.index] = half.other
    assert half_rounding.differs(graph, values, [wanted])
    found = half_rounding.explained(graph, inputs, values, [wanted], "ort")
    assert found is not None and found[1] == (half,) and str(list(half.index)) in str(half)


def test_other_differences_are_not_explained(tmp_path: Path) -> None:
    graph, inputs, values = ran(tmp_path)
    near = {half.index for half in half_rounding.near(graph, values, "ort")}
    wanted = values[graph.outputs[0]].copy()
    far = next(at for at in np.ndindex(wanted.shape) if at not in near and -100 < wanted[at] < 100)
    wanted[far] += 1
    assert half_rounding.explained(graph, inputs, values, [wanted], "ort") is None
    assert not half_rounding.differs(graph, values, [values[graph.outputs[0]]])
