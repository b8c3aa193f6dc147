"""Busy steps: so many bytes are in use at them that the few bytes which may stay empty decide where buffers lie.

Cells are grains of the arena; a run is bytes next to each other that a buffer has in use at the step. Only cells that a
run fills completely count as taken by it, so a proof about cells is a proof about bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby

import numpy as np

from mcugen.plan.bound import live_bytes
from mcugen.plan.buffers import Buffer, Piece

MAX_BUSY_STEPS = 12


@dataclass(frozen=True)
class BusyStep:
    """One step: `size` cells of arena; for each buffer in use, its cells as bits, its first cell and its runs."""

    size: int
    cells: dict[int, int]
    first: dict[int, int]
    runs: dict[int, tuple[int, ...]]
    _sums: dict[frozenset[int], int] = field(default_factory=dict)

    @functools.cached_property
    def counts(self) -> dict[int, int]:
        """How many cells each buffer has in use."""
        return {i: cells.bit_count() for i, cells in self.cells.items()}

    def lowest_starts(self, taken: int, left: frozenset[int]) -> int:
        """Cells, as bits, where the lowest of the buffers left can start: all free cells below it stay empty."""
        coming = sum(nbits for i, nbits in self.counts.items() if i in left)
        if not coming:
            return 0
        free = ~taken & ((1 << self.size) - 1)
        spare = free.bit_count() - coming
        return _lowest(free, spare + 1) if spare >= 0 else 0

    def is_full(self, taken: int, left: frozenset[int]) -> bool:
        """Whether the runs left do not fit into the holes, even if each hole is filled as well as sums of runs can."""
        coming = left.intersection(self.cells)
        needed = sum(self.counts[i] for i in coming)
        free = ~taken & ((1 << self.size) - 1)
        if needed > free.bit_count():
            return True
        sums = self._sums_of(coming)
        return needed > sum((sums & ((2 << hole) - 1)).bit_length() - 1 for hole in _runs(free))

    def _sums_of(self, coming: frozenset[int]) -> int:
        """The sizes that some of the runs of these buffers have together, as bits."""
        if coming not in self._sums:
            sizes = [n for i in coming for n in self.runs[i]]
            every = (2 << self.size) - 1
            self._sums[coming] = reduce(lambda sums, n: (sums | sums << n) & every, sizes, 1)
        return self._sums[coming]


def busy_steps_of(buffers: Sequence[Buffer], grain: int, size: int) -> list[BusyStep]:
    """The steps with the most bytes in use; of several with the same buffers, the first."""
    live = live_bytes(buffers)
    pieces = [(i, p) for i, b in enumerate(buffers) for p in b.pieces]
    firsts, lasts = np.array([(p.first, p.last) for _, p in pieces], np.int64).reshape(-1, 2).T
    starts = sorted({p.first for _, p in pieces}, key=lambda t: (-live[t], t))
    found: list[BusyStep] = []
    seen: set[frozenset[tuple[int, int]]] = set()
    for step in starts:
        in_use = np.flatnonzero((firsts <= step) & (step <= lasts))
        busy = _busy_step([pieces[k] for k in in_use], grain, size)
        key = frozenset(busy.cells.items())
        if key and key not in seen:
            seen.add(key)
            found.append(busy)
        if len(found) == MAX_BUSY_STEPS:
            break
    return found


def _busy_step(in_use: Sequence[tuple[int, Piece]], grain: int, size: int) -> BusyStep:
    """in_use: the pieces with the number of their buffer, in the order of the buffers."""
    cells: dict[int, int] = {}
    first: dict[int, int] = {}
    for i, found in groupby(in_use, key=lambda item: item[0]):
        spans = sorted((p.offset, p.offset + p.nbytes) for _, p in found)
        bits = 0
        for low, high in _touching(spans):
            a, z = -(-low // grain), high // grain
            bits |= (1 << z) - (1 << a) if z > a else 0
        if bits:
            cells[i], first[i] = bits, spans[0][0] // grain
    return BusyStep(size, cells, first, {i: tuple(_runs(bits)) for i, bits in cells.items()})


def _touching(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for low, high in spans:
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _runs(bits: int) -> list[int]:
    """Lengths of the runs of ones."""
    found = []
    while bits:
        bits >>= (bits & -bits).bit_length() - 1
        length = (~bits & (bits + 1)).bit_length() - 1
        found.append(length)
        bits >>= length
    return found


def _lowest(bits: int, count: int) -> int:
    """The `count` lowest ones."""
    found, rest, at = 0, bits, 0
    while rest and count > 0:
        skip = (rest & -rest).bit_length() - 1
        rest >>= skip
        at += skip
        length = min((~rest & (rest + 1)).bit_length() - 1, count)
        found |= ((1 << length) - 1) << at
        rest >>= length
        at += length
        count -= length
    return found
