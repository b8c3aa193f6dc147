"""Exchanges of kernels in a stretch: what is counted over a step's span alone is what a whole count gives."""

from __future__ import annotations

import itertools
from typing import cast

import numpy as np
import pytest

from mcugen.solve.candidates import Candidate
from mcugen.solve.exchange import KernelOffer, Load, Loads, Part, Search, _State

EVENTS, STEPS, KERNELS = 40, 8, 3


def load(rng: np.random.Generator, first: int, last: int, events: int = EVENTS) -> Load:
    """Bytes between two events, none outside."""
    found = np.zeros(events, np.int64)
    found[first:last] = rng.integers(0, 50, last - first)
    return found


def offer(rng: np.random.Generator, s: int, k: int) -> KernelOffer:
    first = 4 * s + int(rng.integers(0, 4))
    own = Part.of(load(rng, first, first + 6))
    return KernelOffer(cast(Candidate, None), 10.0 * k + float(rng.random()), own, bool((s + k) % 2))


def drawn(seed: int) -> Loads:
    """Steps whose loads overlap with a few others', two of which read the same rows again."""
    rng = np.random.default_rng(seed)
    offers = [sorted((offer(rng, s, k) for k in range(KERNELS)), key=lambda o: o.cost) for s in range(STEPS)]
    more = [
        {s: Part.of(load(rng, 3 * s, 3 * s + 12)), s + 3: Part.of(load(rng, 3 * s + 5, 3 * s + 17))} for s in (0, 2, 4)
    ]
    return Loads(offers, rng.integers(0, 30, EVENTS), more)


@pytest.mark.parametrize("seed", range(6))
def test_a_load_depends_on_a_kernel_in_its_span_alone(seed: int) -> None:
    loads = drawn(seed)
    picks = tuple(int(k) for k in np.random.default_rng(seed).integers(0, KERNELS, STEPS))
    for s, span in enumerate(loads.spans):
        outside = np.ones(EVENTS, bool)
        outside[span] = False
        for k in range(KERNELS):
            other = (*picks[:s], k, *picks[s + 1 :])
            assert np.array_equal(loads.of(other)[outside], loads.of(picks)[outside])


@pytest.mark.parametrize("seed", range(3))
def test_peaks_of_all_sets_are_those_of_whole_counts(seed: int) -> None:
    loads = drawn(seed)
    few = Loads([offers[: 1 + s % 3] for s, offers in enumerate(loads.offers)], loads.rows, loads.more)
    sets = list(itertools.product(*(range(len(offers)) for offers in few.offers)))
    assert list(few.peaks()) == [(int(few.of(picks).max()), picks) for picks in sets]
    assert len({peak for peak, _ in few.peaks()}) > 8
    assert list(Loads([], loads.rows, []).peaks()) == [(int(loads.rows.max()), ())]


def step_by_step(loads: Loads, picks: tuple[int, ...], limit: int) -> tuple[int, ...] | None:
    """A slow version of the search that recomputes all loads in each step."""

    def over(of: tuple[int, ...]) -> int:
        return int(np.maximum(loads.of(of) - limit, 0).sum())

    while over(picks):
        others = [(s, k) for s in range(STEPS) for k in range(KERNELS) if k != picks[s]]
        found = []
        for s, k in others:
            other = (*picks[:s], k, *picks[s + 1 :])
            if saved := max(over(picks) - over(other), 0):
                found.append(((loads.offers[s][k].cost - loads.offers[s][picks[s]].cost) / saved, s, k))
        if not found:
            return None
        _, s, k = min(found)
        picks = (*picks[:s], k, *picks[s + 1 :])
    return picks


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_search_goes_the_way_of_whole_counts(seed: int) -> None:
    loads = drawn(seed)
    fastest = (0,) * STEPS
    peak = int(loads.of(fastest).max())
    found = {limit: Search(loads).reduced(fastest, limit) for limit in range(peak, peak // 4, -7)}
    assert {limit: step_by_step(loads, fastest, limit) for limit in found} == found
    assert len(set(found.values())) > 2
    for limit, picks in found.items():
        if picks is not None:
            better = Search(loads).improved(picks, limit)
            assert loads.of(better).max() <= limit
            assert sum(o[k].cost for o, k in zip(loads.offers, better, strict=True)) <= sum(
                o[k].cost for o, k in zip(loads.offers, picks, strict=True)
            )


def test_only_what_is_near_an_exchange_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, near = 100, 8
    rng = np.random.default_rng(0)
    own = [load(rng, 4 * s, 4 * s + 12, 4 * steps + 12) for s in range(steps)]
    offers = [
        [KernelOffer(cast(Candidate, None), 10.0 * k, Part.of(of // (k + 1)), False) for k in range(3)] for of in own
    ]
    loads = Loads(offers, np.zeros(4 * steps + 12, np.int64), [])
    counted: list[int] = []
    inner = _State.saved

    def saved(state: _State) -> Load:
        counted.append(len(state._stale))
        return inner(state)

    monkeypatch.setattr(_State, "saved", saved)
    picks = (0,) * steps
    assert Search(loads).reduced(picks, int(loads.of(picks).max()) // 2) is not None
    assert counted[0] == steps < len(counted) * 4
    assert max(counted[1:]) < near
