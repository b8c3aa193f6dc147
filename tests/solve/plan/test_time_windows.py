# SPDX-License-Identifier: Apache-2.0
"""Placement of very many shaped buffers, window by window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mcugen.solve.plan import Buffer, Piece, buffer_shapes, check, lower_bound, plan, time_windows
from mcugen.solve.plan.buffers import height
from mcugen.solve.plan.domains import DomainProblem, Forbidden
from mcugen.solve.plan.exact import Outcome
from tests.support.clock import Watch


def random_buffer(rng: Random, name: str, start: int) -> Buffer:
    """Plain, or a ring or an image whose rows come and go."""
    align, rows, size = rng.choice((1, 4, 16)), rng.randint(1, 5), 4 * rng.randint(1, 12)
    if rows == 1:
        return Buffer(name, size, align, start, start + rng.randint(0, 6))
    first = [start + row * rng.randint(0, 2) for row in range(rows)]
    pieces = [Piece(row * size, size, begun, begun + rng.randint(0, 4)) for row, begun in enumerate(first)]
    return Buffer.of_pieces(name, align, pieces)


def random_network(seed: int, count: int = 160) -> list[Buffer]:
    """Some of the buffers live for long, as those of branches do."""
    rng = Random(seed)
    found = [random_buffer(rng, f"t{k}", k * 2 + rng.randint(0, 3)) for k in range(count)]
    return [*found, *(Buffer(f"b{k}", 24, 4, 60 * k, 60 * k + 110) for k in range(5))]


def repeated(times: int) -> list[Buffer]:
    """Like layers, each of which takes in the rows of the one before."""
    rng, found = Random(3), []
    pattern = [random_buffer(rng, f"{k}", rng.randint(0, 14)) for k in range(9)]
    for n in range(times):
        for b in pattern:
            pieces = [Piece(p.offset, p.nbytes, p.first + 12 * n, p.last + 12 * n) for p in b.pieces]
            found.append(Buffer.of_pieces(f"{b.name} of {n}", b.align, pieces))
    return found


def greedy(buffers: Sequence[Buffer]) -> tuple[list[int], Forbidden]:
    forbidden = buffer_shapes._forbidden(buffers)
    near = list(map(buffer_shapes._Near.of, buffers, forbidden))
    return buffer_shapes._greedy(buffers, near, lower_bound(buffers)[0])[0], forbidden


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(6))
def test_plans_are_right(seed: int) -> None:
    buffers = random_network(seed)
    made, (offsets, forbidden) = plan(buffers), greedy(buffers)
    check(buffers, made)
    found = time_windows.placed(buffers, forbidden, offsets, lower_bound(buffers)[0])
    nbytes = height(buffers, found)
    check(buffers, replace(made, offset={b.name: at for b, at in zip(buffers, found, strict=True)}, nbytes=nbytes))
    assert made.nbytes <= height(buffers, offsets) and nbytes <= height(buffers, offsets)


@pytest.mark.whole
def test_a_network_of_many_layers_takes_no_more_than_one_of_few() -> None:
    made = {times: plan(repeated(times)) for times in (4, 6, 30, 100)}
    assert made[100].nbytes <= made[30].nbytes <= made[6].nbytes <= made[4].nbytes
    for times, found in made.items():
        check(repeated(times), found)
        assert (found.method == "exact search of windows") == (times > 4)


@pytest.mark.whole
def test_windows_that_are_alike_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches, search = [0], DomainProblem.search

    def counted(problem: DomainProblem, *given: Any) -> Outcome:
        searches[-1] += 1
        return search(problem, *given)

    monkeypatch.setattr(DomainProblem, "search", counted)
    for times in (30, 120):
        buffers = repeated(times)
        offsets, forbidden = greedy(buffers)
        found = time_windows.placed(buffers, forbidden, offsets, lower_bound(buffers)[0])
        assert height(buffers, found) < height(buffers, offsets)
        searches.append(0)
    assert 0 < searches[0] <= searches[1] < 2 * searches[0]


def test_what_is_found_at_the_limit_of_work_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any work allowed, the result is that of the greedy orders."""
    buffers = repeated(30)
    offsets, forbidden = greedy(buffers)
    bound, heights = lower_bound(buffers)[0], []
    monkeypatch.setattr(time_windows, "_WINDOW_NODES", 0)
    for nodes in (0, 300, 3000, 30_000):
        monkeypatch.setattr(time_windows, "_LEAST_NODES", nodes)
        heights.append(height(buffers, time_windows.placed(buffers, forbidden, offsets, bound)))
    assert heights == sorted(heights, reverse=True) and heights[0] == height(buffers, offsets) > heights[-1]


def test_a_buffer_may_be_larger_than_what_is_in_use_at_once() -> None:
    """An image whose rows are never there together; no plan is smaller than it is, which is proven."""
    plain = [Buffer(f"{k}", 40, 4, 2 * k, 2 * k + 2) for k in range(110)]
    images = [
        Buffer.of_pieces(f"i{k}", 4, [Piece(40 * row, 40, 30 * k + row, 30 * k + row) for row in range(12)])
        for k in range(6)
    ]
    buffers = [*plain, *images]
    made = plan(buffers)
    check(buffers, made)
    assert lower_bound(buffers)[0] < 480 <= made.floor <= made.nbytes


@pytest.mark.whole
def test_long_lives_and_many_offsets_are_bounded() -> None:
    """Sizes with no common measure in large memories, and much that lives throughout."""
    rng, watch = Random(5), Watch()
    buffers = [Buffer(f"b{k}", 2 * rng.randint(1000, 5000) + 1, 1, 0, 1300) for k in range(25)]
    for k in range(600):
        rows = [Piece(2001 * row, 2001, 2 * k + row, 2 * k + row + 2) for row in range(rng.randint(1, 6))]
        buffers.append(Buffer.of_pieces(f"t{k}", 1, rows))
    made = plan(buffers)
    check(buffers, made)
    assert watch.seconds() < 20


@pytest.mark.parametrize("given", [{0: 8, 2: 0}, {1: 4}, {}])
def test_a_search_keeps_to_what_is_given(given: Mapping[int, int]) -> None:
    buffers = [Buffer(f"{k}", nbytes, 4, 0, 3) for k, nbytes in enumerate((4, 12, 8))]
    forbidden = buffer_shapes._forbidden(buffers)
    outcome = DomainProblem.of(buffers, forbidden, 64).search(40, 1000, given)
    assert outcome.offset is not None and all(outcome.offset[i] == at for i, at in given.items())
    assert DomainProblem.of(buffers, forbidden, 64).search(24, 1000, {0: 8, 1: 4}).offset is None
