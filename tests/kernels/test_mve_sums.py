# SPDX-License-Identifier: Apache-2.0
"""The linear formula of Helium's sums: the one nearest to the ratios of the scales that gives the runtime's results."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from mcugen.kernels.helium.sums import NEAR, POINT, ROUNDED, line_of
from mcugen.ops.add import Add
from mcugen.ops.sub import Sub
from tests.ops.test_linear_sum import BYTES, call_of, drawn, op_bounds

LEAST, MOST = -(2**30), 2**30 + 2**POINT - 1
"""Addends that the search considers."""


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least number of low..high from which on `holds`; high + 1 if there is none."""
    while low <= high:
        middle = (low + high) // 2
        low, high = (low, middle - 1) if holds(middle) else (middle + 1, high)
    return low


@pytest.mark.parametrize(
    ("op", "seed"),
    [*itertools.product((Add("NONE"), Add("RELU"), Sub("NONE"), Sub("RELU6")), range(2)), (Sub("NONE"), 3)],
    ids=repr,
)
def test_the_formula_is_that_of_a_search_by_trial(op: Add | Sub, seed: int) -> None:
    """The addend is found by trial, not derived from the results. The last example has no formula."""
    call = call_of(op, *drawn(seed, op.activation))
    a, b = np.meshgrid(BYTES, BYTES, indexing="ij")
    want, (low, high) = op.reference_q(call, a, b), op_bounds(op, call)
    wide, sign = (a.astype(np.int64), b.astype(np.int64)), -1 if isinstance(op, Sub) else 1
    ratios = [round(call.input(k).scale / call.output.scale * 2**POINT) for k in (0, 1)]
    steps = [(i, j) for i in range(-NEAR, NEAR + 1) for j in range(-NEAR, NEAR + 1)]
    for i, j in sorted(steps, key=lambda step: max(abs(step[0]), abs(step[1]))):
        first, second = ratios[0] + i, sign * (ratios[1] + j)
        products = first * wide[0] + second * wide[1] + ROUNDED

        def result(addend: int, products: np.ndarray = products) -> np.ndarray:
            return np.clip((products + addend) >> POINT, low, high)

        least = first_true(lambda k: bool((result(k) >= want).all()), LEAST, MOST)
        above = first_true(lambda k: bool((result(k) > want).any()), LEAST, MOST)
        if least < above:
            found = line_of(call)
            assert found is not None
            assert (found.first, found.second, found.addend) == (first, second, (least + above - 1) // 2)
            return
    assert line_of(call) is None
