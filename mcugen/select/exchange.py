"""Local search for the kernels of a stretch: which one to exchange next, so that the stretch needs less memory or time.

An exchange changes the load at the events of its own step alone, and of steps whose kernels read the same rows again.
Only what it touches is counted again, so a search in a long stretch takes little longer for each of its steps.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mcugen.plan.buffers import Piece
from mcugen.select.candidates import Candidate

MAX_EXCHANGES = 64
"""Other kernels in a stretch up to which exchanges of several kernels at once are tried."""
MAX_TRIES = 6
"""Of cheaper kernels that do not fit, how many that save most are tried with room made by others."""
_EPSILON = 1e-6
_NO_LIMIT = 1 << 62
Load = npt.NDArray[np.int64]
_Gain = tuple[float, int, int, int]
"""What an exchange adds to the cost, its step, its kernel, and the one that it takes the place of."""
Picks = tuple[int, ...]
"""For each step the number of its kernel among the offers."""


@dataclass(frozen=True, eq=False)
class Part:
    """Bytes at each event from `start` on; none before, and none after the last of them."""

    start: int
    load: Load

    @classmethod
    def of(cls, load: Load) -> Part:
        """The events at which a load of all events is not zero, and those between them."""
        events = np.flatnonzero(load)
        first, end = (int(events[0]), int(events[-1]) + 1) if len(events) else (0, 0)
        return cls(first, load[first:end].copy())

    @classmethod
    def of_pieces(cls, pieces: Sequence[Piece]) -> Part:
        """Bytes that pieces of a buffer have in use."""
        start = min((piece.first for piece in pieces), default=0)
        load = np.zeros(max((piece.last + 1 - start for piece in pieces), default=0), np.int64)
        for piece in pieces:
            load[piece.first - start : piece.last + 1 - start] += piece.nbytes
        return cls(start, load)

    @property
    def end(self) -> int:
        return self.start + len(self.load)

    def less(self, other: Part) -> Part:
        """This less another."""
        span = slice(min(self.start, other.start), max(self.end, other.end))
        found = Part.of(self.over(span) - other.over(span))
        return Part(span.start + found.start, found.load)

    def over(self, span: slice) -> Load:
        """The bytes at the events of a span."""
        found = np.zeros(span.stop - span.start, np.int64)
        first, end = max(self.start, span.start), min(self.end, span.stop)
        if first < end:
            found[first - span.start : end - span.start] = self.load[first - self.start : end - self.start]
        return found


@dataclass(frozen=True, eq=False)
class Offer:
    """A kernel for a step of a stretch. own: bytes of its own. returns: whether it reads rows again."""

    candidate: Candidate
    cost: float
    own: Part
    returns: bool


@dataclass(frozen=True, eq=False)
class Loads:
    """Bytes in use at each event. rows: of tensors, at the least; the rest as `Stretch` has it."""

    offers: Sequence[Sequence[Offer]]
    rows: Load
    more: Sequence[Mapping[int, Part]]
    known: dict[tuple[int, int, frozenset[int]], Load | int] = field(default_factory=dict)

    def of(self, picks: Sequence[int]) -> Load:
        """The load with these kernels."""
        back = self.back(picks)
        load = self.rows.copy()
        for s, k in enumerate(picks):
            own = self.offers[s][k].own
            load[own.start : own.end] += own.load
        for m in self.more:
            span = _span([part for s, part in m.items() if s in back])
            load[span] += _extra(m, back, span)
        return load

    def back(self, picks: Sequence[int]) -> set[int]:
        """The steps that read rows again."""
        return {s for s, k in enumerate(picks) if self.offers[s][k].returns}

    @functools.cached_property
    def spans(self) -> list[slice]:
        """For each step, the events at which its load depends on its kernel."""
        return [
            _span([*(o.own for o in offers), *(part for m in self.around(s) for part in m.values())])
            for s, offers in enumerate(self.offers)
        ]

    @functools.cached_property
    def own(self) -> list[Load]:
        """For each step, the bytes of each of its kernels over its span."""
        return [np.stack([o.own.over(span) for o in of]) for of, span in zip(self.offers, self.spans, strict=True)]

    @functools.cached_property
    def either(self) -> Mapping[int, npt.NDArray[np.bool_]]:
        """Which kernels of a step read rows again, of steps where some do and others do not."""
        found = {s: np.array([offer.returns for offer in offers]) for s, offers in enumerate(self.offers)}
        return {s: returns for s, returns in found.items() if returns.any() and not returns.all()}

    def around(self, s: int) -> Sequence[Mapping[int, Part]]:
        """Those of `more` that depend on the kernel of a step."""
        return self._around.get(s, ())

    def touched(self, step: int) -> Sequence[int]:
        """The steps whose exchanges bring something else after one of this step."""
        own, (starts, ends) = self.spans[step], self._ends
        found: list[int] = np.flatnonzero((starts < own.stop) & (own.start < ends)).tolist()
        return found if step in found else sorted([*found, step])

    @functools.cached_property
    def _around(self) -> Mapping[int, list[Mapping[int, Part]]]:
        found: dict[int, list[Mapping[int, Part]]] = {}
        for m in self.more:
            for s in m:
                found.setdefault(s, []).append(m)
        return found

    @functools.cached_property
    def _ends(self) -> tuple[Load, Load]:
        return np.array([span.start for span in self.spans]), np.array([span.stop for span in self.spans])


class _State:
    """The kernels that a search has come to, and the load that they make."""

    def __init__(self, loads: Loads, picks: Picks) -> None:
        self._loads, self.picks = loads, list(picks)
        self.load, self._back = loads.of(picks), loads.back(picks)

    def exchanged(self, s: int) -> Load:
        """The loads over the span of step s, with each of its kernels."""
        now, span, own = self.picks[s], self._loads.spans[s], self._loads.own[s]
        loads: Load = own + (self.load[span] - own[now])
        if s in self._loads.either:
            returns = self._loads.either[s]
            for k, m in enumerate(self._loads.around(s)):
                loads[returns != returns[now]] += self._more(s, k, frozenset(self._back & m.keys()))
        return loads

    def _more(self, s: int, k: int, back: frozenset[int]) -> Load | int:
        """What the k-th buffer around step s holds more, over its span, if that step reads rows again or no longer."""
        known, key = self._loads.known, (s, k, back)
        if key not in known:
            m, span = self._loads.around(s)[k], self._loads.spans[s]
            known[key] = _extra(m, back ^ {s}, span) - _extra(m, back, span)
        return known[key]

    def take(self, s: int, k: int) -> None:
        """Exchange the kernel of step s for its kernel k."""
        self.load[self._loads.spans[s]] = self.exchanged(s)[k]
        if self._loads.offers[s][k].returns != self._loads.offers[s][self.picks[s]].returns:
            self._back.symmetric_difference_update({s})
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
        cheapest: list[tuple[float, int, int, Saving]] = []
        number = itertools.count()  # of equals the first; savings are not compared
        stale: Sequence[int] = range(len(picks))
        while over:
            for s in stale:
                savings[s] = found = self._best(state, s, most) if s != fixed else None
                if found is not None:
                    heapq.heappush(cheapest, (found.price, s, next(number), found))
            while cheapest and cheapest[0][3] is not savings[cheapest[0][1]]:
                heapq.heappop(cheapest)
            if not cheapest:
                return None
            best = cheapest[0][3]
            state.take(best.step, best.kernel)
            over -= best.saved
            stale = self._loads.touched(best.step)
        return tuple(state.picks)

    def _best(self, state: _State, s: int, limit: int) -> Saving | None:
        """Of the exchanges of a step's kernel that bring the load nearer to the limit, the cheapest per byte."""
        now, offers = state.picks[s], self._offers[s]
        over = _over(state.load[self._loads.spans[s]], limit) if len(offers) > 1 else 0
        if not over:
            return None
        left: list[int] = np.maximum(state.exchanged(s) - limit, 0).sum(axis=1).tolist()
        saved = [(k, over - rest) for k, rest in enumerate(left) if rest < over and k != now]
        found = [Saving(s, k, (offers[k].cost - offers[now].cost) / nbytes, nbytes) for k, nbytes in saved]
        return min(found, key=lambda x: x.price, default=None)

    def improved(self, picks: Picks, limit: float) -> Picks:
        """Take cheaper kernels as long as the limit holds, also where another step makes room for it."""
        while True:
            picks = self._alone(picks, limit)
            better = sorted(gain for s in range(len(picks)) for gain in self._gains(s, picks[s]))
            then = self._both(picks, better, limit)
            if then is None:
                return picks
            picks = then

    def _alone(self, picks: Picks, limit: float) -> Picks:
        """Take cheaper kernels that fit, those that save most first. What did not fit is tried again where an exchange
        touches it.
        """
        state = _State(self._loads, picks)
        better = [gain for s in range(len(picks)) for gain in self._gains(s, picks[s])]
        heapq.heapify(better)
        refused: dict[int, list[_Gain]] = {}
        while better:
            gain = heapq.heappop(better)
            _, s, k, now = gain
            if state.picks[s] != now:
                continue
            if state.exchanged(s)[k].max(initial=0) > limit:
                refused.setdefault(s, []).append(gain)
                continue
            state.take(s, k)
            touched = self._loads.touched(s)
            for again in (*self._gains(s, k), *(gain for t in touched for gain in refused.pop(t, ()))):
                heapq.heappush(better, again)
        return tuple(state.picks)

    def _gains(self, s: int, now: int) -> list[_Gain]:
        """The kernels of a step that are cheaper than the one it has."""
        costs = [offer.cost - self._offers[s][now].cost for offer in self._offers[s]]
        return [(cost, s, k, now) for k, cost in enumerate(costs) if cost < -_EPSILON]

    def _both(self, picks: Picks, better: Sequence[_Gain], limit: float) -> Picks | None:
        """A cheaper kernel for which other steps make room, where that is cheaper together."""
        if sum(len(offers) - 1 for offers in self._offers) > MAX_EXCHANGES:
            return None
        for _, s, k, _ in better[:MAX_TRIES]:
            room = self.reduced(_with(picks, s, k), limit, s)
            if room is not None and self._cost(room) < self._cost(picks) - _EPSILON:
                return room
        return None

    def _cost(self, picks: Picks) -> float:
        return sum(self._offers[s][k].cost for s, k in enumerate(picks))


def _with(picks: Picks, s: int, k: int) -> Picks:
    return (*picks[:s], k, *picks[s + 1 :])


def _extra(of: Mapping[int, Part], back: Set[int], span: slice) -> Load | int:
    """What a buffer holds more where the steps in `back` read rows again. of: the same for each step alone."""
    loads = [part.over(span) for s, part in of.items() if s in back]
    most: Load | int = np.maximum.reduce(loads) if loads else 0
    return most


def _span(parts: Sequence[Part]) -> slice:
    """The events from the first of any part to the last."""
    used = [part for part in parts if len(part.load)]
    return slice(min(p.start for p in used), max(p.end for p in used)) if used else slice(0, 0)


def _over(load: Load, limit: int) -> int:
    """Bytes over the limit, summed over the events."""
    return int(np.maximum(load - limit, 0).sum())
