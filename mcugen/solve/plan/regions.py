"""Buffers over several memories: those with the most accesses per byte go to the first one, the rest to later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcugen.solve.plan.buffer_shapes import Packer
from mcugen.solve.plan.buffers import Buffer, MemoryPlan
from mcugen.solve.plan.planner import plan_regions


@dataclass(frozen=True)
class Region:
    """A memory that may hold buffers, or the part of it that they may use.

    nbytes: size of that part; None without a limit.
    """

    name: str
    nbytes: int | None

    def holds(self, nbytes: int) -> bool:
        """Whether an arena of `nbytes` bytes fits."""
        return self.nbytes is None or nbytes <= self.nbytes


def assign(buffers: Sequence[Buffer], accesses: Mapping[str, int], regions: Sequence[Region]) -> MemoryPlan | None:
    """A plan over the regions, which are ordered from the fastest to the slowest; None if none is found.

    accesses: reads and writes of each buffer by name. Buffers are assigned in the order of accesses per byte, each to
    the first region that still holds it. If some find no room, all are assigned by size instead, the largest buffers
    and the largest regions first. Deterministic.
    """
    packer = Packer(buffers)
    by_heat = sorted(buffers, key=lambda b: -accesses.get(b.name, 0) / max(b.nbytes, 1))
    by_size = sorted(buffers, key=lambda b: -b.nbytes)
    largest = sorted(regions, key=lambda r: (r.nbytes is not None, -(r.nbytes or 0)))
    for order, tried in ((by_heat, regions), (by_size, regions), (by_size, largest)):
        held = _held(order, tried, packer)
        if held is not None:
            return _planned(buffers, held, regions)
    return None


def _held(order: Sequence[Buffer], regions: Sequence[Region], packer: Packer) -> dict[str, str] | None:
    """Buffer -> region, or None if a buffer fits no region."""
    inside: dict[str, set[str]] = {region.name: set() for region in regions}
    for b in order:
        for region in regions:
            names = inside[region.name] | {b.name}
            if region.nbytes is None or packer.fits(names, region.nbytes):
                inside[region.name] = names
                break
        else:
            return None
    return {name: region for region, names in inside.items() for name in names}


def _planned(buffers: Sequence[Buffer], held: Mapping[str, str], regions: Sequence[Region]) -> MemoryPlan:
    plans = plan_regions([replace(b, region=held[b.name]) for b in buffers])
    first, *further = (plans[region.name] for region in regions if region.name in plans)
    return replace(first, further=tuple(further))
