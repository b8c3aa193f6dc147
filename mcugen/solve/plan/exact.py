"""Exhaustive search for offsets within a capacity, over canonical solutions only.

In a canonical solution every buffer lies at offset 0 or directly on a buffer that is live at the same time. If any
solution exists, then the one with the least sum of offsets is canonical. The search places buffers by ascending offset,
each as low as the buffers placed before allow. Three rules prune the tree:

* sections: at each step, the unplaced live buffers need the sum of their sizes above the lowest offset left to them;
* dominance: if an unplaced buffer fits wholly below a candidate, placing the candidate first cannot give the least sum;
* capacity: no buffer may end above the capacity, and the lowest possible offset of a buffer never decreases.

Source: the method of MiniMalloc (Moffitt 2023), implemented from its description.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mcugen.solve.plan.bound import live_bytes
from mcugen.solve.plan.buffers import Buffer, align_up

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]
_NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Outcome:
    """Result of a search. offset: the offset of each buffer in bytes, or None. exhausted: whether it is proven that
    none exist. nodes: number of nodes visited.
    """

    offset: list[int] | None
    exhausted: bool
    nodes: int


@dataclass(frozen=True)
class _Problem:
    """Buffers as arrays, in search order. padded: sizes rounded up to the smallest alignment of any buffer."""

    size: _Ints
    padded: _Ints
    align: _Ints
    conflict: _Bools  # [buffer, buffer]
    section: _Bools  # [section, buffer]: sets of buffers live at one step, without subsets of other sections
    members: _Ints  # the buffers of section 0, then those of section 1, ...
    starts: _Ints  # index in `members` at which each section begins
    capacity: int
    padded_capacity: int


@dataclass(frozen=True)
class _Node:
    """A partial solution.

    low: lowest offset left to each buffer. unplaced: which buffers are unplaced. remaining: bytes of unplaced buffers
    per section. current, last: offset and index of the buffer placed last.
    """

    low: _Ints
    unplaced: _Bools
    remaining: _Ints
    current: int
    last: int


def search(buffers: Sequence[Buffer], capacity: int, nodes: int) -> Outcome:
    """Search for offsets at which all buffers end at or below `capacity` bytes, in at most `nodes` partial solutions.

    buffers: at least one, and none of zero bytes. The offsets of the outcome are in their order.
    """
    order = _search_order(buffers)
    problem = _problem([buffers[i] for i in order], capacity)
    root = _Node(
        low=np.zeros(len(order), np.int64),
        unplaced=np.ones(len(order), np.bool_),
        remaining=problem.section @ problem.padded,
        current=0,
        last=-1,
    )
    stack = [(root, _candidates(problem, root))]
    visited = 1
    while stack:
        node, candidates = stack[-1]
        child = next(candidates, None)
        if child is None:
            stack.pop()
            continue
        if visited >= nodes:
            return Outcome(None, exhausted=False, nodes=visited)
        visited += 1
        placed = _place(problem, node, child)
        if not placed.unplaced.any():
            return Outcome(_in_given_order(placed.low, order), exhausted=False, nodes=visited)
        stack.append((placed, _candidates(problem, placed)))
    return Outcome(None, exhausted=True, nodes=visited)


def _search_order(buffers: Sequence[Buffer]) -> list[int]:
    """Indices of the buffers: those live at the fullest steps first, the larger before the smaller, to find conflicts
    early.
    """
    live = live_bytes(buffers)
    return sorted(
        range(len(buffers)),
        key=lambda i: (-max(live[buffers[i].first : buffers[i].last + 1]), -buffers[i].nbytes, buffers[i].first),
    )


def _in_given_order(low: _Ints, order: Sequence[int]) -> list[int]:
    offset = [0] * len(order)
    for position, i in enumerate(order):
        offset[i] = int(low[position])
    return offset


def _problem(buffers: Sequence[Buffer], capacity: int) -> _Problem:
    grain = min(b.align for b in buffers)
    first = np.array([b.first for b in buffers])
    last = np.array([b.last for b in buffers])
    size = np.array([b.nbytes for b in buffers], np.int64)
    section = _sections(first, last)
    rows, members = np.nonzero(section)
    return _Problem(
        size=size,
        padded=-(-size // grain) * grain,
        align=np.array([b.align for b in buffers], np.int64),
        conflict=(first[:, None] <= last[None, :]) & (first[None, :] <= last[:, None]),
        section=section,
        members=members,
        starts=np.searchsorted(rows, np.arange(len(section))),
        capacity=capacity,
        padded_capacity=align_up(capacity, grain),
    )


def _sections(first: _Ints, last: _Ints) -> _Bools:
    """Sets of buffers live at one step, [section, buffer], at each step where a buffer starts. A set that the next set
    contains is left out.
    """
    starts = np.unique(first)
    live: _Bools = (first[None, :] <= starts[:, None]) & (starts[:, None] <= last[None, :])
    contained = ~np.any(live[:-1] & ~live[1:], axis=1)
    kept: _Bools = live[np.append(~contained, True)]
    return kept


def _place(problem: _Problem, node: _Node, i: int) -> _Node:
    """The node after buffer `i` has been put at its lowest offset."""
    offset = int(node.low[i])
    unplaced = node.unplaced.copy()
    unplaced[i] = False
    raised = problem.conflict[i] & unplaced
    top = -(-(offset + problem.size[i]) // problem.align) * problem.align
    return _Node(
        low=np.where(raised, np.maximum(node.low, top), node.low),
        unplaced=unplaced,
        remaining=node.remaining - problem.section[:, i] * problem.padded[i],
        current=offset,
        last=i,
    )


def _candidates(problem: _Problem, node: _Node) -> Iterator[int]:
    """Buffers to place next, the lowest offset first; none if the node cannot lead to a solution."""
    if not node.unplaced.any() or _is_dead(problem, node):
        return iter(())
    least_top = np.min(node.low[node.unplaced] + problem.size[node.unplaced])
    index = np.arange(len(node.low))
    in_order = (node.low > node.current) | ((node.low == node.current) & (index > node.last))
    chosen = np.flatnonzero(node.unplaced & in_order & (node.low < least_top))
    return iter(chosen[np.argsort(node.low[chosen], kind="stable")].tolist())


def _is_dead(problem: _Problem, node: _Node) -> bool:
    """Whether some unplaced buffer, or some section's unplaced buffers together, must end above the capacity."""
    reach = np.where(node.unplaced, np.maximum(node.low, node.current), _NEVER)
    if np.any((reach + problem.size)[node.unplaced] > problem.capacity):
        return True
    floor = np.minimum.reduceat(reach[problem.members], problem.starts)
    return bool(np.any((floor + node.remaining > problem.padded_capacity) & (node.remaining > 0)))
