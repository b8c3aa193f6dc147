"""The cheapest of several solutions: memory is planned only where lower bounds leave a choice."""

from __future__ import annotations

import math
from typing import Any

import pytest

from mcugen.solve.cheapest import Cheapest

PRICE = 2.0


class Drafted:
    """A draft and its solution: at least `least_bytes`, and `ram_bytes` once it is planned."""

    def __init__(self, name: str, least_bytes: int, ram_bytes: int, fits: bool = True) -> None:
        self.name, self.least_bytes, self.ram_bytes, self.fits, self.plans = name, least_bytes, ram_bytes, fits, 0

    def planned(self) -> Drafted:
        self.plans += 1
        return self


def cheapest_of(*added: tuple[float, Drafted]) -> Any:
    made: Any = Cheapest(Drafted("whole", 100, 100), 0.0, PRICE)  # type: ignore[arg-type]
    for cost, draft in added:
        made.add(draft, cost)
    return made


def test_the_least_score_wins_and_hopeless_drafts_are_not_planned() -> None:
    near, best, loose = Drafted("near", 70, 75), Drafted("best", 50, 60), Drafted("loose", 10, 95)
    above, dear = Drafted("above", 65, 65), Drafted("dear", 100, 100)
    made = cheapest_of((10, near), (20, best), (20, loose), (12, above), (0, dear))
    assert made.least == 20 + PRICE * 10 and made.room(20) == 10
    assert made.settle() and not made.settle()
    assert made.solution is best and made.least == 20 + PRICE * 60
    assert [d.plans for d in (near, best, loose, above, dear)] == [0, 1, 1, 0, 0]


def test_of_equal_scores_the_first_added_wins() -> None:
    first, second = Drafted("first", 40, 60), Drafted("second", 50, 50)
    made = cheapest_of((0, first), (20, second))
    made.settle()
    assert made.solution is first
    made.add(Drafted("later", 30, 60), 0)
    made.settle()
    assert made.solution is first


def test_what_does_not_fit_is_not_taken() -> None:
    over = Drafted("over", 10, 10, fits=False)
    made = cheapest_of((0, over))
    assert made.settle() and over.plans == 1
    assert made.solution.name == "whole" and math.isclose(made.least, 200)


@pytest.mark.parametrize("nbytes", [6_424_608, 4_014_080, 333_333])
def test_the_room_of_a_planned_solution_is_whole(nbytes: int) -> None:
    """Scores are sums of large floats, whose last bits would hide a point one byte smaller."""
    price, cost = 24.85259674279868, 5985677771.25
    made = Cheapest(Drafted("whole", nbytes, nbytes), cost, price)  # type: ignore[arg-type]
    assert made.room(cost) == nbytes
