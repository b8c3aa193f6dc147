"""What a stretch of the network costs within a limit of memory: its kernels are chosen together.

A stretch runs whole, step by step, or row by row. Its order of events is the same for all kernels that walk rows alike,
so the bytes in use at each event are a sum: the rows that are alive, and for each step the memory of its kernel. The
rows of a tensor are alive longer where one of its readers comes back to rows that it has read (`Step.reads`), as
kernels do that keep no converted rows. Which tensors share memory is taken from the kernels that need no rows again, so
sums may be a few bytes off; plans are made of the schedule itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from mcugen.graph import Graph
from mcugen.kernel import Form
from mcugen.plan import Buffer
from mcugen.schedule import Schedule, Step, build
from mcugen.schedule.cuts import part_of
from mcugen.schedule.steps import Choice, batch_of, can_run_by_rows
from mcugen.schedule.storage import busy_spans, times_of
from mcugen.select.candidates import Candidate, Candidates

EVENT_COST = 60.0
"""Cost of one event: table look-up plus call."""
MAX_SETS = 1000
"""Sets of kernels of a stretch up to which all of them are tried."""
MAX_EXCHANGES = 64
"""Other kernels in a stretch up to which exchanges of several kernels at once are tried."""
MAX_TRIES = 6
"""Of those, how many that save most are tried."""
_EPSILON = 1e-6
_Load = npt.NDArray[np.int64]
Found = tuple[float, int, tuple[int, ...]]
"""Cost, most bytes in use at once, and for each step the number of its kernel."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A kernel for a step of a stretch. load: bytes of its own at each event. returns: whether it reads rows again."""

    candidate: Candidate
    cost: float
    load: _Load
    returns: bool


@dataclass(eq=False)
class Stretch:
    """The choices of a stretch. Units: bytes.

    offers: for each step, the cheapest first. rows: what the tensors hold at each event, at the least; more: for each
    buffer, step -> what it holds beyond that where the step reads rows again. events: their number.
    """

    offers: list[list[Offer]]
    rows: _Load
    more: list[dict[int, _Load]]
    events: int
    inner: int = 0
    _last: Found | None = field(default=None, init=False)

    @property
    def least_cost(self) -> float:
        """The cost with the cheapest kernels."""
        return sum(offers[0].cost for offers in self.offers) + EVENT_COST * self.events

    def least_bytes(self) -> int:
        """No choice of kernels needs less."""
        own = [np.minimum.reduce([o.load for o in offers]) for offers in self.offers]
        return int((self.rows + sum(own)).max(initial=0))

    def within(self, limit: float) -> Found | None:
        """The cheapest choice that needs at most `limit` bytes; None where there is none.

        Of few choices all are tried. Of many, a local search goes on from the last answer: limits are asked for in
        descending order, and what it finds may not be the cheapest.
        """
        if math.prod(len(offers) for offers in self.offers) <= MAX_SETS:
            return next((found for found in self._every if found[1] <= limit), None)
        found = self._reduced(self._last[2] if self._last else (0,) * len(self.offers), limit)
        lean = self._reduced(self._leanest(), limit) if found is None or not self._last else None
        both = [self._improved(picks, limit) for picks in (found, lean) if picks is not None]
        self._last = min(both, key=lambda f: (f[0], f[1]), default=self._last)
        return self._last if both else None

    @functools.cached_property
    def _every(self) -> list[Found]:
        """The choices that no other one beats in cost and in memory, the cheapest first."""
        sets = product(*(range(len(offers)) for offers in self.offers))
        kept: list[Found] = []
        for found in sorted((self._cost(picks), int(self._load(picks).max(initial=0)), picks) for picks in sets):
            if not kept or found[1] < kept[-1][1]:
                kept.append(found)
        return kept

    def picks(self, found: Found) -> list[Candidate]:
        """The candidates of an answer."""
        return [offers[k].candidate for offers, k in zip(self.offers, found[2], strict=True)]

    def _leanest(self) -> tuple[int, ...]:
        return tuple(min(range(len(o)), key=lambda k: (int(o[k].load.max(initial=0)), o[k].cost)) for o in self.offers)

    def _load(self, picks: Sequence[int]) -> _Load:
        total = self.rows + sum(self.offers[s][k].load for s, k in enumerate(picks))
        for extra in self.more:
            back = [load for s, load in extra.items() if self.offers[s][picks[s]].returns]
            if back:
                total = total + np.maximum.reduce(back)
        return total

    def _cost(self, picks: Sequence[int]) -> float:
        return sum(self.offers[s][k].cost for s, k in enumerate(picks)) + EVENT_COST * self.events

    def _others(self, picks: tuple[int, ...], fixed: int = -1) -> Iterator[tuple[float, tuple[int, ...], _Load]]:
        """(what it costs more, picks, their load) of all that differ in one kernel, but that of step `fixed`."""
        load = self._load(picks)
        for s, offers in enumerate(self.offers):
            now = offers[picks[s]]
            for k, offer in enumerate(offers):
                if k == picks[s] or s == fixed:
                    continue
                other = (*picks[:s], k, *picks[s + 1 :])
                same = offer.returns == now.returns
                yield offer.cost - now.cost, other, load + (offer.load - now.load) if same else self._load(other)

    def _reduced(self, picks: tuple[int, ...], limit: float, fixed: int = -1) -> tuple[int, ...] | None:
        """Change one kernel after the other, at the least cost for the bytes over the limit that it saves."""
        over = _over(self._load(picks), limit)
        while over:
            best: tuple[float, float, tuple[int, ...]] | None = None
            for more, other, load in self._others(picks, fixed):
                left = _over(load, limit)
                if left < over and (best is None or more / (over - left) < best[0]):
                    best = (more / (over - left), left, other)
            if best is None:
                return None
            over, picks = best[1], best[2]
        return picks

    def _improved(self, picks: tuple[int, ...], limit: float) -> Found:
        """Take cheaper kernels as long as the limit holds, also where another step makes room for it."""
        while True:
            better = [found for found in self._others(picks) if found[0] < -_EPSILON]
            fitting = [(more, other) for more, other, load in better if load.max(initial=0) <= limit]
            if fitting:
                picks = min(fitting)[1]
                continue
            exchanged = self._exchanged(picks, [(more, other) for more, other, _ in better], limit)
            if exchanged is None:
                return self._cost(picks), int(self._load(picks).max(initial=0)), picks
            picks = exchanged

    def _exchanged(
        self, picks: tuple[int, ...], better: Sequence[tuple[float, tuple[int, ...]]], limit: float
    ) -> tuple[int, ...] | None:
        if sum(len(offers) - 1 for offers in self.offers) > MAX_EXCHANGES:
            return None
        now = self._cost(picks)
        for _, other in sorted(better)[:MAX_TRIES]:
            changed = next(s for s in range(len(picks)) if picks[s] != other[s])
            room = self._reduced(other, limit, changed)
            if room is not None and self._cost(room) < now - _EPSILON:
                return room
        return None


def _over(load: _Load, limit: float) -> float:
    """Bytes over the limit, summed over the events."""
    return float(np.maximum(load - limit, 0).sum())


@dataclass(frozen=True, eq=False)
class Network:
    """A graph with the candidates of its nodes, and what stays in memory: see `schedule.build`."""

    graph: Graph
    candidates: tuple[Candidates, ...]
    keep_input: bool
    pushed: str | None
    results: frozenset[str]
    _known: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)

    def working(self, c: Candidate, step: Step) -> tuple[int, int]:
        """Bytes of a step's kernel that are in use during its events only, and between them as well."""
        key = (id(c), step.by_rows)
        if key not in self._known:
            own = replace(step, choice=c.choice)
            scratch, ring = own.scratch_bytes, own.ring_bytes
            stays = own.ring_stays(streams=False)
            self._known[key] = (scratch, ring) if stays else (scratch + ring, 0)
        return self._known[key]


def stretch(net: Network, steps: range, *, by_rows: bool, is_first: bool, is_last: bool) -> Stretch:
    """The stretch of these steps. is_first, is_last: whether it begins or ends with the network."""
    walks = {listed[0].choice.node.name: _walking(listed, by_rows) for listed in net.candidates}
    early = _built(net, steps, {name: _first(found, returns=False) for name, found in walks.items()}, by_rows)
    loads, times = _loads(early), times_of(early.steps, early.trace)
    rows = sum(loads.values(), np.zeros(len(early.trace), np.int64))
    offers = [_offers(net, s, walks[s.choice.node.name], times[s.index], len(early.trace)) for s in early.steps]
    more = _more(net, steps, walks, early, loads) if by_rows else []
    ends = (() if is_first else early.graph.inputs) + (() if is_last else early.graph.outputs)
    left_out = {early.buffer_name[name] for name in ends if name in early.buffer_name}
    made = Stretch(offers, rows, more, len(early.trace))
    kept = rows - sum(load for name, load in loads.items() if name in left_out)
    made.inner = Stretch(offers, kept, [], 0).least_bytes()
    return made


def _more(
    net: Network,
    steps: range,
    walks: Mapping[str, Sequence[Candidate]],
    early: Schedule,
    loads: Mapping[str, _Load],
) -> list[dict[int, _Load]]:
    """For each buffer, what steps add to it that read rows again: of one after the other, since they share buffers."""
    found: dict[str, dict[int, _Load]] = {}
    first = {name: _first(listed, returns=False) for name, listed in walks.items()}
    for step in early.steps:
        name = step.choice.node.name
        other = _first(walks[name], returns=True)
        if _returns(other) == _returns(first[name]):
            continue
        late = _loads(_built(net, steps, {**first, name: other}, by_rows=True))
        for buffer, load in loads.items():
            if buffer in late and (late[buffer] != load).any():
                found.setdefault(buffer, {})[step.index] = late[buffer] - load
    return list(found.values())


def _walking(listed: Candidates, by_rows: bool) -> list[Candidate]:
    """The candidates that walk rows as the fastest does."""
    if not by_rows:
        return [c for c in listed if c.choice.kernel.keeps]
    able = [c for c in listed if can_run_by_rows(c.choice)] or list(listed)
    walk = _walk(min(able, key=lambda c: c.rows_cost))
    return [c for c in able if _walk(c) == walk]


def _walk(c: Candidate) -> tuple[bool, int]:
    return c.choice.kernel.form is Form.ACCUMULATE, batch_of(c.choice)


def _first(found: Sequence[Candidate], *, returns: bool) -> Choice:
    return next((c.choice for c in found if _returns(c.choice) == returns), found[0].choice)


def _returns(choice: Choice) -> bool:
    """Whether the kernel, by rows, reads rows again that it has read."""
    kernel = choice.kernel
    return kernel.form is Form.WINDOW or (kernel.form is Form.RING and not kernel.keeps)


def _built(net: Network, steps: range, chosen: Mapping[str, Choice], by_rows: bool) -> Schedule:
    choices = [chosen[listed[0].choice.node.name] for listed in net.candidates]
    sub, inside = part_of(net.graph, choices, steps)
    return build(
        sub,
        inside,
        [range(len(steps))] if by_rows else [],
        keep_input=(net.keep_input and steps.start == 0) or bool(net.results & set(sub.inputs)),
        pushed=net.pushed if net.pushed in sub.inputs else None,
    )


def _loads(made: Schedule) -> dict[str, _Load]:
    """Bytes that each buffer of tensors has in use at each event."""
    return {name: _load_of([buffer.to_plan()], len(made.trace)) for name, buffer in made.row_buffers.items()}


def _load_of(buffers: Sequence[Buffer], length: int) -> _Load:
    """Bytes that the buffers have in use at each event."""
    load = np.zeros(length, np.int64)
    for piece in (piece for buffer in buffers for piece in buffer.pieces):
        load[piece.first : piece.last + 1] += piece.nbytes
    return load


def _offers(net: Network, step: Step, listed: Sequence[Candidate], times: Sequence[int], length: int) -> list[Offer]:
    """The kernels of a step that no other one beats in cost, in memory and in the rows that it needs."""
    found: list[Offer] = []
    busy, alive = np.zeros((2, length), np.int64)
    alive[times[0] : times[-1] + 1] = 1
    for first, last in busy_spans(step, times):
        busy[first : last + 1] = 1
    for c in sorted(listed, key=lambda c: c.rows_cost if step.by_rows else c.cost):
        passing, staying = net.working(c, step)
        load = passing * busy + staying * alive
        returns = step.by_rows and _returns(c.choice)
        if not any((o.load <= load).all() and o.returns <= returns for o in found):
            found.append(Offer(c, c.rows_cost if step.by_rows else c.cost, load, returns))
    return found
