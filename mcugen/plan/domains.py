"""Search for offsets of shaped buffers within a capacity: the offsets left to each buffer are the bits of an integer.

Placing a buffer clears, in the integer of every other, the offsets that would share bytes in use: one shift and one
mask. The buffer with the fewest offsets left is placed next. Offsets are counted in grains, the largest unit that
divides everything which decides about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from mcugen.plan.buffers import Buffer
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

    def search(self, capacity: int, nodes: int) -> Outcome:
        """Offsets, parallel to the buffers, that end at or below `capacity`, from at most `nodes` placements."""
        walk = _Walk(self, nodes)
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


class _Walk:
    """Depth first, with the alternatives of each depth on a stack.

    A buffer that is left without an offset gains weight: what makes the search fail is placed earlier from then on.
    """

    def __init__(self, problem: Problem, nodes: int) -> None:
        self._problem, self._nodes = problem, nodes
        self._weight = [1] * len(problem.buffers)
        self.visited = 0
        self.tried_all = False

    def run(self, domains: list[int]) -> list[int] | None:
        """Offsets in grains, or None where nothing was found."""
        if not all(domains):
            self.tried_all = True
            return None
        everything = frozenset(range(len(domains)))
        placed: list[tuple[int, int]] = []
        stack = [(domains, everything, *self._branch(domains, everything))]
        while stack:
            domains, left, i, places = stack[-1]
            at = next(places, None)
            if at is None:
                stack.pop()
                placed = placed[:-1]
                continue
            if self.visited >= self._nodes:
                return None
            self.visited += 1
            after = self._placed(domains, left, i, at)
            if after is None:
                continue
            placed.append((i, at))
            rest = left - {i}
            if not rest:
                return [at for _, at in sorted(placed)]
            stack.append((after, rest, *self._branch(after, rest)))
        self.tried_all = True
        return None

    def _branch(self, domains: list[int], left: frozenset[int]) -> tuple[int, Iterator[int]]:
        """The buffer with the fewest offsets left for its weight, large ones first, and those offsets from below."""
        buffers, weight = self._problem.buffers, self._weight
        i = min(left, key=lambda k: (domains[k].bit_count() / weight[k], -buffers[k].nbytes, k))
        return i, _ones(domains[i])

    def _placed(self, domains: list[int], left: frozenset[int], i: int, at: int) -> list[int] | None:
        """What is left to the others with i at this offset; None if some buffer has nowhere to go."""
        after, clear, span = list(domains), self._problem.clear, self._problem.span
        for j in clear[i]:
            if j in left:
                # Shifted to where i lies, the bit for distance 0 is that of offset `at`.
                after[j] &= ~((clear[j][i] << at) >> span)
                if not after[j]:
                    self._weight[j] += 1
                    return None
        return after


def _ones(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
