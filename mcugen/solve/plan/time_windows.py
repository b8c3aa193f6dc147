# SPDX-License-Identifier: Apache-2.0
"""Placement of many shaped buffers: windows of time, one after the other.

A search of all buffers at once seldom ends. So the steps are divided into windows. The few buffers that are live in two
windows keep the offset from the earlier one. The other buffers of a window are placed as in a small network. Windows
with equal buffers, due to repeated layers, are searched once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mcugen.solve.plan.buffers import Buffer, height
from mcugen.solve.plan.domains import DomainProblem, Forbidden, grain_of

_SIZE = 12
"""Minimum buffers per window. A window ends at the time with the fewest live buffers, before twice as many have
started.
"""

_PLACES = 16
"""Approximate number of offsets tried for the largest buffer that starts in a window and is live in the next."""

_NODES = 300
"""Placements tried in each search of a window."""

_LEAST_NODES, _WINDOW_NODES, _MOST_NODES = 20_000, 500, 60_000
"""Limit of placements in all searches together: a base, an addition per window, and a maximum."""

_OFFSETS, _MEMBERS = 20_000, 40
"""Each further _OFFSETS offsets, and each further _MEMBERS buffers in a window, make a placement slower. Fewer
placements are tried then.
"""

_SHARE = 4
"""Divisor of the remaining placements that one capacity may use."""

_Offsets = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Kind:
    """Buffers of one window, or of several windows with equal buffers.

    near: forbidden differences of offsets. entering, leaving: indices of the buffers that are also live in the previous
    and in the next window. grain: unit of offsets in bytes. largest: the greatest capacity in bytes.
    """

    buffers: Sequence[Buffer]
    near: Forbidden
    entering: Sequence[int]
    leaving: Sequence[int]
    grain: int
    largest: int

    @cached_property
    def problem(self) -> DomainProblem:
        """The problem of the window; created on its first search, as it takes memory."""
        return DomainProblem.of(self.buffers, self.near, self.largest, self.grain)

    def tries(self, capacity: int) -> Iterator[Mapping[int, int]]:
        """Requirements to try, as {buffer: offset}, for the largest buffer that starts here and is live in the next.

        Both ends of the arena come first, then no requirement, then offsets in between. Several are needed: a solution
        of this window may leave the next window without a solution.
        """
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
    """A window. members: indices of its buffers in the network, in the order of `kind.buffers`."""

    members: Sequence[int]
    kind: _Kind


def placed(buffers: Sequence[Buffer], forbidden: Forbidden, best: Sequence[int], floor: int) -> list[int]:
    """Offsets no worse than `best`, found by bisection of the capacity.

    floor: the first capacity to try, in bytes; no buffer is larger. Each further capacity is halfway between the
    largest that failed and the height of the best offsets.
    """
    grain = grain_of(buffers, forbidden)
    windows = _windows(buffers, forbidden, grain, height(buffers, best))
    found, low, capacity, left = list(best), floor, floor, _nodes(windows)
    while low < height(buffers, found) and left > 0:
        search = _DepthFirst(windows, capacity, -(-left // _SHARE))
        fitting = search.offsets(len(buffers))
        left -= search.tried
        if fitting is None:
            low = capacity + grain
        else:
            found = fitting
        capacity = max((low + height(buffers, found) - grain) // 2, low)
    return found


def _nodes(windows: Sequence[_Window]) -> int:
    """Number of placements to try. It is lower if there are many buffers and offsets, since a placement then takes
    longer.
    """
    kind = windows[0].kind
    members = sum(len(w.members) for w in windows) // len(windows)
    slower = (1 + kind.largest // kind.grain // _OFFSETS) * (1 + members // _MEMBERS)
    return min(_LEAST_NODES + _WINDOW_NODES * len(windows), _MOST_NODES) // slower


class _DepthFirst:
    """Depth-first search through the windows, within a capacity. most: limit of placements. tried: placements so
    far.
    """

    def __init__(self, windows: Sequence[_Window], capacity: int, most: int) -> None:
        self._windows, self._capacity, self._most, self.tried = windows, capacity, most, 0
        self._known: dict[object, tuple[list[_Offsets], Iterator[_Offsets]]] = {}

    def offsets(self, count: int) -> list[int] | None:
        """Offsets of all `count` buffers; None if no solution was found."""
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
        """Solutions of a window for given offsets of the entering buffers. Each is computed once, on demand."""
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
        """One solution for each set of offsets of the leaving buffers."""
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
    """Index of the first buffer of each window. ordered: buffers by their first step."""
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
