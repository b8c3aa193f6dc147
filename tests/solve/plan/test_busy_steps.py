# SPDX-License-Identifier: Apache-2.0
"""Busy steps: what may stay empty, where the next buffer can start, and proofs that rest on them."""

from __future__ import annotations

from mcugen.solve.plan import Buffer, Piece, check, plan
from mcugen.solve.plan.busy_steps import busy_steps_of


def at_once(*sizes: int) -> list[Buffer]:
    return [Buffer(f"b{k}", size, 4, 0, 1) for k, size in enumerate(sizes)]


def test_runs_that_fit_by_their_sum_but_not_into_the_holes_are_noticed() -> None:
    """The runs of three and four cells remain, not the one of two: they must use all free cells except `spare`."""
    busy = busy_steps_of(at_once(12, 16, 8), 4)[0]
    assert not busy.is_full([(0, 3), (5, 10)], 0b011, 1)
    assert busy.is_full([(0, 2), (5, 10)], 0b011, 0)
    assert not busy.is_full([(0, 2), (5, 10)], 0b001, 4)
    assert not busy.is_full([], 0b000, 0)


def test_the_lowest_start_leaves_no_more_empty_than_is_to_spare() -> None:
    busy = busy_steps_of(at_once(12, 8), 4)[0]
    assert busy.lowest_starts([(0, 6)], 0b11, 1) == 0b11  # six cells for five
    assert busy.lowest_starts([(3, 4), (5, 8)], 0b10, 2) == 0b1101000
    assert busy.lowest_starts([(3, 6)], 0b00, 1) == 0


def test_a_buffer_takes_its_cells_out_of_the_holes() -> None:
    ring = Buffer.of_pieces("ring", 4, [Piece(0, 8, 0, 2), Piece(8, 4, 0, 0), Piece(12, 8, 0, 2)])
    busy = next(b for b in busy_steps_of([ring, Buffer("late", 8, 4, 1, 2)], 4) if b.members == 0b11)
    assert busy.holes_beside([(0, 9)], 0, 2) == [(0, 2), (4, 5), (7, 9)]
    assert busy.holes_beside([(0, 2), (4, 6)], 1, 4) == [(0, 2)]


def test_the_busiest_step_comes_first_and_equal_ones_once() -> None:
    buffers = [Buffer("a", 8, 4, 0, 5), Buffer("b", 4, 4, 2, 3), Buffer("c", 4, 4, 4, 5)]
    found = busy_steps_of(buffers, 4)
    assert [sorted(busy.runs) for busy in found] == [[0, 1], [0, 2], [0]]


def test_a_hole_between_two_runs_of_a_buffer_is_seen() -> None:
    """A buffer whose middle is free while another, larger than that, is in use: no place beside it at the bound."""
    ring = Buffer.of_pieces("ring", 4, [Piece(0, 8, 0, 2), Piece(8, 4, 0, 0), Piece(12, 8, 0, 2)])
    buffers = [ring, Buffer("late", 8, 4, 1, 2)]
    found = plan(buffers)
    check(buffers, found)
    assert (found.lower_bound, found.nbytes, found.proven) == (24, 28, True)


def test_the_hole_of_a_buffer_does_not_count_as_taken() -> None:
    ring = Buffer.of_pieces("ring", 4, [Piece(0, 8, 0, 2), Piece(8, 4, 0, 0), Piece(12, 8, 0, 2)])
    late = next(b for b in busy_steps_of([ring, Buffer("late", 8, 4, 1, 2)], 4) if b.members == 0b11)
    assert late.count == 6
