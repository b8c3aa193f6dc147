"""Lower bounds on the arena: buffers that are live at once must lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

from mcugen.solve.plan.buffers import Buffer, align_up


def live_bytes(buffers: Sequence[Buffer]) -> list[int]:
    """Sum of the bytes in use at each step 0..max(last); empty without buffers."""
    change = [0] * (max((b.last for b in buffers), default=-1) + 2)
    for piece in (piece for b in buffers for piece in b.pieces):
        change[piece.first] += piece.nbytes
        change[piece.last + 1] -= piece.nbytes
    return list(accumulate(change))[:-1]


def lower_bound(buffers: Sequence[Buffer]) -> tuple[int, int]:
    """The most bytes live at any step, and the first such step; (0, 0) without buffers."""
    live = live_bytes(buffers)
    peak = max(live, default=0)
    return peak, live.index(peak) if live else 0


def aligned_bound(buffers: Sequence[Buffer]) -> int:
    """The lower bound with the padding that alignment makes unavoidable at some step; at least lower_bound.

    Only steps at which a buffer starts are examined: at all other steps, a subset of the same buffers is live.
    """
    live: list[Buffer] = []
    most = 0
    for step, starting in groupby(sorted((b for b in buffers if b.nbytes), key=_first), _first):
        live = [*(b for b in live if b.last >= step), *starting]
        most = max(most, _packed(live))
    return most


def _first(b: Buffer) -> int:
    return b.first


def _packed(live: Sequence[Buffer]) -> int:
    """Lower bound of the bytes that buffers live at one step take, with the padding between them.

    Buffers aligned to `a` or more start at multiples of `a`, so all but the topmost of these take a multiple of
    `a` bytes. Buffers with a smaller alignment may fill the padding, so they are left out of the sum for `a`.
    """
    return max(sum(b.nbytes for b in live), *(_padded(live, a) for a in {b.align for b in live}))


def _padded(live: Sequence[Buffer], align: int) -> int:
    sizes = [b.nbytes for b in live if b.align >= align]
    padded = [align_up(n, align) for n in sizes]
    return sum(padded) - max(p - n for p, n in zip(padded, sizes, strict=True))
