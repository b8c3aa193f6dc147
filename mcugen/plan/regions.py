"""Buffers over several memories: what is used most per byte goes to the first, the rest to the ones after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcugen.plan.buffers import Buffer, MemoryPlan
from mcugen.plan.planner import plan_regions
from mcugen.plan.shapes import Packer


@dataclass(frozen=True)
class Room:
    """A memory that may hold buffers, or the part of it that they may take.

    nbytes: how many bytes that is, None where it is not limited.
    """

    name: str
    nbytes: int | None

    def holds(self, nbytes: int) -> bool:
        """Whether an arena of `nbytes` bytes fits."""
        return self.nbytes is None or nbytes <= self.nbytes


def assign(buffers: Sequence[Buffer], accesses: Mapping[str, int], rooms: Sequence[Room]) -> MemoryPlan | None:
    """A plan over the rooms, which are ordered from the fastest to the slowest; None where none was found.

    accesses: reads and writes of each buffer by name. Buffers are taken in order of accesses per byte, and each goes to
    the first room that still holds it. Where that leaves some out, they are tried by size, the largest first and the
    largest rooms first. Deterministic.
    """
    packer = Packer(buffers)
    by_heat = sorted(buffers, key=lambda b: -accesses.get(b.name, 0) / max(b.nbytes, 1))
    by_size = sorted(buffers, key=lambda b: -b.nbytes)
    largest = sorted(rooms, key=lambda r: (r.nbytes is not None, -(r.nbytes or 0)))
    for order, tried in ((by_heat, rooms), (by_size, rooms), (by_size, largest)):
        held = _held(order, tried, packer)
        if held is not None:
            return _planned(buffers, held, rooms)
    return None


def _held(order: Sequence[Buffer], rooms: Sequence[Room], packer: Packer) -> dict[str, str] | None:
    """Buffer -> room, or None where a buffer finds none."""
    inside: dict[str, set[str]] = {room.name: set() for room in rooms}
    for b in order:
        for room in rooms:
            names = inside[room.name] | {b.name}
            if room.nbytes is None or packer.fits(names, room.nbytes):
                inside[room.name] = names
                break
        else:
            return None
    return {name: room for room, names in inside.items() for name in names}


def _planned(buffers: Sequence[Buffer], held: Mapping[str, str], rooms: Sequence[Room]) -> MemoryPlan:
    plans = plan_regions([replace(b, region=held[b.name]) for b in buffers])
    first, *further = (plans[room.name] for room in rooms if room.name in plans)
    return replace(first, further=tuple(further))
