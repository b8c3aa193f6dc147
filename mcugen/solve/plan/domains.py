"""Search for offsets of shaped buffers within a capacity. The domain of a buffer, a bit set, holds its possible
offsets.

Placing a buffer clears the bits of all offsets of other buffers that would share bytes in use. This takes one shift and
one mask per buffer. Busy steps prune the search further (`busy_steps.py`). Offsets are counted in grains, the largest
unit that divides all sizes and alignments involved.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from mcugen.solve.plan.buffers import Buffer, align_up
from mcugen.solve.plan.busy_steps import BusyStep, Hole, busy_steps_of
from mcugen.solve.plan.exact import Outcome

Interval = tuple[int, int]

Forbidden = Sequence[Mapping[int, Sequence[Interval]]]
"""forbidden[i][j]: open intervals of offset(i) - offset(j) for which buffers i and j would share bytes in use."""

_Domains = tuple[list[int], list[int]]
"""The domain of each buffer, and the number of its offsets."""


@dataclass(frozen=True)
class DomainProblem:
    """Buffers and the forbidden differences of their offsets.

    grain: bytes per grain. span: the largest capacity in grains. clear[i][j]: bit set; bit `span + d` is set if buffer
    i may not lie d grains above buffer j.
    """

    buffers: Sequence[Buffer]
    grain: int
    span: int
    clear: tuple[dict[int, int], ...]
    _first: dict[int, _Domains] = field(default_factory=dict)

    @classmethod
    def of(cls, buffers: Sequence[Buffer], forbidden: Forbidden, largest: int, grain: int = 0) -> DomainProblem:
        """The problem for capacities up to `largest` bytes. grain: bytes per grain; 0: the largest possible."""
        grain = grain or grain_of(buffers, forbidden)
        span = largest // grain
        clear = tuple({j: _bits(found, grain, span) for j, found in row.items()} for row in forbidden)
        return cls(buffers, grain, span, clear)

    @functools.cached_property
    def around(self) -> Sequence[Sequence[tuple[int, int]]]:
        """For each buffer, the buffers whose domains change when it is placed, each with the `clear` mask."""
        return [[(j, self.clear[j][i]) for j in row] for i, row in enumerate(self.clear)]

    @functools.cached_property
    def busy_steps(self) -> Sequence[BusyStep]:
        """The busy steps, which prune the search."""
        return busy_steps_of(self.buffers, self.grain)

    @functools.cached_property
    def steps_of(self) -> Sequence[Sequence[int]]:
        """For each buffer, the indices of the busy steps at which it is in use."""
        return [[n for n, busy in enumerate(self.busy_steps) if i in busy.runs] for i in range(len(self.buffers))]

    @functools.cached_property
    def by_size(self) -> Sequence[int]:
        """Indices of the buffers, the largest first."""
        return sorted(range(len(self.buffers)), key=lambda i: -self.buffers[i].nbytes)

    def least_height(self, nbytes: int) -> int:
        """The least possible height of a placement, in bytes, that is at least `nbytes`."""
        return least_height(self.buffers, self.grain, nbytes)

    def search(self, capacity: int, nodes: int, given: Mapping[int, int] | None = None) -> Outcome:
        """Search for offsets at which all buffers end at or below `capacity` bytes.

        nodes: most placements tried. given: index of a buffer -> its only allowed offset in bytes.
        """
        search = _DepthFirst(self, capacity, nodes)
        domains, counts = map(list, self._first_domains(capacity))
        for i, at in (given or {}).items():
            domains[i] &= 1 << at // self.grain
            counts[i] = domains[i].bit_count()
        found = search.run(domains, counts)
        offset = None if found is None else [at * self.grain for at in found]
        return Outcome(offset, exhausted=found is None and search.tried_all, nodes=search.visited)

    def _first_domains(self, capacity: int) -> _Domains:
        """The domains of an empty arena. Only those of the last capacity are cached, as they take memory."""
        if capacity not in self._first:
            domains = [_first_domain(b, capacity, self.grain) for b in self.buffers]
            self._first.clear()
            self._first[capacity] = domains, [domain.bit_count() for domain in domains]
        return self._first[capacity]


def least_height(buffers: Sequence[Buffer], grain: int, nbytes: int) -> int:
    """The least possible height of a placement, in bytes, that is at least `nbytes`. A buffer starts at a multiple of
    `grain` and ends at the height.
    """
    return min(b.nbytes + align_up(max(nbytes - b.nbytes, 0), grain) for b in buffers)


def grain_of(buffers: Sequence[Buffer], forbidden: Forbidden) -> int:
    """Largest unit, in bytes, that divides every offset. A buffer lies at 0 or directly on other buffers, so its offset
    is a sum of interval ends, rounded up to its alignment.
    """
    unit = gcd(*(end for row in forbidden for found in row.values() for interval in found for end in interval))
    unit = unit or max(b.align for b in buffers)
    return unit if all(unit % b.align == 0 for b in buffers) else gcd(unit, *(b.align for b in buffers))


def _bits(intervals: Sequence[Interval], grain: int, span: int) -> int:
    """Bit set of the differences inside the open intervals, in grains. Bit `span` is the difference 0. Differences
    beyond +-span are left out.
    """
    mask = 0
    for low, high in intervals:
        first, end = max(low // grain + 1 + span, 0), min(high // grain + span, 2 * span + 1)
        if first < end:
            mask |= (1 << end) - (1 << first)
    return mask


def _first_domain(b: Buffer, capacity: int, grain: int) -> int:
    """Bit set of the aligned offsets, in grains, at which the buffer fits the capacity."""
    step = max(b.align // grain, 1)
    count = (capacity - b.nbytes) // grain // step + 1 if b.nbytes <= capacity else 0
    return ((1 << (step * count)) - 1) // ((1 << step) - 1)


@dataclass(frozen=True)
class _Node:
    """A partial placement.

    domains  per buffer, its possible offsets; empty if it is placed
    counts   per buffer, the number of its possible offsets
    order    the unplaced buffers, the largest first
    left     the unplaced buffers as a bit set
    holes    per busy step, the free cells
    starts   per busy step, the cells at which the lowest unplaced buffer can start; None if not computed yet
    """

    domains: list[int]
    counts: list[int]
    order: Sequence[int]
    left: int
    holes: list[Sequence[Hole]]
    starts: list[int | None]


class _DepthFirst:
    """Depth-first search, with the alternatives of each depth on a stack.

    A node branches over the offsets of the buffer with the fewest offsets left. If that gives fewer alternatives, it
    branches over the lowest unplaced buffer at a busy step instead: at most the spare cells of the step may stay empty
    below it. If a buffer has no offset left, its weight rises, so that later nodes place it earlier.
    """

    def __init__(self, problem: DomainProblem, capacity: int, nodes: int) -> None:
        self._problem, self._nodes = problem, nodes
        self._weight = [1] * len(problem.buffers)
        self._size = capacity // problem.grain
        self._spare = [self._size - busy.count for busy in problem.busy_steps]
        self.visited = 0
        self.tried_all = False

    def run(self, domains: list[int], counts: list[int]) -> list[int] | None:
        """Offset of each buffer in grains, or None if no placement was found. counts: offsets in each domain."""
        steps, buffers = range(len(self._spare)), range(len(domains))
        holes: list[Sequence[Hole]] = [[(0, self._size)] for _ in steps]
        start = _Node(domains, counts, self._problem.by_size, (1 << len(buffers)) - 1, holes, [None for _ in steps])
        if not all(domains) or self._is_full(start.holes, start.left, steps):
            self.tried_all = True
            return None
        placed: list[tuple[int, int]] = []
        stack = [(start, self._children(start))]
        while stack:
            node, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                placed = placed[:-1]
                continue
            if self.visited >= self._nodes:
                return None
            self.visited += 1
            i, at, busy = child
            after = self._placed(node, i, at, busy)
            if after is None:
                continue
            placed.append((i, at))
            if not after.order:
                return [at for _, at in sorted(placed)]
            stack.append((after, self._children(after)))
        self.tried_all = True
        return None

    def _children(self, node: _Node) -> Iterator[tuple[int, int, BusyStep | None]]:
        """The alternatives of a node, as (buffer, offset, busy step). The busy step is the one at which the buffer is
        the lowest unplaced buffer, or None if the node does not branch by a busy step.
        """
        domains, counts, weight = node.domains, node.counts, self._weight
        i = min(node.order, key=lambda k: counts[k] / weight[k])  # ties: the largest, then the first
        fewest, best, lowest = counts[i], None, {}
        for n, busy in enumerate(self._problem.busy_steps):
            starts = node.starts[n]
            if starts is None:
                starts = node.starts[n] = busy.lowest_starts(node.holes[n], node.left, self._spare[n])
            found, count = {}, 0
            for k, first in busy.first.items() if starts else ():
                if domains[k]:
                    found[k] = can = domains[k] & (starts >> first)
                    count += can.bit_count()
                    if count >= fewest:
                        break
            if found and count < fewest:
                fewest, best, lowest = count, busy, found
        if best is None:
            return ((i, at, None) for at in _ones(domains[i]))
        tried = [(k, best.first[k], lowest[k]) for k in node.order if k in lowest]
        return ((k, at, best) for k, at in _from_below(tried))

    def _placed(self, node: _Node, i: int, at: int, busy: BusyStep | None) -> _Node | None:
        """The node after buffer i is placed at this offset; None if another buffer has no offset left."""
        problem, left = self._problem, node.left & ~(1 << i)
        domains = self._cleared(node, i, at, busy)
        if domains is None:
            return None
        holes, starts = list(node.holes), list(node.starts)
        steps = problem.steps_of[i]
        for n in steps:  # the other busy steps do not change
            holes[n] = problem.busy_steps[n].holes_beside(holes[n], i, at)
            starts[n] = None
        if self._is_full(holes, left, steps):
            return None
        known = zip(domains, node.domains, node.counts, strict=True)
        counts = [count if now is before else now.bit_count() for now, before, count in known]
        return _Node(domains, counts, [k for k in node.order if k != i], left, holes, starts)

    def _cleared(self, node: _Node, i: int, at: int, busy: BusyStep | None) -> list[int] | None:
        """Domains after buffer i is placed; None if the domain of another buffer becomes empty. That buffer's weight
        rises.
        """
        before, after = node.domains, list(node.domains)
        after[i] = 0
        lowered = busy.first if busy else {}
        for j, first in lowered.items():
            low = at + lowered[i] - first
            if low > 0 and after[j]:
                after[j] = after[j] >> low << low
        shift = self._problem.span - at  # moves the bit of difference 0 to the bit of offset `at`
        for j, clear in self._problem.around[i]:
            if before[j]:
                domain = after[j]
                now = domain & ~(clear >> shift)
                if not now:
                    self._weight[j] += 1
                    return None
                if now != domain:
                    after[j] = now
        for j in lowered:
            if before[j] and not after[j] and j != i:
                self._weight[j] += 1
                return None
        return after

    def _is_full(self, holes: Sequence[Sequence[Hole]], left: int, steps: Iterable[int]) -> bool:
        """Whether the unplaced buffers cannot fit the holes of one of these busy steps."""
        busy_steps, spare = self._problem.busy_steps, self._spare
        return any(busy_steps[n].is_full(holes[n], left, spare[n]) for n in steps)


def _from_below(tried: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Yields (buffer, offset) by ascending first cell of the placed buffer. Ties keep the order of `tried`.

    tried: (buffer, first cell counted from its offset, bit set of its offsets).
    """
    cells = functools.reduce(operator.or_, (offsets << first for _, first, offsets in tried), 0)
    for cell in _ones(cells):
        for i, first, offsets in tried:
            if cell >= first and offsets >> (cell - first) & 1:
                yield i, cell - first


def _ones(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
