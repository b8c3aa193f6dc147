"""Placement of buffers whose bytes are in use at different times: rings, and images consumed row by row.

Two such buffers may overlap if no byte is in use by both at the same time. For each pair of buffers, the forbidden
differences of their offsets are computed once, as intervals. A buffer is placed at the lowest allowed offset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

from mcugen.solve.plan import domains, time_windows
from mcugen.solve.plan.bound import live_bytes, lower_bound
from mcugen.solve.plan.buffers import Buffer, MemoryPlan, height
from mcugen.solve.plan.greedy import orders

_SEED = 20_261_120
_WORK = 6_000_000
_ROUNDS = 1500
_PLACINGS = 300_000
_SEARCH_NODES = 10_000
_SEARCH_WORK = 250_000

MANY, TOO_MANY = 48, 400
"""From MANY buffers on, windows of time are searched too. From TOO_MANY on, all buffers are no longer
searched at once.
"""

_NOWHERE = -(1 << 62)
"""Offset of an unplaced buffer, so low that the offsets it forbids are all below 0."""

Interval = tuple[int, int]


@dataclass(frozen=True)
class _Near:
    """The constraints on one buffer's offset.

    align: its alignment. others: the buffers that it may not overlap. spans: (other buffer, low, high), which forbids
    offsets that are more than low and less than high above the other's offset.
    """

    align: int
    others: frozenset[int]
    spans: list[tuple[int, int, int]]

    @classmethod
    def of(cls, b: Buffer, forbidden: Mapping[int, Sequence[Interval]]) -> _Near:
        spans = [(j, *interval) for j, found in forbidden.items() for interval in found]
        return cls(b.align, frozenset(forbidden), spans)


@dataclass(frozen=True)
class _Move:
    """An order of buffers in which some were moved. Only the positions `first` to `last` of the order changed."""

    order: list[int]
    moved: frozenset[int]
    first: int
    last: int


def plan(buffers: Sequence[Buffer]) -> MemoryPlan:
    """The best placement found. Greedy orders, hill climbing and exact search run until one reaches the lower bound.

    The exact search runs on windows of time if there are at least MANY buffers, then on all buffers at once if there
    are fewer than TOO_MANY.
    """
    bound, peak_step = lower_bound(buffers)
    real = [b for b in buffers if b.nbytes]
    forbidden = _forbidden(real)
    near = list(map(_Near.of, real, forbidden))
    best, method = _greedy(real, near, bound)
    if height(real, best) > bound:
        climbed = _climb(real, near, best, bound)
        if height(real, climbed) < height(real, best):
            best, method = climbed, "hill climbing on rows"
    floor = bound
    if height(real, best) > bound and len(real) >= MANY:
        floor = domains.least_height(real, domains.grain_of(real, forbidden), max(bound, *(b.nbytes for b in real)))
        walked = time_windows.placed(real, forbidden, best, floor)
        if height(real, walked) < height(real, best):
            best, method = walked, "exact search of windows"
    if height(real, best) > bound and len(real) < TOO_MANY:
        searched, floor = _searched(real, forbidden, best, bound)
        if height(real, searched) < height(real, best):
            best, method = searched, "exact search on rows"
    offset = {b.name: 0 for b in buffers} | {b.name: start for b, start in zip(real, best, strict=True)}
    size = height(real, best)
    return MemoryPlan(offset, size, bound, peak_step, size == floor, method, floor=floor)


def _searched(
    buffers: Sequence[Buffer], forbidden: list[dict[int, list[Interval]]], best: list[int], bound: int
) -> tuple[list[int], int]:
    """Offsets no worse than `best`, and the bytes proven necessary.

    The search tries the lower bound first, then just below the best. If it gives up at a capacity, nothing is proven,
    and the next capacity is halfway to the best.
    """
    problem = domains.DomainProblem.of(buffers, forbidden, height(buffers, best))
    floor = low = capacity = problem.least_height(bound)
    left = min(_SEARCH_NODES, _SEARCH_WORK // (len(buffers) * (1 + problem.span // 1000)))
    while low < height(buffers, best) and left > 0:
        outcome = problem.search(capacity, max(1, left // 2))
        left -= outcome.nodes
        if outcome.offset is not None:
            best = outcome.offset
        else:
            low = problem.least_height(capacity + 1)
            floor = low if outcome.exhausted else floor
        capacity = height(buffers, best) - 1 if floor == low else (low + height(buffers, best) - 1) // 2
    return best, floor


def _forbidden(buffers: Sequence[Buffer]) -> list[dict[int, list[Interval]]]:
    """forbidden[i][j]: open intervals of offset(i) - offset(j) for which buffers i and j would share bytes in use."""
    result: list[dict[int, list[Interval]]] = [{} for _ in buffers]
    for i, j in sorted(_pairs(buffers)):
        found = _merged(_clashes(buffers[i], buffers[j]))
        if found:
            result[i][j] = found
            result[j][i] = [(-high, -low) for low, high in reversed(found)]
    return result


def _pairs(buffers: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Pairs of buffers that are live at the same step, the higher index first."""
    live: list[int] = []
    for i in sorted(range(len(buffers)), key=lambda i: buffers[i].first):
        live = [j for j in live if buffers[j].last >= buffers[i].first]
        yield from ((max(i, j), min(i, j)) for j in live)
        live.append(i)


def _clashes(a: Buffer, b: Buffer) -> list[Interval]:
    return [
        (q.offset - p.offset - p.nbytes, q.offset + q.nbytes - p.offset)
        for p in a.pieces
        for q in b.pieces
        if p.first <= q.last and q.first <= p.last
    ]


def _merged(intervals: list[Interval]) -> list[Interval]:
    """Union of open intervals. Intervals that only touch stay separate, since their common end is allowed."""
    result: list[Interval] = []
    for low, high in sorted(intervals):
        if result and low < result[-1][1]:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return result


def _place(buffers: Sequence[Buffer], near: Sequence[_Near], order: Sequence[int]) -> list[int]:
    """Offsets after placing the buffers in this order, each at the lowest offset that the buffers placed before
    allow.
    """
    offset = [_NOWHERE] * len(buffers)
    for i in order:
        offset[i] = _free(near[i], offset)
    return offset


def _place_again(
    buffers: Sequence[Buffer], near: Sequence[_Near], move: _Move, known: Sequence[int], most: float = inf
) -> list[int] | None:
    """Offsets by `_place` after a move; None if a buffer with a new offset ends above `most` bytes.

    known: the offsets before the move. A buffer is placed anew if
    - it was moved,
    - its place in the order is within `move.first` to `move.last`, and it may not overlap a moved buffer, or
    - it may not overlap a buffer whose offset changed.
    """
    waiting = move.order[move.first :]
    offset, touched = list(known), set(move.moved)
    for i in waiting:
        offset[i] = _NOWHERE
    for i in waiting[: move.last - move.first + 1]:
        if not near[i].others.isdisjoint(move.moved):
            touched.add(i)
    for i in waiting:
        if i not in touched:
            offset[i] = known[i]
            continue
        offset[i] = at = _free(near[i], offset)
        if at != known[i]:
            if at + buffers[i].nbytes > most:
                return None
            touched |= near[i].others
    return offset


def _free(near: _Near, offset: Sequence[int]) -> int:
    """The lowest offset of a buffer that all placed buffers allow."""
    taken = [(low + at, high + at) for j, low, high in near.spans if (at := offset[j]) > -high]
    taken.sort()
    found, align = 0, near.align
    for start, end in taken:
        if found <= start:
            break
        if end > found:
            found = -(-end // align) * align
    return found


def _greedy(buffers: Sequence[Buffer], near: Sequence[_Near], bound: int) -> tuple[list[int], str]:
    best: list[int] = []
    method = "nothing to place"
    for name, order in (*orders(buffers), *_early_last(buffers)):
        trial = _place(buffers, near, order)
        if not best or height(buffers, trial) < height(buffers, best):
            best, method = trial, f"greedy {name} on rows"
        if height(buffers, best) <= bound:
            break
    return best, method


def _early_last(buffers: Sequence[Buffer]) -> list[tuple[str, list[int]]]:
    """Further orders to try: by last step, the latest first; and buffers in use at the peak first."""
    index = range(len(buffers))
    return [
        ("end", sorted(index, key=lambda i: (-buffers[i].last, -buffers[i].nbytes))),
        ("peak", _by_peak(buffers)),
    ]


def _by_peak(buffers: Sequence[Buffer]) -> list[int]:
    """Buffers in use at the peak first, large ones first."""
    live = live_bytes(buffers)
    peak = live.index(max(live)) if live else 0
    return sorted(
        range(len(buffers)),
        key=lambda i: (not any(p.first <= peak <= p.last for p in buffers[i].pieces), -buffers[i].nbytes),
    )


def _climb(buffers: Sequence[Buffer], near: Sequence[_Near], start: list[int], bound: int) -> list[int]:
    """Offsets after random moves of buffers near the top to other positions of the order. Moves that are no worse are
    kept. The random sequence is fixed.
    """
    rng = Random(_SEED)
    order = sorted(range(len(buffers)), key=lambda i: start[i])
    best, best_height = start, height(buffers, start)
    placed, current, by_top = _place(buffers, near, order), best_height, _by_top(buffers, start)
    cost = sum(len(n.spans) for n in near) + 1
    for _ in range(min(_ROUNDS, _WORK // cost, _PLACINGS // len(buffers))):
        move = _moved(order, by_top, rng)
        offset = _place_again(buffers, near, move, placed, current)
        if offset is None or height(buffers, offset) > current:
            continue
        order, placed, current = move.order, offset, height(buffers, offset)
        if current < best_height:
            best, best_height, by_top = offset, current, _by_top(buffers, offset)
        if best_height <= bound:
            break
    return best


def _by_top(buffers: Sequence[Buffer], offset: Sequence[int]) -> list[int]:
    return sorted(range(len(buffers)), key=lambda i: -(offset[i] + buffers[i].nbytes))


def _moved(order: list[int], by_top: Sequence[int], rng: Random) -> _Move:
    """The order after moving one buffer, mostly one near the top, to a random position, or swapping it with the buffer
    there.
    """
    pick = by_top[int(rng.random() ** 2 * len(by_top))]
    trial = list(order)
    at = trial.index(pick)
    to = int(rng.random() * len(trial))
    moved = {pick}
    if rng.random() < 0.5:
        trial[at], trial[to] = trial[to], trial[at]
        moved.add(trial[at])
    else:
        trial.insert(to, trial.pop(at))
    return _Move(trial, frozenset(moved), min(at, to), max(at, to))


class Packer:
    """Fast check whether some of the buffers fit a memory. It may miss that they fit."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = [b for b in buffers if b.nbytes]
        self._near = list(map(_Near.of, self._buffers, _forbidden(self._buffers)))

    def fits(self, names: Collection[str], capacity: int) -> bool:
        """Whether a greedy order places the buffers of these names in `capacity` bytes. If so, a plan fits."""
        chosen = [i for i, b in enumerate(self._buffers) if b.name in names]
        buffers = [self._buffers[i] for i in chosen]
        if not buffers or lower_bound(buffers)[0] > capacity:
            return not buffers
        return any(self._height([chosen[i] for i in order]) <= capacity for _, order in orders(buffers))

    def _height(self, order: Sequence[int]) -> int:
        offset = _place(self._buffers, self._near, order)
        return max(offset[i] + self._buffers[i].nbytes for i in order)
