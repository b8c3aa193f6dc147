# SPDX-License-Identifier: Apache-2.0
"""Step order for networks of parallel branches, nested in any way: the order with the least peak of memory.

A branch is a sequence of steps. It is split into segments. Each segment has the bytes that it needs while it runs and
the bytes that stay live after it. Segments are ranked:

1. segments that add no live bytes, by the bytes they need while they run, the least first;
2. all other segments, by bytes needed minus bytes added, the greatest difference first.

Branches with the same predecessors and successors are merged by rank into one sequence, and consecutive sequences are
joined, until nothing changes. Remaining steps, which form other graph shapes, are ordered by rank too. Tensors that
several branches read are assumed to stay live during each branch.

Source: Abdel-Wahab and Kameda (1978), scheduling to minimize maximum cumulative cost; Liu (1987) for trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, merge
from typing import NamedTuple, Protocol

_ROUNDS = 40
"""Largest number of rounds of merging and joining, which is the depth of nesting that is handled."""


class Steps(Protocol):
    """Steps of an ordering problem, see `OrderProblem`: predecessors as bit sets, followers, and memory in bytes."""

    @property
    def needs(self) -> tuple[int, ...]: ...

    @property
    def followers(self) -> tuple[tuple[int, ...], ...]: ...

    def run(self, done: int, live: int, i: int) -> tuple[int, int]: ...


class _Segment(NamedTuple):
    """Consecutive steps. during: additional bytes while they run. after: additional bytes live after them."""

    during: int
    after: int
    steps: tuple[int, ...]

    @property
    def rank(self) -> tuple[int, int]:
        return (0, self.during) if self.after <= 0 else (1, self.after - self.during)


@dataclass(eq=False)
class _Run:
    """A sequence of steps. earlier: bit set of all steps that must run before it. before, behind: neighbours in the
    graph.
    """

    steps: tuple[int, ...]
    earlier: int
    before: set[_Run]
    behind: set[_Run]

    def segments(self, problem: Steps) -> list[_Segment]:
        """The shortest segments whose ranks ascend."""
        found: list[_Segment] = []
        done = self.earlier
        for i in self.steps:
            last = _Segment(*problem.run(done, 0, i), (i,))
            done |= 1 << i
            parts = [last.steps]
            while found and last.rank < found[-1].rank:
                first = found.pop()
                parts.append(first.steps)
                during, after = max(first.during, first.after + last.during), first.after + last.after
                last = _Segment(during, after, ())
            found.append(last._replace(steps=tuple(i for part in reversed(parts) for i in part)))
        return found


def in_branches(problem: Steps, done: int = 0) -> tuple[int, ...]:
    """An order of the steps that are not in the bit set `done`."""
    runs = _runs(problem, done)
    for _ in range(_ROUNDS):
        count = len(runs)
        runs = _joined(_merged(runs, problem))
        if len(runs) == count:
            break
    return tuple(_listed(runs, problem))


def _runs(problem: Steps, done: int) -> list[_Run]:
    """Each step as a sequence of its own. The steps of the problem must be in a valid order."""
    left = [i for i in range(len(problem.needs)) if not done >> i & 1]
    run_of: dict[int, _Run] = {}
    earlier: dict[int, int] = {}
    for i in left:
        run_of[i] = _Run((i,), done, set(), set())
    for i in left:
        run_of[i].earlier |= earlier.pop(i, 0)
        for k in problem.followers[i]:
            earlier[k] = earlier.get(k, 0) | run_of[i].earlier | 1 << i
            run_of[i].behind.add(run_of[k])
            run_of[k].before.add(run_of[i])
    return list(run_of.values())


def _merged(runs: Sequence[_Run], problem: Steps) -> list[_Run]:
    """The sequences, after merging those with the same predecessors and successors."""
    alike: dict[object, list[_Run]] = {}
    for run in runs:
        alike.setdefault((frozenset(run.before), frozenset(run.behind)), []).append(run)
    for same in alike.values():
        if len(same) > 1:
            first, *others = same
            segments = merge(*(run.segments(problem) for run in same), key=lambda s: s.rank)
            first.steps = tuple(i for segment in segments for i in segment.steps)
            for run in first.before:
                run.behind.difference_update(others)
            for run in first.behind:
                run.before.difference_update(others)
    return [same[0] for same in alike.values()]


def _joined(runs: Sequence[_Run]) -> list[_Run]:
    """The sequences, after joining each pair where the first is the only predecessor of the second, and the second is
    the only successor of the first.
    """
    firsts = [run for run in runs if not (len(run.before) == 1 and len(next(iter(run.before)).behind) == 1)]
    for first in firsts:
        row = [first]
        while len(row[-1].behind) == 1 and len((after := next(iter(row[-1].behind))).before) == 1:
            row.append(after)
        first.steps = tuple(i for run in row for i in run.steps)
        first.behind = row[-1].behind
        for run in first.behind:
            run.before.remove(row[-1])
            run.before.add(first)
    return firsts


def _listed(runs: Sequence[_Run], problem: Steps) -> Iterator[int]:
    """The steps of all sequences, segment by segment: next is always the segment of the first rank that can run."""
    number = {run: k for k, run in enumerate(runs)}
    waiting = {run: len(run.before) for run in runs}
    segments = {run: iter(run.segments(problem)) for run in runs}
    heap: list[tuple[tuple[int, int], int, _Segment, _Run]] = []

    def offer(run: _Run) -> None:
        segment = next(segments[run], None)
        if segment:
            heappush(heap, (segment.rank, number[run], segment, run))
            return
        for after in sorted(run.behind, key=number.__getitem__):
            waiting[after] -= 1
            if not waiting[after]:
                offer(after)

    for run in runs:
        if not run.before:
            offer(run)
    while heap:
        *_, segment, run = heappop(heap)
        yield from segment.steps
        offer(run)
