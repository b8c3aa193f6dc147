# SPDX-License-Identifier: Apache-2.0
"""The search by domains: it finds offsets exactly where trying all offsets does, and searches leave no trace."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mcugen.solve.plan import Buffer
from mcugen.solve.plan.domains import DomainProblem

LARGEST = 40
MANY = 10_000


def drawn(seed: int) -> list[Buffer]:
    rng = np.random.default_rng(seed)
    spans = np.sort(rng.integers(0, 4, (4, 2)), axis=1).tolist()
    sizes = (4 * rng.integers(1, 5, 4)).tolist()
    return [
        Buffer(f"b{k}", n, int(rng.choice([4, 8])), *span) for k, (n, span) in enumerate(zip(sizes, spans, strict=True))
    ]


def problem_of(buffers: list[Buffer]) -> DomainProblem:
    def forbidden(x: Buffer, y: Buffer) -> list[tuple[int, int]]:
        return [(-x.nbytes, y.nbytes)]

    live = [[j for j, y in enumerate(buffers) if x is not y and lives_beside(x, y)] for x in buffers]
    table = [{j: forbidden(x, buffers[j]) for j in beside} for x, beside in zip(buffers, live, strict=True)]
    return DomainProblem.of(buffers, table, LARGEST)


def lives_beside(x: Buffer, y: Buffer) -> bool:
    return x.first <= y.last and y.first <= x.last


def fits(buffers: list[Buffer], at: tuple[int, ...] | list[int], capacity: int) -> bool:
    pairs = itertools.combinations(zip(buffers, at, strict=True), 2)
    return all(i % b.align == 0 and i + b.nbytes <= capacity for b, i in zip(buffers, at, strict=True)) and all(
        not lives_beside(x, y) or i + x.nbytes <= j or j + y.nbytes <= i for (x, i), (y, j) in pairs
    )


@pytest.mark.parametrize("seed", range(6))
def test_offsets_are_found_where_any_exist(seed: int) -> None:
    buffers = drawn(seed)
    problem = problem_of(buffers)
    for capacity in range(12, LARGEST + 1, 4):
        outcome = problem.search(capacity, MANY)
        tried = itertools.product(*(range(0, capacity - b.nbytes + 1, 4) for b in buffers))
        if any(fits(buffers, at, capacity) for at in tried):
            assert outcome.offset is not None and fits(buffers, outcome.offset, capacity)
        else:
            assert outcome.offset is None and outcome.exhausted


def test_a_given_offset_and_another_capacity_do_not_change_later_searches() -> None:
    buffers = drawn(1)
    problem = problem_of(buffers)
    before = problem.search(LARGEST, MANY)
    given = problem.search(LARGEST, MANY, {0: 16})
    assert given.offset is not None and given.offset[0] == 16 and fits(buffers, given.offset, LARGEST)
    assert problem.search(LARGEST, MANY) == before and before.offset is not None and before.offset[0] != 16
    problem.search(LARGEST - 4, MANY)
    assert problem.search(LARGEST, MANY) == before
