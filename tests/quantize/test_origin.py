# SPDX-License-Identifier: Apache-2.0
"""The identity of the trials that --resume goes on with: results under other ranges are no results of this run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mcugen.quantize import float_model
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.quantize_model import _ranges_of
from tests.quantize.test_balance import residual


def test_a_range_that_the_user_set_is_a_part_of_it(tmp_path: Path) -> None:
    graph = residual(tmp_path)
    x = np.random.default_rng(6).standard_normal((2, *graph.type(graph.inputs[0]).shape)).astype(np.float32)
    floats = FloatRun(graph, float_model.REFERENCE, (x,))
    name = graph.nodes[0].outputs[0]
    runs = [floats, *(replace(floats, overrides={name: (-1.0, high)}) for high in (1.0, 2.0))]
    assert len({_ranges_of(run) for run in runs}) == 3
    assert _ranges_of(replace(floats, overrides={name: (-1.0, 1.0)})) == _ranges_of(runs[1])
