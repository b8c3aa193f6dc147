# SPDX-License-Identifier: Apache-2.0
"""Facts shared by calls alike are equal to those computed for each call alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcugen import kernels
from mcugen.formats.registry import load
from mcugen.ir import alike
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.solve import costs
from mcugen.solve.schedule import Choice
from mcugen.solve.schedule.steps import node_of
from tests.support import random_layers
from tests.support.calls import alone, example_calls
from tests.support.cases import prepared, under_test

CORES = {"cortex-m0plus": frozenset[str](), "cortex-m4": frozenset({"dsp"}), "cortex-m55": kernels.features()}
SHAPES, SETS = range(48), 3


def random_calls(shape: int) -> list[Call]:
    """Layers of one shape with several sets of weights, scales and zero points."""
    found: list[Call] = []
    for made in random_layers.layers_alike(shape, SETS):
        graph = prepared(made)[1]
        found += [graph.call(node, "tflm") for node in under_test(made, graph)]
    return found


def told(call: Call, kernel: Kernel, core: str) -> object:
    """The facts of a call that the selection of kernels uses, except bytes of constants."""
    if why := kernel.refusal(call, call.features):
        return why
    choice = Choice(node_of(call), call, kernel, "")
    estimates = [costs.estimate(kernel, call, core, by_rows) for by_rows in (False, True)]
    code = costs.code_bytes(kernel, call, core)
    return kernel.identity(call), *estimates, code, choice.working, choice.can_run_by_rows


def packed_bytes(call: Call, kernel: Kernel) -> int:
    values = kernel.params(call).values() if kernel.params else ()
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


@pytest.mark.whole
@pytest.mark.parametrize("core", CORES)
def test_kernels_tell_the_same_of_layers_alike(core: str) -> None:
    """Each layer on each kernel, beside others of its shape, with other weights, scales and zero points."""
    shared = told_apart = 0
    for shape in SHAPES:
        calls = [replace(call, features=CORES[core]) for call in random_calls(shape)]
        bare = {id(alike._bare_of(call)) for call in calls}
        shared += len(calls) - len(bare)
        for call in calls:
            single = alone(call)
            for kernel in kernels.of(call.op):
                expected = told(single, kernel, core)
                assert told(call, kernel, core) == expected, (shape, kernel.symbol)
                if not isinstance(expected, str):
                    told_apart += 1
                    known = Choice(node_of(call), call, kernel, "").constant_bytes
                    assert known == packed_bytes(call, kernel), (shape, kernel.symbol)
    assert shared > 60 and told_apart > 400


@pytest.mark.sampled(6)
@pytest.mark.parametrize("op", [op for op in load().ops if op.examples()], ids=lambda op: op.__name__)
def test_kernels_tell_the_same_of_examples(op: type[Op]) -> None:
    for call in example_calls(op, kernels.features()):  # type: ignore[arg-type]
        single = alone(call)
        for kernel in kernels.of(call.op):
            assert told(call, kernel, "cortex-m55") == told(single, kernel, "cortex-m55"), kernel.symbol
