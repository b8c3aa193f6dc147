# SPDX-License-Identifier: Apache-2.0
"""The points of the curves that are worth planning and counting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from mcugen.solve import offers
from mcugen.solve.time_memory_curve import Point


@dataclass(frozen=True)
class Made:
    """An offer with its sizes, which no kernels have to add up to."""

    peak: int
    constants: int
    cost: float

    @property
    def point(self) -> Point:
        return Point(self.cost, self.peak, (), ())


def thinned(found: list[Made], most: int) -> list[Made]:
    return cast(list[Made], offers.thinned(cast(list[offers.Offer], found), most))


def test_what_others_beat_is_left_out() -> None:
    """Also what is faster by less than half a percent, where it takes more RAM; not what needs fewer constants."""
    small, near, worth = Made(10, 100, 1000.0), Made(20, 100, 996.0), Made(30, 100, 900.0)
    lean = Made(40, 60, 999.0)
    assert thinned([worth, near, small], 9) == [worth, small]
    assert thinned([worth, lean, small], 9) == [worth, lean, small]


def test_one_that_is_left_out_beats_no_other() -> None:
    """Each is 0.4 % faster than the one before: every second one is worth seeing beside those that are kept."""
    chain = [Made(10 + k, 100, 1000.0 * 0.996**k) for k in range(5)]
    assert thinned(chain, 9) == [chain[4], chain[2], chain[0]]


def test_points_are_thinned_evenly_over_their_peaks() -> None:
    """From 10 to 1,000 by equal factors, whatever the steps: those nearest to 10, 100 and 1,000; and the knee."""
    peaks = (10, 12, 14, 90, 120, 980, 1000)
    even = [Made(peak, 100, 2000.0 - 1.9 * peak) for peak in peaks]  # one line, and no knee
    assert [made.peak for made in thinned(even, 4)] == [1000, 90, 10]
    assert [made.peak for made in thinned(even, 7)] == [1000, 980, 120, 90, 10]  # 12 and 14 are hardly faster
    steep = [Made(peak, 100, 4000.0 if peak == 10 else 2000.0 - 1.9 * peak) for peak in peaks]
    assert [made.peak for made in thinned(steep, 4)] == [1000, 90, 12, 10]
