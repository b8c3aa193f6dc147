"""Hill climbing over placement orders: move the buffers that hold up the topmost one, and place again.

Source: the bottleneck-chain idea of Vela's hill climbing allocator; the walk over plateaus is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mcugen.plan.buffers import Buffer, align_up, height
from mcugen.plan.greedy import near_of, place

_SEED = 20_240_229


def climb(buffers: Sequence[Buffer], order: Sequence[int], target: int, rounds: int) -> list[int]:
    """The best offsets found in at most `rounds` placements, starting from `order`; stops at `target` bytes.

    Deterministic: the random choices come from a fixed seed, through the one generator call whose values Python fixes.
    """
    rng = Random(_SEED)
    order = list(order)
    near = near_of(buffers)
    offset = place(buffers, order, near)
    best, best_bytes = offset, height(buffers, offset)
    current_bytes = best_bytes
    for _ in range(rounds):
        if best_bytes <= target:
            break
        trial = _swapped(buffers, order, offset, rng)
        trial_offset = place(buffers, trial, near)
        trial_bytes = height(buffers, trial_offset)
        if trial_bytes <= current_bytes:  # equals are taken too: plateaus are wide, and exits are elsewhere on them
            order, offset, current_bytes = trial, trial_offset, trial_bytes
        if trial_bytes < best_bytes:
            best, best_bytes = trial_offset, trial_bytes
    return best


def _swapped(buffers: Sequence[Buffer], order: Sequence[int], offset: Sequence[int], rng: Random) -> list[int]:
    """A copy of `order` in which a buffer of the bottleneck chain has changed places with one it conflicts with."""
    chain = _bottleneck_chain(buffers, offset)
    one = chain[_pick(rng, len(chain))]
    partners = [i for i, b in enumerate(buffers) if i != one and _conflict(b, buffers[one])]
    if not partners:
        return list(order)
    other = partners[_pick(rng, len(partners))]
    swap = {one: other, other: one}
    return [swap.get(i, i) for i in order]


def _bottleneck_chain(buffers: Sequence[Buffer], offset: Sequence[int]) -> list[int]:
    """Buffers from the topmost down to offset 0, each resting on the next."""
    top = max(range(len(buffers)), key=lambda i: offset[i] + buffers[i].nbytes)
    chain = [top]
    while offset[chain[-1]]:
        chain.append(_support(buffers, offset, chain[-1]))
    return chain


def _support(buffers: Sequence[Buffer], offset: Sequence[int], i: int) -> int:
    """The buffer that `i` rests on; one exists because placement leaves no buffer floating."""
    b = buffers[i]
    return next(
        j
        for j, other in enumerate(buffers)
        if offset[j] < offset[i] and align_up(offset[j] + other.nbytes, b.align) == offset[i] and _conflict(other, b)
    )


def _conflict(a: Buffer, b: Buffer) -> bool:
    return a.first <= b.last and b.first <= a.last


def _pick(rng: Random, n: int) -> int:
    return int(rng.random() * n)
