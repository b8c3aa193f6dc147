"""Live bytes and the bounds drawn from them."""

from __future__ import annotations

from mcugen.solve.plan import Buffer, aligned_bound, live_bytes, lower_bound


def test_live_bytes_counts_both_ends_of_a_life() -> None:
    buffers = [Buffer("a", 10, 1, 0, 1), Buffer("b", 5, 1, 1, 3), Buffer("c", 7, 1, 3, 3)]
    assert live_bytes(buffers) == [10, 15, 5, 12]
    assert lower_bound(buffers) == (15, 1)


def test_peak_step_is_the_first_of_equals() -> None:
    assert lower_bound([Buffer("a", 4, 1, 1, 1), Buffer("b", 4, 1, 3, 3)]) == (4, 1)


def test_nothing_is_live_without_buffers() -> None:
    assert live_bytes([]) == []
    assert lower_bound([]) == (0, 0)
    assert aligned_bound([]) == 0


def test_aligned_bound_spares_the_topmost_padding() -> None:
    assert aligned_bound([Buffer("a", 1, 4, 0, 0), Buffer("b", 4, 4, 0, 0)]) == 5
    assert aligned_bound([Buffer("a", 1, 4, 0, 0), Buffer("b", 3, 4, 0, 0)]) == 5
    assert aligned_bound([Buffer("a", 3, 16, 0, 0), Buffer("b", 3, 16, 0, 0), Buffer("c", 2, 1, 0, 0)]) == 19


def test_aligned_bound_counts_no_padding_between_buffers_that_never_meet() -> None:
    assert aligned_bound([Buffer("a", 3, 16, 0, 0), Buffer("b", 3, 16, 1, 1)]) == 3
