"""The memory planner: greedy orders, then hill climbing, then exact search, until one reaches the lower bound.

Every limit is a count and not a time, so that the same buffers get the same offsets on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mcugen.errors import InternalError
from mcugen.solve.plan import buffer_shapes
from mcugen.solve.plan.bound import aligned_bound, lower_bound
from mcugen.solve.plan.buffers import Buffer, MemoryPlan, height
from mcugen.solve.plan.exact import search
from mcugen.solve.plan.greedy import near_of, orders, place
from mcugen.solve.plan.hillclimb import climb

_CLIMB_WORK = 20_000_000  # rounds times the square of the number of buffers; takes about a second
_CLIMB_ROUNDS = 500
_EXACT_WORK = 1_500_000  # search nodes times buffers; takes one to two seconds
_EXACT_NODES = 20_000
_KEPT_PLANS = 32
_KEPT_LARGE = 2
_LARGE = 200  # buffers


@dataclass(frozen=True)
class _Solution:
    """Offsets of one group of buffers; `floor` bytes are proven necessary for the group."""

    buffers: Sequence[Buffer]
    offset: Sequence[int]
    nbytes: int
    floor: int
    method: str


def plan(buffers: Sequence[Buffer]) -> MemoryPlan:
    """Offsets for the buffers of one region in the smallest arena found, with the proven bounds of its size.

    Zero-byte buffers get offset 0. Raises InternalError for two buffers of one name or of different regions.
    """
    _require_one_region(buffers)
    return (_known_plan if len(buffers) <= _LARGE else _known_large)(tuple(buffers))


def _plan(buffers: tuple[Buffer, ...]) -> MemoryPlan:
    if any(b.parts for b in buffers):
        return replace(buffer_shapes.plan(buffers), region=buffers[0].region)
    bound, peak_step = lower_bound(buffers)
    floor = aligned_bound(buffers)
    offset = {b.name: 0 for b in buffers}
    solutions: list[_Solution] = []
    for group in _groups([b for b in buffers if b.nbytes]):
        # Groups are never live at the same time, so all may use the bytes that the largest group needs.
        solution = _solve(group, max([floor, *(s.nbytes for s in solutions)]))
        offset.update((b.name, start) for b, start in zip(group, solution.offset, strict=True))
        solutions.append(solution)
    tallest = max(solutions, key=lambda s: s.nbytes, default=_Solution((), (), 0, 0, "nothing to place"))
    floor = max([floor, *(s.floor for s in solutions)])
    return MemoryPlan(
        offset=offset,
        nbytes=tallest.nbytes,
        lower_bound=bound,
        peak_step=peak_step,
        proven=tallest.nbytes == floor,
        method=tallest.method,
        floor=floor,
        region=buffers[0].region if buffers else "ram",
    )


_known_plan = functools.lru_cache(_KEPT_PLANS)(_plan)
"""Cache of plans. Kernels that differ only in time and flash lead to equal buffers."""
_known_large = functools.lru_cache(_KEPT_LARGE)(_plan)


def plan_regions(buffers: Sequence[Buffer]) -> dict[str, MemoryPlan]:
    """One plan for each region, in the order in which the buffers name them."""
    regions = dict.fromkeys(b.region for b in buffers)
    return {region: plan([b for b in buffers if b.region == region]) for region in regions}


def _require_one_region(buffers: Sequence[Buffer]) -> None:
    regions = sorted({b.region for b in buffers})
    if len(regions) > 1:
        raise InternalError(f"buffers of one plan name several regions: {', '.join(regions)}", where="memory plan")
    names: set[str] = set()
    for b in buffers:
        if b.name in names:
            raise InternalError("two buffers have this name", where=f"buffer {b.name}")
        names.add(b.name)


def _groups(buffers: Sequence[Buffer]) -> Iterator[list[Buffer]]:
    """Groups of buffers whose lifetimes overlap. Different groups are never live at the same time."""
    group: list[Buffer] = []
    end = -1
    for b in sorted(buffers, key=lambda b: b.first):
        if group and b.first > end:
            yield group
            group = []
        group.append(b)
        end = max(end, b.last)
    if group:
        yield group


def _solve(group: Sequence[Buffer], target: int) -> _Solution:
    """The first solution of at most `target` bytes, or the best that the limits allow."""
    floor = aligned_bound(group)
    best = _greedy(group, target, floor)
    if best.nbytes > target:
        best = _climbed(best, target)
    if best.nbytes > target:
        best = _searched(best, target)
    return best


def _greedy(group: Sequence[Buffer], target: int, floor: int) -> _Solution:
    best: _Solution | None = None
    near = near_of(group)
    for name, order in orders(group):
        offset = place(group, order, near)
        nbytes = height(group, offset)
        if best is None or nbytes < best.nbytes:
            best = _Solution(group, offset, nbytes, floor, f"greedy {name}")
        if best.nbytes <= target:
            break
    if best is None:
        raise InternalError("no placement order was tried", where="memory plan")
    return best


def _climbed(best: _Solution, target: int) -> _Solution:
    group = best.buffers
    # Placing the buffers in the order of their offsets gives the same offsets, or lower offsets.
    start = sorted(range(len(group)), key=lambda i: best.offset[i])
    rounds = min(_CLIMB_ROUNDS, _CLIMB_WORK // len(group) ** 2)
    offset = climb(group, start, target, rounds)
    nbytes = height(group, offset)
    return _Solution(group, offset, nbytes, best.floor, "hill climbing") if nbytes < best.nbytes else best


def _searched(best: _Solution, target: int) -> _Solution:
    """Exact search at capacities from the proven bound up to the best plan, by bisection.

    `floor` rises past capacities that are proven too small. `low` also rises past capacities where the search gave up.
    """
    group, floor, low = best.buffers, best.floor, max(best.floor, target)
    left = min(_EXACT_NODES, _EXACT_WORK // len(group))
    capacity = low
    while low < best.nbytes and left > 0:
        outcome = search(group, capacity, max(1, left // 2))
        left -= outcome.nodes
        if outcome.offset is not None:
            best = _Solution(group, outcome.offset, height(group, outcome.offset), floor, "exact search")
        else:
            low = capacity + 1
            floor = low if outcome.exhausted else floor
        capacity = (low + best.nbytes - 1) // 2
    return _Solution(group, best.offset, best.nbytes, floor, best.method)
