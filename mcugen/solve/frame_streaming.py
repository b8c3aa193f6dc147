# SPDX-License-Identifier: Apache-2.0
"""Choice of kernels for streaming by frames. There is a single schedule, so the kernels alone determine the RAM."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from mcugen.solve.budget import Solution
from mcugen.solve.leanest import with_leanest
from mcugen.solve.problem import Problem
from mcugen.solve.sharing import Picks


def smallest(problem: Problem) -> Solution:
    """The solution of least RAM; of equals, the one with the least time and price of constants."""
    picks = dict.fromkeys(problem.within_flash(p) for p in (_leanest(problem), problem.fastest))
    solutions = [(problem.planned(chosen), sum(map(problem.prices.of, chosen))) for chosen in picks]
    return min(solutions, key=lambda s: (s[0].ram_bytes, s[1]))[0]


def that_fits(problem: Problem, picks: Picks) -> Solution:
    """The solution with these kernels if it fits; else the fitting solution of least time and price of constants."""
    made = problem.planned(picks)
    if made.fits:
        return made
    found = dict.fromkeys(map(problem.within_flash, faster(problem, _leanest(problem))))
    for tried in sorted(found, key=lambda tried: sum(map(problem.prices.of, tried))):
        solution = problem.planned(tried)
        if solution.fits:
            return solution
    return made


def faster(problem: Problem, picks: Picks) -> Iterator[Picks]:
    """The picks, then the picks after each further exchange of a kernel.

    The next exchange saves the most time and price of constants per added byte of working memory. The sequence does not
    depend on the budget, so a larger budget never gives a slower model.
    """
    while True:
        yield picks
        gains = [
            (saved / max(c.working_bytes - picks[at].working_bytes, 1), at, k)
            for at, listed in enumerate(problem.candidates)
            for k, c in enumerate(listed)
            if (saved := problem.prices.of(picks[at]) - problem.prices.of(c)) > 0
        ]
        if not gains:
            return
        _, at, k = max(gains, key=itemgetter(0))  # the first of equals
        picks = (*picks[:at], problem.candidates[at][k], *picks[at + 1 :])


def _leanest(problem: Problem) -> Picks:
    return with_leanest(problem.candidates, problem.prices, lambda picks: problem.planned(picks).ram_bytes)
