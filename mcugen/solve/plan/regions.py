"""Assignment of buffers to several memories. Buffers with the most accesses per byte go to the fastest memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcugen.solve.plan.buffer_shapes import Packer
from mcugen.solve.plan.buffers import Buffer, MemoryPlan
from mcugen.solve.plan.planner import plan_regions


@dataclass(frozen=True)
class Region:
    """A memory that may hold buffers. nbytes: the bytes of it that buffers may use; None without a limit."""

    name: str
    nbytes: int | None

    def holds(self, nbytes: int) -> bool:
        """Whether an arena of `nbytes` bytes fits."""
        return self.nbytes is None or nbytes <= self.nbytes


def assign(buffers: Sequence[Buffer], accesses: Mapping[str, int], regions: Sequence[Region]) -> MemoryPlan | None:
    """A plan that spreads the buffers over the regions, or None if no assignment fits.

    accesses: buffer name -> number of reads and writes. regions: the fastest first. Buffers are assigned by descending
    accesses per byte, each to the first region with enough room. If a buffer does not fit any region, all buffers are
    assigned by descending size instead; first to regions in the given order, then to the largest regions first.
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
    """Name of each buffer -> name of its region; None if a buffer does not fit any region."""
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
