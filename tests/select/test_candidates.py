# SPDX-License-Identifier: Apache-2.0
"""Which kernels a node may get."""

from __future__ import annotations

import pytest

from mcugen import target
from mcugen.kernel import Form
from mcugen.op import Example
from mcugen.ops.add import Add
from mcugen.options import Options
from mcugen.select.candidates import menus_of
from mcugen.types import QuantParams, TensorType
from tests.support.cases import graph_of


@pytest.mark.parametrize("mode", ["rows", "frames"])
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55", "rv32imc"])
def test_rows_that_come_one_by_one_are_not_waited_for(core: str, mode: str) -> None:
    a, b, y = (TensorType((1, 18, 1, 5), "s8", QuantParams((scale,), (3,))) for scale in (0.5, 0.25, 0.6))
    graph = graph_of(Example(Add(), (a, b), (y,), {}))
    menu = menus_of(graph, target.load(core), Options(input_mode=mode))[0]
    assert {c.choice.kernel.form for c in menu} == {Form.POINTWISE}
    whole = menus_of(graph, target.load(core), Options())[0]
    assert {c.choice.kernel.form for c in whole} == {Form.POINTWISE, Form.WHOLE}
