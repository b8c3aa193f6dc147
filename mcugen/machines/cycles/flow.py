"""Computes how often branches were taken, from how often each block of instructions was entered.

A block is entered by a jump, or by falling through from the block before it. The entries of an address are therefore
the sum over the edges into it. Each edge's count is an interval, narrowed by these sums until nothing changes. Counts
that the sums do not determine, e.g. of two branches with the same two successors, stay intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.machines.toolchain.disassembly import Listing

_ROUNDS = 12


@dataclass
class _Edge:
    low: int
    high: int


Runs = Mapping[tuple[int, int], int]


def taken(runs: Runs, ends: Runs, listing: Listing) -> dict[int, tuple[int, int]]:
    """Address of a conditional branch -> (least, most) times that it was taken.

    runs: (address, instructions) -> entries of the block. ends: the same key -> address of the block's last
    instruction.
    """
    entered: dict[int, int] = {}
    left: dict[int, int] = {}
    for run, n in runs.items():
        entered[run[0]] = entered.get(run[0], 0) + n
        left[ends[run]] = left.get(ends[run], 0) + n
    into: dict[int, list[_Edge]] = {}
    branches: dict[int, tuple[_Edge, _Edge, int]] = {}
    for address, n in left.items():
        instruction = listing.instructions[address]
        follower = listing.following.get(address)
        if instruction.flow == "branch" and instruction.target is not None:
            edges = _Edge(0, n), _Edge(0, n)
            branches[address] = (*edges, n)
            into.setdefault(instruction.target, []).append(edges[0])
            into.setdefault(-1 if follower is None else follower, []).append(edges[1])
            continue
        if instruction.flow in ("jump", "call") and instruction.target is not None:
            into.setdefault(instruction.target, []).append(_Edge(n, n))
        if instruction.flow in ("next", "pad", "call") and follower is not None:
            into.setdefault(follower, []).append(_Edge(n, n))
    for _ in range(_ROUNDS):
        if not _narrow(into, entered, branches):
            break
    return {address: (edge.low, edge.high) for address, (edge, _, _) in branches.items()}


def _narrow(
    into: Mapping[int, list[_Edge]], entered: Mapping[int, int], branches: Mapping[int, tuple[_Edge, _Edge, int]]
) -> bool:
    """One round of narrowing. Returns whether any interval became smaller."""
    changed = False
    for place, edges in into.items():
        low, high = sum(e.low for e in edges), sum(e.high for e in edges)
        total = entered.get(place, 0)
        for edge in edges:
            changed |= _set(edge, total - (high - edge.high), total - (low - edge.low))
    for edge, other, n in branches.values():
        changed |= _set(edge, n - other.high, n - other.low)
        changed |= _set(other, n - edge.high, n - edge.low)
    return changed


def _set(edge: _Edge, low: int, high: int) -> bool:
    """Narrow an edge's interval. Contradictory bounds are ignored; they occur if a step begins inside a block."""
    low, high = max(edge.low, low), min(edge.high, high)
    if low > high or (low, high) == (edge.low, edge.high):
        return False
    edge.low, edge.high = low, high
    return True
