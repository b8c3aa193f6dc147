"""Busy steps: steps with so many bytes in use that few offsets are possible for their buffers.

The arena is divided into cells of equal size. A run is a sequence of adjacent cells that a buffer fills at the step. A
cell that is only partly filled counts as free, so that a proof about cells also holds for bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby

import numpy as np

from mcugen.solve.plan.bound import live_bytes
from mcugen.solve.plan.buffers import Buffer, Piece

MAX_BUSY_STEPS = 12


Hole = tuple[int, int]
"""Adjacent free cells, as (first, last + 1)."""


@dataclass(frozen=True)
class BusyStep:
    """One step. first: buffer -> first cell that it touches. runs: buffer -> runs that it fills, as (first cell,
    length).

    Cells count from the buffer's offset. Sets of buffers are integers with one bit per buffer.
    """

    first: dict[int, int]
    runs: dict[int, tuple[tuple[int, int], ...]]
    _sums: dict[int, int] = field(default_factory=dict)

    @functools.cached_property
    def members(self) -> int:
        """Bit set of the buffers in use."""
        return sum(1 << i for i in self.runs)

    @functools.cached_property
    def count(self) -> int:
        """Number of cells that the buffers fill together."""
        return sum(length for runs in self.runs.values() for _, length in runs)

    def holes_beside(self, holes: Sequence[Hole], i: int, at: int) -> list[Hole]:
        """The holes left after placing buffer i at cell `at`."""
        left = list(holes)
        for first, length in self.runs[i]:
            low, high = at + first, at + first + length
            k = next(k for k, (_, end) in enumerate(left) if low < end)
            start, end = left[k]
            left[k : k + 1] = [hole for hole in ((start, low), (high, end)) if hole[0] < hole[1]]
        return left

    def lowest_starts(self, holes: Sequence[Hole], left: int, spare: int) -> int:
        """Bit set of the cells at which the lowest unplaced buffer can start. All free cells below it stay empty.

        left: bit set of the unplaced buffers. spare: number of free cells that they do not need.
        """
        found, count = 0, spare + 1
        if not left & self.members:
            return found
        for start, end in holes:
            taken = min(end - start, count)
            found |= ((1 << taken) - 1) << start
            count -= taken
            if not count:
                break
        return found

    def is_full(self, holes: Sequence[Hole], left: int, spare: int) -> bool:
        """Whether the unplaced buffers `left` cannot fit the holes, even if each hole is filled with the best subset of
        runs.
        """
        coming = left & self.members
        if not coming:
            return False
        sums = self._sums.get(coming) or self._sums_of(coming)
        for start, end in holes:
            hole = end - start
            spare -= hole - ((sums & ((2 << hole) - 1)).bit_length() - 1)
            if spare < 0:
                return True
        return spare < 0

    def _sums_of(self, coming: int) -> int:
        """Bit set of all sums of run lengths over subsets of the runs of these buffers."""
        sizes = [length for i, runs in self.runs.items() if coming >> i & 1 for _, length in runs]
        self._sums[coming] = sums = reduce(lambda sums, n: sums | sums << n, sizes, 1)
        return sums


def busy_steps_of(buffers: Sequence[Buffer], grain: int) -> list[BusyStep]:
    """The steps with the most bytes in use. Of several steps with equal runs of cells, only the first."""
    live = live_bytes(buffers)
    pieces = [(i, p) for i, b in enumerate(buffers) for p in b.pieces]
    firsts, lasts = np.array([(p.first, p.last) for _, p in pieces], np.int64).reshape(-1, 2).T
    starts = sorted({p.first for _, p in pieces}, key=lambda t: (-live[t], t))
    found: list[BusyStep] = []
    seen: set[frozenset[tuple[int, tuple[tuple[int, int], ...]]]] = set()
    for step in starts:
        in_use = np.flatnonzero((firsts <= step) & (step <= lasts))
        busy = _busy_step([pieces[k] for k in in_use], grain)
        key = frozenset(busy.runs.items())
        if key and key not in seen:
            seen.add(key)
            found.append(busy)
        if len(found) == MAX_BUSY_STEPS:
            break
    return found


def _busy_step(in_use: Sequence[tuple[int, Piece]], grain: int) -> BusyStep:
    """The busy step with these pieces in use. in_use: (buffer, piece), sorted by buffer."""
    first: dict[int, int] = {}
    runs: dict[int, tuple[tuple[int, int], ...]] = {}
    for i, found in groupby(in_use, key=lambda item: item[0]):
        spans = sorted((p.offset, p.offset + p.nbytes) for _, p in found)
        whole = [(-(-low // grain), high // grain) for low, high in _touching(spans)]
        cells = _touching([(a, z) for a, z in whole if a < z])
        if cells:
            runs[i], first[i] = tuple((a, z - a) for a, z in cells), spans[0][0] // grain
    return BusyStep(first, runs)


def _touching(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for low, high in spans:
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
