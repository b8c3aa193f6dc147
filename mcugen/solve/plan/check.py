"""Independent checker of memory plans. It shares no code with the allocators, only the types Buffer and MemoryPlan."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from mcugen.errors import InternalError
from mcugen.solve.plan.buffers import Buffer, MemoryPlan


def check(buffers: Sequence[Buffer], plan: MemoryPlan) -> None:
    """Raise InternalError unless every buffer lies aligned in exactly one arena and shares no byte in use.

    Also checks the figures of each plan: lower_bound is the most bytes live at any step and is reached at peak_step. A
    plan called optimal is as large as its floor.
    """
    names, placed = [b.name for b in buffers], [name for part in plan.parts for name in part.offset]
    if sorted(names) != sorted(placed) or len(set(names)) != len(names):
        twice = {n for n in names if names.count(n) > 1} | {n for n in placed if placed.count(n) > 1}
        wrong = sorted(twice | (set(names) ^ set(placed)))
        raise InternalError(f"buffers and offsets do not match one to one: {', '.join(wrong)}", where="memory plan")
    regions = [part.region for part in plan.parts]
    if len(set(regions)) != len(regions):
        raise InternalError(f"two arenas in one region: {', '.join(regions)}", where="memory plan")
    for part in plan.parts:
        _check_arena([b for b in buffers if b.name in part.offset], part)


def _check_arena(buffers: Sequence[Buffer], plan: MemoryPlan) -> None:
    for b in buffers:
        _check_place(b, plan.offset[b.name], plan.nbytes)
    pairs = (sorted(pair, key=lambda b: plan.offset[b.name]) for pair in _living_together(buffers))
    meeting = [(a, b) for a, b in pairs if plan.offset[b.name] < plan.offset[a.name] + a.nbytes]
    for a, b in sorted(meeting, key=lambda pair: (plan.offset[pair[0].name], plan.offset[pair[1].name])):
        _check_pieces(a, b, plan)
    _check_claims(buffers, plan)


def _check_place(b: Buffer, offset: int, arena: int) -> None:
    if offset < 0:
        raise InternalError(f"offset {offset} is negative", where=f"buffer {b.name}")
    if offset % b.align != 0:
        raise InternalError(f"offset {offset} is not a multiple of its alignment {b.align}", where=f"buffer {b.name}")
    if offset + b.nbytes > arena:
        message = f"bytes {offset}..{offset + b.nbytes - 1} do not fit an arena of {arena} bytes"
        raise InternalError(message, where=f"buffer {b.name}")


def _living_together(buffers: Sequence[Buffer]) -> Iterator[tuple[Buffer, Buffer]]:
    """Pairs of buffers that are live at the same step, at any offsets."""
    by_start = sorted((b for b in buffers if b.nbytes > 0), key=lambda b: b.first)
    for i, earlier in enumerate(by_start):
        for later in itertools.islice(by_start, i + 1, None):
            if later.first > earlier.last:
                break
            yield earlier, later


def _check_pieces(a: Buffer, b: Buffer, plan: MemoryPlan) -> None:
    """Raise InternalError if both buffers use a byte at the same step."""
    for p in a.pieces:
        for q in b.pieces:
            low = max(plan.offset[a.name] + p.offset, plan.offset[b.name] + q.offset)
            high = min(plan.offset[a.name] + p.offset + p.nbytes, plan.offset[b.name] + q.offset + q.nbytes)
            if low < high and max(p.first, q.first) <= min(p.last, q.last):
                message = f"{a.name} and {b.name} overlap in bytes {low}..{high - 1} at step {max(p.first, q.first)}"
                raise InternalError(message, where="memory plan")


def _check_claims(buffers: Sequence[Buffer], plan: MemoryPlan) -> None:
    # The number of live bytes changes only at steps where a piece starts or has ended.
    change: Counter[int] = Counter()
    for piece in (piece for b in buffers for piece in b.pieces):
        change[piece.first] += piece.nbytes
        change[piece.last + 1] -= piece.nbytes
    peak = max(itertools.accumulate(change[step] for step in sorted(change)), default=0)
    if (plan.lower_bound, _live_at(buffers, plan.peak_step)) != (peak, peak):
        message = f"lower bound {plan.lower_bound} at step {plan.peak_step} is stated, {peak} bytes is the peak"
        raise InternalError(message, where="memory plan")
    if plan.proven and plan.nbytes != plan.floor:
        message = f"{plan.nbytes} bytes are called optimal, only {plan.floor} are proven necessary"
        raise InternalError(message, where="memory plan")


def _live_at(buffers: Sequence[Buffer], step: int) -> int:
    return sum(p.nbytes for b in buffers for p in b.pieces if p.first <= step <= p.last)
