"""Search for offsets of shaped buffers within a capacity: the offsets left to each buffer are the bits of an integer.

Placing a buffer clears, in the integer of every other, the offsets that would share bytes in use: one shift and one
mask. Busy steps bound the rest (`busy_steps.py`). Offsets are counted in grains, the largest unit that
divides everything which decides about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from mcugen.plan.buffers import Buffer, align_up
from mcugen.plan.busy_steps import BusyStep, busy_steps_of
from mcugen.plan.exact import Outcome

Interval = tuple[int, int]


@dataclass(frozen=True)
class Problem:
    """Buffers and where they may not lie: bit `span + d` of clear[i][j] is set where i may not lie d grains above j."""

    buffers: Sequence[Buffer]
    grain: int
    span: int
    clear: tuple[dict[int, int], ...]

    @classmethod
    def of(cls, buffers: Sequence[Buffer], forbidden: Sequence[dict[int, list[Interval]]], largest: int) -> Problem:
        """For capacities up to `largest` bytes.

        forbidden[i][j]: open intervals of off(i) - off(j) in which i and j would share bytes in use.
        """
        grain = _grain(buffers, forbidden)
        span = largest // grain
        clear = tuple({j: _bits(found, grain, span) for j, found in row.items()} for row in forbidden)
        return cls(buffers, grain, span, clear)

    def least_height(self, nbytes: int) -> int:
        """The least height of a placement, of `nbytes` or more: some buffer ends there, and all start at grains."""
        return min(b.nbytes + align_up(max(nbytes - b.nbytes, 0), self.grain) for b in self.buffers)

    def search(self, capacity: int, nodes: int) -> Outcome:
        """Offsets, parallel to the buffers, that end at or below `capacity`, from at most `nodes` placements."""
        walk = _Walk(self, capacity, nodes)
        found = walk.run([_first_domain(b, capacity, self.grain) for b in self.buffers])
        offset = None if found is None else [at * self.grain for at in found]
        return Outcome(offset, exhausted=found is None and walk.tried_all, nodes=walk.visited)


def _grain(buffers: Sequence[Buffer], forbidden: Sequence[dict[int, list[Interval]]]) -> int:
    """Every buffer can rest on others or on 0, so its offset is a sum of ends of intervals, rounded up to its align."""
    unit = gcd(*(end for row in forbidden for found in row.values() for interval in found for end in interval))
    unit = unit or max(b.align for b in buffers)
    return unit if all(unit % b.align == 0 for b in buffers) else gcd(unit, *(b.align for b in buffers))


def _bits(intervals: Sequence[Interval], grain: int, span: int) -> int:
    """The distances inside the open intervals as bits, distance 0 at bit `span`; those out of reach are left out."""
    mask = 0
    for low, high in intervals:
        first, end = max(low // grain + 1 + span, 0), min(high // grain + span, 2 * span + 1)
        if first < end:
            mask |= (1 << end) - (1 << first)
    return mask


def _first_domain(b: Buffer, capacity: int, grain: int) -> int:
    """Every `step`-th bit, as far as the buffer fits."""
    step = max(b.align // grain, 1)
    count = (capacity - b.nbytes) // grain // step + 1 if b.nbytes <= capacity else 0
    return ((1 << (step * count)) - 1) // ((1 << step) - 1)


@dataclass(frozen=True)
class _Node:
    """A partial placement: offsets left to each buffer, which are not placed, cells taken at each busy step, and where
    the lowest of the buffers left can start there.
    """

    domains: list[int]
    left: frozenset[int]
    taken: list[int]
    starts: list[int | None]


class _Walk:
    """Depth first, with the alternatives of each depth on a stack.

    Next comes the buffer with the fewest offsets left, or, where that is less to try, whatever lies lowest at a busy
    step: below it only as much may stay empty as that step can spare. A buffer that is left without an offset gains
    weight, so that the search places it earlier from then on.
    """

    def __init__(self, problem: Problem, capacity: int, nodes: int) -> None:
        self._problem, self._nodes = problem, nodes
        self._weight = [1] * len(problem.buffers)
        self._busy_steps = busy_steps_of(problem.buffers, problem.grain, capacity // problem.grain)
        self._steps_of = [
            [k for k, busy in enumerate(self._busy_steps) if i in busy.cells] for i in range(len(problem.buffers))
        ]
        self.visited = 0
        self.tried_all = False

    def run(self, domains: list[int]) -> list[int] | None:
        """Offsets in grains, or None where nothing was found."""
        every = range(len(self._busy_steps))
        start = _Node(domains, frozenset(range(len(domains))), [0] * len(every), [None] * len(every))
        if not all(domains) or self._is_full(start, every):
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
            if not after.left:
                return [at for _, at in sorted(placed)]
            stack.append((after, self._children(after)))
        self.tried_all = True
        return None

    def _children(self, node: _Node) -> Iterator[tuple[int, int, BusyStep | None]]:
        """(buffer, offset, the busy step that was branched on, at which it is the lowest of those left; else None)."""
        domains = node.domains
        i = self._fewest(node)
        fewest, best, lowest = domains[i].bit_count(), None, {}
        for n, busy in enumerate(self._busy_steps):
            starts = node.starts[n]
            if starts is None:
                starts = node.starts[n] = busy.lowest_starts(node.taken[n], node.left)
            found, count = {}, 0
            for k, first in busy.first.items() if starts else ():
                if k in node.left:
                    found[k] = domains[k] & (starts >> first)
                    count += found[k].bit_count()
                    if count >= fewest:
                        break
            if found and count < fewest:
                fewest, best, lowest = count, busy, found
        if best is None:
            return ((i, at, None) for at in _ones(domains[i]))
        tries = [
            (at + best.first[k], -self._problem.buffers[k].nbytes, k, at) for k in lowest for at in _ones(lowest[k])
        ]
        return ((k, at, best) for _, _, k, at in sorted(tries))

    def _fewest(self, node: _Node) -> int:
        """The buffer left that has the fewest offsets for its weight; of equals the largest, then the first."""
        domains, weight, buffers = node.domains, self._weight, self._problem.buffers
        shares = [(domains[k].bit_count() / weight[k], k) for k in node.left]
        least, _ = min(shares)
        return min((-buffers[k].nbytes, k) for share, k in shares if share == least)[1]

    def _placed(self, node: _Node, i: int, at: int, busy: BusyStep | None) -> _Node | None:
        """The node after buffer i is placed at this offset; None if another buffer has no offset left."""
        after, clear, span = list(node.domains), self._problem.clear, self._problem.span
        left = node.left - {i}
        touched = dict.fromkeys(clear[i])
        if busy is not None:
            start = at + busy.first[i]
            touched.update(dict.fromkeys(busy.first))
            for j, first in busy.first.items():
                if j in left:
                    after[j] &= -1 << max(start - first, 0)
        for j in touched:
            if j in left:
                # Shifted to where i lies, the bit for distance 0 is that of offset `at`.
                after[j] &= ~((clear[j].get(i, 0) << at) >> span)
                if not after[j]:
                    self._weight[j] += 1
                    return None
        steps, taken, starts = self._steps_of[i], list(node.taken), list(node.starts)
        for n in steps:  # at the others nothing changes
            taken[n] |= self._busy_steps[n].cells[i] << at
            starts[n] = None
        result = _Node(after, left, taken, starts)
        return None if self._is_full(result, steps) else result

    def _is_full(self, node: _Node, steps: Iterable[int]) -> bool:
        """Whether, at some of these busy steps, the buffers left do not fit between those placed."""
        return any(self._busy_steps[n].is_full(node.taken[n], node.left) for n in steps)


def _ones(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
