# SPDX-License-Identifier: Apache-2.0
"""Placement of many shaped buffers: windows of time, one after the other.

A search of all of them at once seldom ends. Few live on from one window to the next, and those lie where the window
before put them; the others of a window are searched for as those of a small network are. Windows that are alike, as
repeated layers make them, are searched once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mcugen.solve.plan.buffers import Buffer, height
from mcugen.solve.plan.domains import Forbidden, Problem, grain_of

_SIZE = 12
"""Buffers, at the least, that begin in a window; it ends where the fewest live on, before twice as many have begun."""

_PLACES = 16
"""Offsets, about, that are tried for the largest buffer that begins in a window and lives on."""

_NODES = 300
"""Placements tried in each search of a window."""

_LEAST_NODES, _WINDOW_NODES, _MOST_NODES = 20_000, 500, 60_000
"""Placements tried in all searches together: so many, more for each window, and at the most."""

_OFFSETS, _MEMBERS = 20_000, 40
"""With so many offsets, or buffers in a window, a placement takes twice as long, and half as many are tried."""

_SHARE = 4
"""A capacity may take one in so many of the placements that are left."""

_Offsets = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Kind:
    """Buffers that live at some steps, of one window or of several that are alike.

    entering, leaving: numbers of those that live in the window before, and in the next one.
    largest: the most bytes that a capacity may have.
    """

    buffers: Sequence[Buffer]
    near: Forbidden
    entering: Sequence[int]
    leaving: Sequence[int]
    grain: int
    largest: int

    @cached_property
    def problem(self) -> Problem:
        """Made when it is searched for the first time, as it takes memory."""
        return Problem.of(self.buffers, self.near, self.largest, self.grain)

    def tries(self, capacity: int) -> Iterator[Mapping[int, int]]:
        """What to ask of the buffers that leave, as several places may do, and not all lead on: the ends first."""
        begun = [k for k in self.leaving if k not in self.entering]
        if not begun:
            yield {}
            return
        one = max(begun, key=lambda k: self.buffers[k].nbytes)
        step = max(self.buffers[one].align, self.grain)
        top = (capacity - self.buffers[one].nbytes) // step * step
        between = dict.fromkeys(top * k // _PLACES // step * step for k in range(1, _PLACES))
        yield from ({one: at} for at in dict.fromkeys((0, top)))
        yield {}
        yield from ({one: at} for at in between if at not in (0, top))


@dataclass(frozen=True, eq=False)
class _Window:
    """The numbers of its buffers among all of them, in the order of its kind."""

    members: Sequence[int]
    kind: _Kind


def placed(buffers: Sequence[Buffer], forbidden: Forbidden, best: Sequence[int], floor: int) -> list[int]:
    """Offsets no worse than `best`: within the floor, which no buffer is larger than, else within capacities halfway
    between what failed and what was found.
    """
    grain = grain_of(buffers, forbidden)
    windows = _windows(buffers, forbidden, grain, height(buffers, best))
    found, low, capacity, left = list(best), floor, floor, _nodes(windows)
    while low < height(buffers, found) and left > 0:
        walk = _Walk(windows, capacity, -(-left // _SHARE))
        fitting = walk.offsets(len(buffers))
        left -= walk.tried
        if fitting is None:
            low = capacity + grain
        else:
            found = fitting
        capacity = max((low + height(buffers, found) - grain) // 2, low)
    return found


def _nodes(windows: Sequence[_Window]) -> int:
    """How many placements may be tried: each takes the longer the more buffers and offsets there are."""
    kind = windows[0].kind
    members = sum(len(w.members) for w in windows) // len(windows)
    slower = (1 + kind.largest // kind.grain // _OFFSETS) * (1 + members // _MEMBERS)
    return min(_LEAST_NODES + _WINDOW_NODES * len(windows), _MOST_NODES) // slower


class _Walk:
    """Depth first through the windows, within a capacity. most, tried: placements."""

    def __init__(self, windows: Sequence[_Window], capacity: int, most: int) -> None:
        self._windows, self._capacity, self._most, self.tried = windows, capacity, most, 0
        self._known: dict[object, tuple[list[_Offsets], Iterator[_Offsets]]] = {}

    def offsets(self, count: int) -> list[int] | None:
        """Offsets of all buffers; None where the ways that were tried lead nowhere."""
        offset = [-1] * count
        entering: list[_Offsets] = [()]
        stack = [self._ways(self._windows[0].kind, ())]
        dead: set[tuple[int, _Offsets]] = set()
        while stack:
            at = len(stack) - 1
            way = next(stack[at], None)
            if way is None:
                dead.add((at, entering.pop()))
                stack.pop()
                continue
            for i, start in zip(self._windows[at].members, way, strict=True):
                offset[i] = start
            if at + 1 == len(self._windows):
                return offset
            after = self._windows[at + 1]
            given = tuple(offset[after.members[k]] for k in after.kind.entering)
            if (at + 1, given) not in dead:
                stack.append(self._ways(after.kind, given))
                entering.append(given)
        return None

    def _ways(self, kind: _Kind, given: _Offsets) -> Iterator[_Offsets]:
        """Offsets of a window's members where those that enter lie there; found when they are asked for, once."""
        key = kind, given
        if key not in self._known:
            self._known[key] = [], self._searched(kind, given)
        known, more = self._known[key]
        k = 0
        while True:
            if k == len(known):
                way = next(more, None)
                if way is None:
                    return
                known.append(way)
            yield known[k]
            k += 1

    def _searched(self, kind: _Kind, given: _Offsets) -> Iterator[_Offsets]:
        """One way for each place of those that leave."""
        fixed, seen = dict(zip(kind.entering, given, strict=True)), set()
        for asked in kind.tries(self._capacity):
            if self.tried >= self._most:
                return
            outcome = kind.problem.search(self._capacity, min(_NODES, self._most - self.tried), {**fixed, **asked})
            self.tried += max(outcome.nodes, 1)
            if outcome.offset is not None:
                ends = tuple(outcome.offset[k] for k in kind.leaving)
                if ends not in seen:
                    seen.add(ends)
                    yield tuple(outcome.offset)


def _windows(buffers: Sequence[Buffer], forbidden: Forbidden, grain: int, largest: int) -> list[_Window]:
    order = sorted(range(len(buffers)), key=lambda i: buffers[i].first)
    starts = [*_starts([buffers[i] for i in order]), len(order)]
    windows: list[_Window] = []
    kinds: dict[object, _Kind] = {}
    living: list[int] = []
    for first, end in pairwise(starts):
        members = [*living, *order[first:end]]
        after = [i for i in members if end < len(order) and buffers[i].last >= buffers[order[end]].first]
        place = {i: k for k, i in enumerate(members)}
        near = [{k: forbidden[i][j] for j, k in place.items() if j in forbidden[i]} for i in members]
        mine, entering, leaving = [buffers[i] for i in members], [place[i] for i in living], [place[i] for i in after]
        sizes = tuple((b.nbytes, b.align) for b in mine)
        distances = tuple(tuple((j, tuple(found)) for j, found in row.items()) for row in near)
        kind = _Kind(mine, near, entering, leaving, grain, largest)
        alike = sizes, distances, tuple(entering), tuple(leaving)
        windows.append(_Window(members, kinds.setdefault(alike, kind)))
        living = after
    return windows


def _starts(ordered: Sequence[Buffer]) -> list[int]:
    """The first buffer of each window, of buffers in the order in which they begin."""
    living: list[int] = []
    crossing: list[int] = []
    for b in ordered:
        while living and living[0] < b.first:
            heapq.heappop(living)
        crossing.append(len(living))
        heapq.heappush(living, b.last)
    starts = [0]
    while starts[-1] + 2 * _SIZE < len(ordered):
        starts.append(min(range(starts[-1] + _SIZE, starts[-1] + 2 * _SIZE), key=crossing.__getitem__))
    return starts
