# SPDX-License-Identifier: Apache-2.0
"""Functions that several nodes share: the search keeps within the limit, and finds what trying all sets finds."""

from __future__ import annotations

import itertools
import random
from typing import cast

import numpy as np
import pytest

from mcugen.solve import sharing
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.problem import CODE_BYTES, CODE_WORTH, SMALL_CODE_BYTES, fastest
from mcugen.solve.schedule import Choice
from mcugen.solve.sharing import Picks, cheapest, code_of, within_code, within_each

CHOICE = cast(Choice, None)


def _candidate(function: str, cost: float, code: int) -> Candidate:
    return Candidate(CHOICE, cost, cost, function, code)


def _cost(candidate: Candidate) -> float:
    return candidate.cost


def _total(picks: Picks) -> float:
    return sum(map(_cost, picks))


def _market(seed: int) -> list[Candidates]:
    """Nodes that share a slow function that all can call, a faster one for some, and copies for one or two."""
    draw = random.Random(seed)
    code = {"all": 400, "most": 900, **{f"copy{k}": draw.randrange(300, 1500) for k in range(5)}}
    candidates = []
    for _ in range(6):
        macs = draw.randrange(1_000, 100_000)
        own = draw.sample(sorted(code)[1:], 3)
        slow = _candidate("all", 5.0 * macs, code["all"])
        candidates.append((slow, *(_candidate(name, draw.uniform(0.7, 3.0) * macs, code[name]) for name in own)))
    return candidates


def _best_of_all(candidates: list[Candidates], limit: int) -> float:
    fitting = (picks for picks in itertools.product(*candidates) if code_of(picks) <= limit)
    return min(map(_total, fitting))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [1_000, 2_000, 3_000])
def test_the_search_finds_what_trying_all_sets_finds(limit: int) -> None:
    found = {}
    for seed in range(30):
        candidates = _market(seed)
        picks = within_code(candidates, limit, _cost)
        assert code_of(picks) <= limit
        found[seed] = _total(picks) / _best_of_all(candidates, limit)
    assert sum(ratio < 1 + 1e-9 for ratio in found.values()) >= 27
    assert max(found.values()) < 1.2


@pytest.mark.parametrize("price", [1e-6, 0.5])
def test_several_limits_at_once_give_the_picks_of_each(price: float) -> None:
    limits = [1_000, 1_500, 2_000, 3_000]
    for seed in range(10):
        candidates = _market(seed)
        one_by_one = [within_code(candidates, limit, _cost, price) for limit in limits]
        assert within_each(candidates, limits, _cost, price) == one_by_one


def test_functions_that_are_not_opened_would_not_pay() -> None:
    """Neither within a limit nor without; and of many functions that is known before they are tried."""
    tried = left_out = 0
    for seed, price in itertools.product(range(10), (0.5, 5.0, 40.0)):
        offer = sharing._offer(_market(seed), _cost)
        for used in (offer.first(), offer.improved(offer.first(), price, np.inf)):
            total = offer.weight_of(used) + price * offer.code_of(used)
            opened = offer._worth_opening(used, price, total)
            others = sorted(set(range(len(offer.names))) - set(opened))
            for k, limit in itertools.product(others, (np.inf, 2_000.0)):
                assert offer._opened(used, k, price, limit)[0] > total - 1e-3
            tried, left_out = tried + len(opened), left_out + len(others)
    assert tried and left_out > tried / 2


def test_where_nothing_fits_the_least_code_is_taken() -> None:
    candidates = _market(1)
    assert code_of(within_code(candidates, 10, _cost)) == min(map(code_of, itertools.product(*candidates)))


def test_a_copy_is_taken_for_one_node_only_where_the_limit_leaves_room() -> None:
    shared, copy = _candidate("shared", 100.0, 500), _candidate("copy", 60.0, 600)
    candidates = [(copy, shared), (shared,)]
    assert [c.function for c in within_code(candidates, 1_100, _cost)] == ["copy", "shared"]
    assert [c.function for c in within_code(candidates, 1_099, _cost)] == ["shared", "shared"]


def test_the_price_of_code_decides_between_copies_and_what_is_shared() -> None:
    candidates = [(_candidate(f"copy{k}", 60.0, 100), _candidate("shared", 100.0, 100)) for k in range(4)]
    assert {c.function for c in cheapest(candidates, 0.1, _cost)} == {f"copy{k}" for k in range(4)}
    assert {c.function for c in cheapest(candidates, 1.0, _cost)} == {"shared"}


@pytest.mark.parametrize(("other", "taken"), [(SMALL_CODE_BYTES - 1500, "copy"), (SMALL_CODE_BYTES - 500, "all")])
def test_a_copy_that_saves_little_is_left_out_only_where_there_is_much_code(other: int, taken: str) -> None:
    saved = 1000 * CODE_WORTH / 2
    shared = _candidate("all", 1e6, 400)
    candidates = [(_candidate("large", 1e6, other),), (shared,), (shared, _candidate("copy", 1e6 - saved, 1000))]
    assert [c.function for c in fastest(candidates)] == ["large", "all", taken]


@pytest.mark.parametrize(("saved", "taken"), [(0.012, "copy"), (0.008, "all")])
def test_a_copy_beyond_the_bounds_must_save_a_share_of_the_cost(saved: float, taken: str) -> None:
    shared = _candidate("all", 1e6, 400)
    large = _candidate("large", 1e6 * (1 - saved) / saved, CODE_BYTES - 400)
    candidates = [(large,), (shared,), (shared, _candidate("copy", 1.0, 1000))]
    assert [c.function for c in fastest(candidates)] == ["large", "all", taken]
