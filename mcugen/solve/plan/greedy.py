"""Greedy placement: take buffers in a fixed order, put each at the lowest offset that is free for its lifetime.

Source: greedy-by-size as in TFLM's GreedyMemoryPlanner; order by urgency as in Vela's hill climbing allocator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.solve.plan.bound import live_bytes
from mcugen.solve.plan.buffers import Buffer

_SPAN_BITS = 48
"""Bits of the end in a span (offset, end), stored as one number, since numbers sort faster than pairs."""
_END = (1 << _SPAN_BITS) - 1


def place(
    buffers: Sequence[Buffer],
    order: Sequence[int],
    near: Sequence[Sequence[int]],
    known: Sequence[int] = (),
    first: int = 0,
) -> list[int]:
    """Offsets, parallel to `buffers`, after placement in `order` (indices), each at its lowest free offset.

    near: result of `near_of`. known: offsets of an earlier placement. The first `first` buffers of the order keep them.
    """
    offset, span = [-1] * len(buffers), [-1] * len(buffers)
    for i in order[:first]:
        offset[i] = known[i]
        span[i] = offset[i] << _SPAN_BITS | offset[i] + buffers[i].nbytes
    for i in order[first:]:
        b = buffers[i]
        offset[i] = at = _lowest_gap(b, sorted([span[j] for j in near[i] if span[j] >= 0]))
        span[i] = at << _SPAN_BITS | at + b.nbytes
    return offset


def near_of(buffers: Sequence[Buffer]) -> list[list[int]]:
    """For each buffer, the ascending indices of the buffers that are live at one of its steps."""
    near: list[list[int]] = [[] for _ in buffers]
    live: list[int] = []
    for i in sorted(range(len(buffers)), key=lambda i: buffers[i].first):
        live = [j for j in live if buffers[j].last >= buffers[i].first]
        for j in live:
            near[i].append(j)
            near[j].append(i)
        live.append(i)
    return [sorted(others) for others in near]


def _lowest_gap(b: Buffer, taken: Sequence[int]) -> int:
    """The lowest offset at which a buffer fits between the sorted spans that are taken."""
    low, size, align = 0, b.nbytes, b.align
    for span in taken:
        if low + size <= span >> _SPAN_BITS:
            break
        end = span & _END
        if end > low:
            low = -(-end // align) * align
    return low


def orders(buffers: Sequence[Buffer]) -> Iterator[tuple[str, list[int]]]:
    """Orders worth trying, each with its name: large, urgent, long-lived or early buffers first.

    Urgency is the most bytes live at any step of the buffer's life. Ties are broken by the position in `buffers`.
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
