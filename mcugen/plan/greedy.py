"""Greedy placement: take buffers in a fixed order, put each at the lowest offset that is free for its lifetime.

Source: greedy-by-size as in TFLM's GreedyMemoryPlanner; order by urgency as in Vela's hill climbing allocator.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

from mcugen.plan.bound import live_bytes
from mcugen.plan.buffers import Buffer, align_up

_Placed = tuple[int, int, int, int]  # offset, end, first, last


def place(buffers: Sequence[Buffer], order: Sequence[int]) -> list[int]:
    """Offsets, parallel to `buffers`, when they are placed in `order` (indices), each at its lowest free offset."""
    offset = [0] * len(buffers)
    placed: list[_Placed] = []
    for i in order:
        b = buffers[i]
        offset[i] = _lowest_gap(b, placed)
        insort(placed, (offset[i], offset[i] + b.nbytes, b.first, b.last))
    return offset


def _lowest_gap(b: Buffer, placed: Sequence[_Placed]) -> int:
    low, size, align, b_first, b_last = 0, b.nbytes, b.align, b.first, b.last
    for start, end, first, last in placed:
        if last < b_first or first > b_last:
            continue
        if low + size <= start:
            break
        if end > low:
            low = align_up(end, align)
    return low


def orders(buffers: Sequence[Buffer]) -> Iterator[tuple[str, list[int]]]:
    """Orders worth trying, each with its name: large, urgent, long-lived or early buffers first.

    Urgency is the most bytes live at any step of the buffer's life. Ties end at the position in `buffers`.
    """
    live = live_bytes(buffers)
    steps = [b.last - b.first + 1 for b in buffers]
    urgency = [max(live[b.first : b.last + 1]) for b in buffers]

    def by(*keys: Sequence[int]) -> list[int]:
        return sorted(range(len(buffers)), key=lambda i: tuple(-key[i] for key in keys))

    size = [b.nbytes for b in buffers]
    early = [-b.first for b in buffers]
    yield "size", by(size, steps, early)
    yield "urgency", by(urgency, steps, early, size)
    yield "area", by([n * s for n, s in zip(size, steps, strict=True)], size)
    yield "duration", by(steps, size, early)
    yield "start", by(early, size, steps)
