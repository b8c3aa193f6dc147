# SPDX-License-Identifier: Apache-2.0
"""Candidates ranked by working memory and by the price of their constants, for plans of little RAM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.prices import Prices
from mcugen.solve.schedule.steps import batch_of
from mcugen.solve.sharing import Picks


def memory_of(c: Candidate) -> tuple[bool, int, int, float]:
    """Sort key: kernels that can run row by row first, then by working memory, rows per event, and time."""
    return not c.choice.can_run_by_rows, c.working_bytes, batch_of(c.choice), c.rows_cost


def priced(candidates: Sequence[Candidates], prices: Prices) -> list[Candidates]:
    """The candidates with the price of their constants added to their costs, the cheapest first."""

    def with_price(c: Candidate) -> Candidate:
        price = prices.flash * c.constant_bytes
        return replace(c, cost=c.cost + price, rows_cost=c.rows_cost + price)

    return [tuple(sorted(map(with_price, listed), key=lambda c: c.cost)) for listed in candidates]


def with_leanest(candidates: Sequence[Candidates], prices: Prices, ram_of: Callable[[Picks], int]) -> Picks:
    """The kernels with the least working memory. Each is then replaced by the cheapest kernel (time and price of
    constants) that does not increase the network's RAM.
    """
    picks = tuple(min(listed, key=memory_of) for listed in candidates)
    least = ram_of(picks)
    for at, listed in enumerate(candidates):
        too_much = max(c.working_bytes for c in listed) + 1
        for c in sorted(listed, key=prices.of):
            if prices.of(c) >= prices.of(picks[at]):
                break
            if c.working_bytes >= too_much:
                continue
            tried = (*picks[:at], c, *picks[at + 1 :])
            if ram_of(tried) <= least:
                picks = tried
                break
            too_much = c.working_bytes
    return picks
