"""Local search for the kernels of a stretch: it exchanges one kernel at a time, to save memory or time.

An event is one execution of a step, or of a batch of its rows. The load is the number of bytes in use at each event. An
exchange changes it at the events of its own step, and of steps that read the same rows again. Only these events are
recomputed.
"""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mcugen.solve.candidates import Candidate
from mcugen.solve.plan.buffers import Piece

MAX_EXCHANGES = 64
"""Largest number of alternative kernels in a stretch for which exchanges of several kernels at once are tried."""
MAX_TRIES = 6
"""Number of cheaper kernels that do not fit for which exchanges of other steps are tried to make room."""
_EPSILON = 1e-6
_NO_LIMIT = 1 << 62
Load = npt.NDArray[np.int64]
_Gain = tuple[float, int, int, int]
"""Change of the cost by an exchange, its step, its new kernel, and the kernel that it replaces."""
Picks = tuple[int, ...]
"""Index of each step's kernel among its offers."""
_Exchange = tuple[int, int, int]
"""Cache key: a step, its current kernel, and a bit set of the rereading steps that affect the same buffers."""


@dataclass(frozen=True, eq=False)
class Part:
    """Bytes that one buffer has in use at each event from `start` on; zero before `start` and after the last entry."""

    start: int
    load: Load

    @classmethod
    def of(cls, load: Load) -> Part:
        """Bytes in use at each event, without the zeros at both ends."""
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
        """This part minus another."""
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
class KernelOffer:
    """A kernel for a step of a stretch. own: its working memory per event. returns: whether it reads rows of earlier
    events again.
    """

    candidate: Candidate
    cost: float
    own: Part
    returns: bool


@dataclass(frozen=True, eq=False)
class Loads:
    """Bytes in use at each event of a stretch, for any choice of kernels. Fields are as in `Stretch`."""

    offers: Sequence[Sequence[KernelOffer]]
    rows: Load
    more: Sequence[Mapping[int, Part]]
    _touched: dict[int, Sequence[int]] = field(default_factory=dict)

    def of(self, picks: Sequence[int]) -> Load:
        """Bytes in use at each event with these kernels."""
        load = self.rows.copy()
        for s, k in enumerate(picks):
            self._add(load, s, k)
        self._read_again(load, self.back(picks))
        return load

    def peaks(self) -> Iterator[tuple[int, Picks]]:
        """Yields the peak in bytes and the picks of every combination of kernels. Common prefixes are summed once."""
        again: dict[int, Load] = {}
        before: Picks = ()
        loads = [self.rows]
        for picks in itertools.product(*(range(len(offers)) for offers in self.offers)):
            alike = next((s for s, (k, last) in enumerate(zip(picks, before, strict=False)) if k != last), len(before))
            del loads[alike + 1 :]
            for s in range(alike, len(picks)):
                loads.append(loads[-1].copy())
                self._add(loads[-1], s, picks[s])
            back, before = self.back(picks), picks
            if back not in again:
                again[back] = np.zeros_like(self.rows)
                self._read_again(again[back], back)
            yield int((loads[-1] + again[back]).max(initial=0)), picks

    def _add(self, load: Load, s: int, k: int) -> None:
        own = self.offers[s][k].own
        load[own.start : own.end] += own.load

    def _read_again(self, load: Load, back: int) -> None:
        """Add the bytes that buffers hold longer because the steps in the bit set `back` read rows again."""
        for m in self.more:
            span = _span([part for s, part in m.items() if back >> s & 1])
            load[span] += _extra(m, back, span)

    def back(self, picks: Sequence[int]) -> int:
        """Bit set of the steps whose picked kernels read rows again."""
        return sum(1 << s for s, k in enumerate(picks) if self.offers[s][k].returns)

    @functools.cached_property
    def spans(self) -> list[slice]:
        """For each step, the events at which the bytes in use depend on the kernel chosen for it."""
        return [
            _span([*(o.own for o in offers), *(part for m in self.around(s) for part in m.values())])
            for s, offers in enumerate(self.offers)
        ]

    @functools.cached_property
    def own(self) -> list[Load]:
        """For each step, the working memory of each of its kernels at the events of `spans`: [kernels, events]."""
        return [np.stack([o.own.over(span) for o in of]) for of, span in zip(self.offers, self.spans, strict=True)]

    @functools.cached_property
    def either(self) -> Mapping[int, npt.NDArray[np.bool_]]:
        """Step -> for each kernel, whether it reads rows again. Steps whose kernels all agree are left out."""
        found = {s: np.array([offer.returns for offer in offers]) for s, offers in enumerate(self.offers)}
        return {s: returns for s, returns in found.items() if returns.any() and not returns.all()}

    def around(self, s: int) -> Sequence[Mapping[int, Part]]:
        """Entries of `more`: the buffers that grow if the kernel of step s reads rows again."""
        return self._around.get(s, ())

    @functools.cached_property
    def kin(self) -> Sequence[int]:
        """Per step, a bit set of the steps that make the same buffers grow if they read rows again."""
        return [sum(1 << s for s in {s for m in self.around(step) for s in m}) for step in range(len(self.offers))]

    @functools.cached_property
    def open(self) -> Sequence[int]:
        """The steps that have more than one kernel."""
        return [s for s, offers in enumerate(self.offers) if len(offers) > 1]

    @functools.cached_property
    def exchanges(self) -> tuple[list[tuple[int, int]], Mapping[int, slice]]:
        """All pairs (step, kernel) of steps with several kernels, and the slice of these pairs for each step."""
        every = [(s, k) for s in self.open for k in range(len(self.offers[s]))]
        ends = list(itertools.accumulate(len(self.offers[s]) for s in self.open))
        return every, {s: slice(end - len(self.offers[s]), end) for s, end in zip(self.open, ends, strict=True)}

    @functools.cached_property
    def cells(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The concatenated event numbers of all `exchanges`, and the index at which the events of each exchange
        begin.
        """
        of = [np.arange(self.spans[s].start, self.spans[s].stop) for s, _ in self.exchanges[0]]
        return np.concatenate([*of, np.zeros(0, np.int64)]), np.cumsum([0, *map(len, of)])

    def touched(self, step: int) -> Sequence[int]:
        """Indices in `open` of the steps whose exchanges must be recomputed after an exchange of this step."""
        if step not in self._touched:
            first, end = self._ends
            own = self.spans[step]
            self._touched[step] = [int(at) for at in np.flatnonzero((first < own.stop) & (own.start < end))]
        return self._touched[step]

    @functools.cached_property
    def _ends(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Starts and ends (exclusive) of the spans of open steps."""
        spans = [self.spans[s] for s in self.open]
        return np.array([s.start for s in spans], np.int64), np.array([s.stop for s in spans], np.int64)

    @functools.cached_property
    def _around(self) -> Mapping[int, list[Mapping[int, Part]]]:
        found: dict[int, list[Mapping[int, Part]]] = {}
        for m in self.more:
            for s in m:
                found.setdefault(s, []).append(m)
        return found


class _State:
    """The current kernels of a search, and the bytes by which they exceed the limit at each event.

    known: cache of the results of `_counted`.
    """

    def __init__(self, loads: Loads, picks: Sequence[int], limit: int, known: dict[_Exchange, Load]) -> None:
        self._loads, self._known, self.picks, self.limit = loads, known, list(picks), limit
        self.excess, self._back = loads.of(picks) - limit, loads.back(picks)
        self._added: Load | None = None
        self._saved, self._stale = np.zeros(len(loads.exchanges[0]), np.int64), range(len(loads.open))

    def copy(self) -> _State:
        """An independent copy."""
        made = copy.copy(self)
        made.picks, made.excess = list(self.picks), self.excess.copy()
        made._added, made._saved = self.added.copy(), self._saved.copy()
        return made

    @property
    def added(self) -> Load:
        """Change of the bytes in use by each of `Loads.exchanges`, at the events in `Loads.cells`."""
        if self._added is None:
            self._added = np.zeros(len(self._loads.cells[0]), np.int64)
            self._count_again(self._added, self._loads.open)
        return self._added

    def saved(self) -> Load:
        """Bytes by which each of `Loads.exchanges` reduces the excess over the limit, summed over all events."""
        if self._stale:
            _, places = self._loads.exchanges
            events, starts = self._loads.cells
            first, last = (places[self._loads.open[at]] for at in (self._stale[0], self._stale[-1]))
            of, cells = slice(first.start, last.stop), slice(starts[first.start], starts[last.stop])
            then = self.excess[events[cells]]
            then += self.added[cells]
            np.maximum(then, 0, out=then)
            over = self._over_before()
            begins, lasts = events[starts[of]], events[starts[first.start + 1 : last.stop + 1] - 1]
            self._saved[of] = over[lasts + 1] - over[begins] - np.add.reduceat(then, starts[of] - cells.start)
            self._stale = range(0)
        return self._saved

    def _over_before(self) -> Load:
        """Running sum of the excess over the limit before each event, and at the end."""
        found = np.zeros(len(self.excess) + 1, np.int64)
        np.cumsum(np.maximum(self.excess, 0), out=found[1:])
        return found

    def fits(self, s: int, k: int) -> bool:
        """Whether the limit holds over the span of step s with its kernel k."""
        found: Load = self.excess[self._loads.spans[s]] + self._brought(s)[k]
        return not found.max(initial=-self.limit) > 0

    def take(self, s: int, k: int) -> None:
        """Exchange the kernel of step s for its kernel k."""
        self.excess[self._loads.spans[s]] += self._brought(s)[k]
        before, self.picks[s] = self.picks[s], k
        turns = self._loads.offers[s][k].returns != self._loads.offers[s][before].returns
        if turns:
            self._back ^= 1 << s
        touched = self._loads.touched(s)
        if self._added is not None:
            near = (self._loads.open[at] for at in touched) if turns else ()
            self._count_again(self._added, (s, *(t for t in near if t != s and self._loads.kin[t] >> s & 1)))
        ends = [*touched[:1], *touched[-1:], *self._stale[:1], *self._stale[-1:]]
        self._stale = range(min(ends), max(ends) + 1)

    def _count_again(self, added: Load, steps: Sequence[int]) -> None:
        """Recompute the changes in `added` for all exchanges of these steps."""
        (_, places), (_, starts) = self._loads.exchanges, self._loads.cells
        for s in steps:
            added[starts[places[s].start] : starts[places[s].stop]] = self._brought(s).ravel()

    def _brought(self, s: int) -> Load:
        """Change of the bytes in use by each kernel of step s, at the events of its span: [kernels, events]."""
        key = s, self.picks[s], self._back & self._loads.kin[s]
        if key not in self._known:
            self._known[key] = self._counted(s)
        return self._known[key]

    def _counted(self, s: int) -> Load:
        now, span, own, back = self.picks[s], self._loads.spans[s], self._loads.own[s], self._back
        added: Load = own - own[now]
        if s in self._loads.either:
            returns = self._loads.either[s]
            for m in self._loads.around(s):
                added[returns != returns[now]] += _extra(m, back ^ 1 << s, span) - _extra(m, back, span)
        return added


class Search:
    """Search for better kernels of a stretch, by exchanges."""

    def __init__(self, loads: Loads) -> None:
        self._loads, self._offers = loads, loads.offers
        self._costs = [[offer.cost for offer in offers] for offers in loads.offers]
        self._prices = np.array([self._costs[s][k] for s, k in loads.exchanges[0]], np.float64)
        self._known: dict[_Exchange, Load] = {}

    def reduced(self, picks: Picks, limit: float) -> Picks | None:
        """Exchange kernels one by one until the limit holds, each time at the least cost per byte of excess saved.

        None if the limit cannot be reached.
        """
        return self._reduced(self._state(picks, limit))

    def _state(self, picks: Picks, limit: float) -> _State:
        return _State(self._loads, picks, math.floor(min(limit, _NO_LIMIT)), self._known)

    def _reduced(self, state: _State, fixed: int = -1) -> Picks | None:
        """`reduced` from a given state, which it changes. The step `fixed` keeps its kernel.

        The next exchange is the one with the least cost per byte of excess saved; of equals, the first.
        """
        every, places = self._loads.exchanges
        more = self._prices - np.array([self._costs[s][state.picks[s]] for s, _ in every])
        while state.excess.max(initial=0) > 0:
            saved = state.saved()
            saved[places.get(fixed, slice(0))] = 0
            useful = np.flatnonzero(saved > 0)
            if not len(useful):
                return None
            step, kernel = every[useful[np.argmin(more[useful] / saved[useful])]]
            state.take(step, kernel)
            more[places[step]] = self._prices[places[step]] - self._costs[step][kernel]
        return tuple(state.picks)

    def improved(self, picks: Picks, limit: float) -> Picks:
        """Take cheaper kernels while the limit holds, also if another step must be exchanged to make room."""
        while True:
            picks = self._alone(picks, limit)
            better = sorted(gain for s in self._loads.open for gain in self._gains(s, picks[s]))
            then = self._both(picks, better, limit)
            if then is None:
                return picks
            picks = then

    def _alone(self, picks: Picks, limit: float) -> Picks:
        """Take cheaper kernels that fit, the greatest savings first. A kernel that did not fit is tried again after an
        exchange that affects it.
        """
        state = self._state(picks, limit)
        better = [gain for s in self._loads.open for gain in self._gains(s, picks[s])]
        heapq.heapify(better)
        refused: dict[int, list[_Gain]] = {}
        while better:
            gain = heapq.heappop(better)
            _, s, k, now = gain
            if state.picks[s] != now:
                continue
            if not state.fits(s, k):
                refused.setdefault(s, []).append(gain)
                continue
            state.take(s, k)
            touched = [self._loads.open[at] for at in self._loads.touched(s)]
            for again in (*self._gains(s, k), *(gain for t in touched for gain in refused.pop(t, ()))):
                heapq.heappush(better, again)
        return tuple(state.picks)

    def _gains(self, s: int, now: int) -> list[_Gain]:
        """The kernels of a step that are cheaper than its current one."""
        own = self._costs[s][now]
        return [(cost - own, s, k, now) for k, cost in enumerate(self._costs[s]) if cost - own < -_EPSILON]

    def _both(self, picks: Picks, better: Sequence[_Gain], limit: float) -> Picks | None:
        """Picks with one cheaper kernel, after exchanges of other steps that make room for it. None if no such picks
        have a lower total cost.
        """
        if sum(len(offers) - 1 for offers in self._offers) > MAX_EXCHANGES:
            return None
        start = self._state(picks, limit)
        for _, s, k, _ in better[:MAX_TRIES]:
            state = start.copy()
            state.take(s, k)
            room = self._reduced(state, s)
            if room is not None and self._cost(room) < self._cost(picks) - _EPSILON:
                return room
        return None

    def _cost(self, picks: Picks) -> float:
        return sum(self._costs[s][k] for s, k in enumerate(picks))


def _extra(of: Mapping[int, Part], back: int, span: slice) -> Load | int:
    """Extra bytes of a buffer because the steps in the bit set `back` read rows again. of: step -> extra bytes due to
    this step alone.
    """
    loads = [part.over(span) for s, part in of.items() if back >> s & 1]
    most: Load | int = np.maximum.reduce(loads) if loads else 0
    return most


def _span(parts: Sequence[Part]) -> slice:
    """Events from the first of any part to the last; one event if all parts are empty."""
    used = [part for part in parts if len(part.load)]
    return slice(min(p.start for p in used), max(p.end for p in used)) if used else slice(0, 1)
