"""Memories that may hold the model's buffers, and how many bytes of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcugen.boards.machine import MemoryRegion
from mcugen.boards.target import Target
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.solve.plan import Region

STACK_RESERVE_BYTES = 8192
"""Bytes left free for stack and variables in the region that holds them, if the board has several regions."""


def regions_of(options: Options, board: Target) -> tuple[Region, ...]:
    """Regions for the model, the fastest first: those of --region, else one of --ram bytes, else the board's.

    A board without regions gives one region without a limit. Raises UsageError if --region names a region that the
    board does not have, or asks for more bytes than it has.
    """
    regions = [r for r in board.ram_regions() if "model" in r.holds]
    if options.regions:
        return tuple(_asked(name, size, board, regions) for name, size in options.regions)
    limit = options.ram_bytes
    if not regions:
        return (Region("ram", limit),)
    if limit is not None:
        largest = max(regions, key=lambda r: r.size_bytes)
        return (Region(next((r for r in regions if r.size_bytes >= limit), largest).name, limit),)
    reserve = STACK_RESERVE_BYTES if len(regions) > 1 and "stack" in regions[0].holds else 0
    return tuple(Region(r.name, r.size_bytes - (reserve if r is regions[0] else 0)) for r in regions)


def _asked(name: str, size: int | None, board: Target, regions: Sequence[MemoryRegion]) -> Region:
    known = {r.name: r.size_bytes for r in regions}
    if board.is_core:
        if size is None:
            hint = f"{board.name} is a bare core: give the region's size, as {name}=64K"
            raise UsageError(f"--region {name}: a size is missing", hint=hint)
        return Region(name, size)
    there = ", ".join(f"{n} ({size:,} bytes)" for n, size in known.items())
    if name not in known:
        raise UsageError(
            f"{board.name} has no RAM region {name!r} for a model", where="--region", hint=f"it has {there}"
        )
    if size is not None and size > known[name]:
        raise UsageError(f"{name} of {board.name} is smaller than {size:,} bytes", where="--region", hint=there)
    return Region(name, known[name] if size is None else size)


def room_of(options: Options, board: Target) -> tuple[Region, ...]:
    """Regions at the board's full size, whatever the budget. With --region, only the regions that it names."""
    if options.regions and board.is_core:
        return tuple(Region(name, None) for name, _ in options.regions)
    return regions_of(replace(options, ram="", region=",".join(name for name, _ in options.regions)), board)


def allowing(options: Options, taken: Mapping[str, int]) -> Options:
    """Options whose budget is exactly `taken`: bytes per region.

    The budget is set by --region; or by --ram, if one region is used and the user did not set --region.
    """
    if len(taken) == 1 and not options.region:
        return replace(options, ram=str(sum(taken.values())))
    return replace(options, ram="", region=",".join(f"{name}={nbytes}" for name, nbytes in taken.items()))


def regions_text(regions: Sequence[Region]) -> str:
    """The regions with their sizes: "dtcm 122,880, axi_sram 524,288"."""
    return ", ".join(
        f"{region.name} {region.nbytes:,}" if region.nbytes is not None else region.name for region in regions
    )
