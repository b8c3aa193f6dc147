"""Hill climbing over placement orders: move the buffers below the topmost buffer in the order, and place again.

Source: the bottleneck-chain idea of Vela's hill climbing allocator. Unlike Vela, swaps of equal height are accepted
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mcugen.solve.plan.buffers import Buffer, align_up, height
from mcugen.solve.plan.greedy import near_of, place

_SEED = 20_240_229


def climb(buffers: Sequence[Buffer], order: Sequence[int], target: int, rounds: int) -> list[int]:
    """The best offsets found in at most `rounds` placements, starting from `order`; stops at `target` bytes.

    The result is deterministic: the seed is fixed, and Python guarantees the values of `Random.random` for a seed.
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
        trial, first = _swapped(buffers, order, offset, near, rng)
        trial_offset = place(buffers, trial, near, offset, first)
        trial_bytes = height(buffers, trial_offset)
        if trial_bytes <= current_bytes:  # equal heights too, to move along plateaus
            order, offset, current_bytes = trial, trial_offset, trial_bytes
        if trial_bytes < best_bytes:
            best, best_bytes = trial_offset, trial_bytes
    return best


def _swapped(
    buffers: Sequence[Buffer], order: list[int], offset: Sequence[int], near: Sequence[Sequence[int]], rng: Random
) -> tuple[list[int], int]:
    """A copy of `order` in which a buffer of the bottleneck chain and a buffer live at the same time are swapped, and
    the first changed index.
    """
    chain = _bottleneck_chain(buffers, offset, near)
    one = chain[_pick(rng, len(chain))]
    partners = near[one]
    if not partners:
        return list(order), len(order)
    places = [order.index(i) for i in (one, partners[_pick(rng, len(partners))])]
    trial = list(order)
    trial[places[0]], trial[places[1]] = trial[places[1]], trial[places[0]]
    return trial, min(places)


def _bottleneck_chain(buffers: Sequence[Buffer], offset: Sequence[int], near: Sequence[Sequence[int]]) -> list[int]:
    """Buffers from the topmost down to offset 0, each lying directly on the next."""
    top = max(range(len(buffers)), key=lambda i: offset[i] + buffers[i].nbytes)
    chain = [top]
    while offset[chain[-1]]:
        chain.append(_support(buffers, offset, near, chain[-1]))
    return chain


def _support(buffers: Sequence[Buffer], offset: Sequence[int], near: Sequence[Sequence[int]], i: int) -> int:
    """The buffer directly below `i`. It exists, since placement puts every buffer as low as possible."""
    at, align = offset[i], buffers[i].align
    return next(j for j in near[i] if offset[j] < at and align_up(offset[j] + buffers[j].nbytes, align) == at)


def _pick(rng: Random, n: int) -> int:
    return int(rng.random() * n)
