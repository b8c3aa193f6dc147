"""Local search for the kernels of a stretch: which one to exchange next, so that the stretch needs less memory or time.

An exchange changes the load at the events of its own step alone, and of steps whose kernels read the same rows again.
Only what it touches is counted again, so a search in a long stretch takes little longer for each of its steps.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mcugen.select.candidates import Candidate

MAX_EXCHANGES = 64
"""Other kernels in a stretch up to which exchanges of several kernels at once are tried."""
MAX_TRIES = 6
"""Of cheaper kernels that do not fit, how many that save most are tried with room made by others."""
_EPSILON = 1e-6
_NO_LIMIT = 1 << 62
Load = npt.NDArray[np.int64]
Picks = tuple[int, ...]
"""For each step the number of its kernel among the offers."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A kernel for a step of a stretch. load: bytes of its own at each event. returns: whether it reads rows again."""

    candidate: Candidate
    cost: float
    load: Load
    returns: bool


@dataclass(frozen=True, eq=False)
class Loads:
    """Bytes in use at each event. rows: of tensors, at the least; the rest as `Stretch` has it."""

    offers: Sequence[Sequence[Offer]]
    rows: Load
    more: Sequence[Mapping[int, Load]]

    def of(self, picks: Sequence[int]) -> Load:
        """The load with these kernels."""
        back = self.back(picks)
        return (
            self.rows
            + sum(self.offers[s][k].load for s, k in enumerate(picks))
            + sum(_extra(m, back) for m in self.more)
        )

    def back(self, picks: Sequence[int]) -> set[int]:
        """The steps that read rows again."""
        return {s for s, k in enumerate(picks) if self.offers[s][k].returns}

    @functools.cached_property
    def spans(self) -> list[slice]:
        """For each step, the events at which its load depends on its kernel."""
        return [self._span(s) for s in range(len(self.offers))]

    def _span(self, s: int) -> slice:
        used = np.zeros(len(self.rows), bool)
        for load in (*(o.load for o in self.offers[s]), *(load for m in self.more if s in m for load in m.values())):
            used |= load != 0
        events = np.flatnonzero(used)
        return slice(int(events[0]), int(events[-1]) + 1) if len(events) else slice(0, 0)


class _State:
    """The kernels that a search has come to, and the load that they make."""

    def __init__(self, loads: Loads, picks: Picks) -> None:
        self._loads, self.picks = loads, list(picks)
        self.load, self._back = loads.of(picks), loads.back(picks)

    def exchanged(self, s: int, k: int) -> Load:
        """The load over the span of step s with its kernel k."""
        now, then, span = self._loads.offers[s][self.picks[s]], self._loads.offers[s][k], self._loads.spans[s]
        load: Load = self.load[span] + (then.load[span] - now.load[span])
        if then.returns != now.returns:
            for m in self._loads.more:
                if s in m:
                    load += _extra(m, self._back ^ {s}, span) - _extra(m, self._back, span)
        return load

    def take(self, s: int, k: int) -> None:
        """Exchange the kernel of step s for its kernel k."""
        self.load[self._loads.spans[s]] = self.exchanged(s, k)
        if self._loads.offers[s][k].returns != self._loads.offers[s][self.picks[s]].returns:
            self._back ^= {s}
        self.picks[s] = k


@dataclass(frozen=True)
class Saving:
    """An exchange of a kernel. saved: by how much less the limit is exceeded; price: what each byte of that costs."""

    step: int
    kernel: int
    price: float
    saved: int


class Search:
    """Exchanges of kernels in a stretch."""

    def __init__(self, loads: Loads) -> None:
        self._loads, self._offers = loads, loads.offers

    def reduced(self, picks: Picks, limit: float, fixed: int = -1) -> Picks | None:
        """Change one kernel after the other, at the least cost for the bytes over the limit that it saves.

        The step `fixed` keeps its kernel. None where the limit is not reached.
        """
        most = int(min(limit, _NO_LIMIT))
        state = _State(self._loads, picks)
        over = _over(state.load, most)
        savings: dict[int, Saving | None] = {}
        stale: Sequence[int] = range(len(picks))
        while over:
            savings |= {s: self._best(state, s, most) for s in stale if s != fixed}
            best = min((x for x in savings.values() if x is not None), key=lambda x: x.price, default=None)
            if best is None:
                return None
            state.take(best.step, best.kernel)
            over -= best.saved
            stale = self._touched(best.step)
        return tuple(state.picks)

    def _best(self, state: _State, s: int, limit: int) -> Saving | None:
        """Of the exchanges of a step's kernel that bring the load nearer to the limit, the cheapest per byte."""
        now, found = state.picks[s], []
        over = _over(state.load[self._loads.spans[s]], limit)
        if over:
            for k, offer in enumerate(self._offers[s]):
                saved = over - _over(state.exchanged(s, k), limit) if k != now else 0
                if saved > 0:
                    price = (offer.cost - self._offers[s][now].cost) / saved
                    found.append(Saving(s, k, price, saved))
        return min(found, key=lambda x: x.price, default=None)

    def _touched(self, step: int) -> Sequence[int]:
        """The steps whose exchanges bring something else after one of this step."""
        own, spans = self._loads.spans[step], self._loads.spans
        return [s for s, span in enumerate(spans) if s == step or (span.start < own.stop and own.start < span.stop)]

    def improved(self, picks: Picks, limit: float) -> Picks:
        """Take cheaper kernels as long as the limit holds, also where another step makes room for it."""
        while True:
            state = _State(self._loads, picks)
            better = sorted(
                (offer.cost - offers[now].cost, s, k)
                for s, (offers, now) in enumerate(zip(self._offers, picks, strict=True))
                for k, offer in enumerate(offers)
                if offer.cost - offers[now].cost < -_EPSILON
            )
            fits = ((s, k) for _, s, k in better if state.exchanged(s, k).max(initial=0) <= limit)
            found = next(fits, None)
            then = _with(picks, *found) if found else self._both(picks, better, limit)
            if then is None:
                return picks
            picks = then

    def _both(self, picks: Picks, better: Sequence[tuple[float, int, int]], limit: float) -> Picks | None:
        """A cheaper kernel for which other steps make room, where that is cheaper together."""
        if sum(len(offers) - 1 for offers in self._offers) > MAX_EXCHANGES:
            return None
        for _, s, k in better[:MAX_TRIES]:
            room = self.reduced(_with(picks, s, k), limit, s)
            if room is not None and self._cost(room) < self._cost(picks) - _EPSILON:
                return room
        return None

    def _cost(self, picks: Picks) -> float:
        return sum(self._offers[s][k].cost for s, k in enumerate(picks))


def _with(picks: Picks, s: int, k: int) -> Picks:
    return (*picks[:s], k, *picks[s + 1 :])


def _extra(of: Mapping[int, Load], back: Set[int], span: slice = slice(None)) -> Load | int:
    """What a buffer holds more where the steps in `back` read rows again. of: the same for each step alone."""
    loads = [load[span] for s, load in of.items() if s in back]
    most: Load | int = np.maximum.reduce(loads) if loads else 0
    return most


def _over(load: Load, limit: int) -> int:
    """Bytes over the limit, summed over the events."""
    return int(np.maximum(load - limit, 0).sum())
