# SPDX-License-Identifier: Apache-2.0
"""The kernels that a node may get."""

from __future__ import annotations

import pytest

from mcugen import target
from mcugen.kernel import Form
from mcugen.ops._filter_examples import example
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.options import Options
from mcugen.select.candidates import candidates_of
from tests.support.cases import graph_of


@pytest.mark.parametrize("mode", ["rows", "frames"])
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_rows_that_come_one_by_one_are_not_waited_for(core: str, mode: str) -> None:
    op = DepthwiseConv2D((1, 1), (1, 1), "VALID", "NONE")
    graph = graph_of(example(op, 0, (1, 40, 1, 8), (1, 10, 1, 8), 3, gain=0.002, out_zero=-128))
    listed = candidates_of(graph, target.load(core), Options(input_mode=mode))[0]
    assert {c.choice.kernel.form for c in listed} == {Form.WINDOW, Form.RING}
    whole = candidates_of(graph, target.load(core), Options())[0]
    assert {c.choice.kernel.form for c in whole} == {Form.WINDOW, Form.RING, Form.WHOLE}
