# SPDX-License-Identifier: Apache-2.0
"""Kernels give a reason for every call that they refuse, also where no kernel accepts it: errors quote it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mcugen import kernels
from mcugen.formats.registry import load
from mcugen.ir.call import Call
from mcugen.ir.op import Example, Op
from mcugen.ir.types import NUMPY_DTYPES
from mcugen.ops._weighted import Weighted, matrix, taps_of
from tests.support.calls import example_calls
from tests.support.cases import graph_of

OPS = [op for op in load().ops if op.examples()]


def computed(example: Example) -> Iterator[Call]:
    """The call with each constant computed by another layer, but for those of types that only constants have."""
    for k in example.constants:
        if example.inputs[k].dtype not in NUMPY_DTYPES:
            continue
        others = {other: data for other, data in example.constants.items() if other != k}
        graph = graph_of(replace(example, constants=others))
        yield replace(graph.call(graph.nodes[0], "tflm"), features=kernels.features())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_kernels_answer_where_operands_are_computed(op: type[Op]) -> None:
    for call in (call for example in op.examples() for call in computed(example)):
        for kernel in (*kernels.of(call.op), *kernels.on_device(op)):
            first, *_ = [*kernel.refusals(call, kernels.features()), ""]
            assert kernel.refusal(call, kernels.features()) == first, kernel.symbol


@pytest.mark.parametrize("op", [op for op in OPS if issubclass(op, Weighted)], ids=lambda op: op.__name__)
def test_taps_are_those_of_the_matrix(op: type[Op]) -> None:
    calls = [call for call in example_calls(op) if call.constants[1] is not None]
    assert calls and all(taps_of(call) == matrix(call).shape[1] for call in calls)
