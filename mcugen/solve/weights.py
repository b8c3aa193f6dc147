"""Memories that may hold constants besides the flash of the code, and how many bytes of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.boards.machine import MemoryRegion
from mcugen.boards.target import Target
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.solve.budget import Solution
from mcugen.solve.memories import STACK_RESERVE_BYTES
from mcugen.solve.plan import Region
from mcugen.solve.schedule.size import region_bytes

CODE_RESERVE_BYTES = 65536
"""Bytes left free for code in the main flash, if --weights-in names other flash but not the main flash."""


@dataclass(frozen=True)
class WeightRegions:
    """Memories for constants.

    fast: RAM for the constants that are read most. slow: additional flash for the constants that are read least.
    code_bytes: bytes of constants that the flash with the code may hold; None without a limit. note: text for the
    report if the user did not request these regions.
    """

    fast: tuple[Region, ...] = ()
    slow: tuple[Region, ...] = ()
    code_bytes: int | None = None
    note: str = ""


ALL_WITH_CODE = WeightRegions()
"""All constants in the flash of the code."""


def weight_regions_of(options: Options, board: Target, solution: Solution) -> WeightRegions:
    """Regions that --weights-in names. By default, if constants go to RAM at all, all RAM that the arenas leave free.

    Raises UsageError if the board does not have a memory of --weights-in, or not that many bytes of it.
    """
    arenas = region_bytes(solution.plan, solution.schedule)
    if options.weights_in == "none":
        return ALL_WITH_CODE
    if options.weights_in == "auto":
        return WeightRegions(fast=_left_over(board, arenas))
    if is_automatic(options, board):
        return WeightRegions(fast=_left_over(board, arenas), note=_note(board))
    if board.is_core:
        return WeightRegions(fast=tuple(_given(board, name, size) for name, size in options.weight_regions))
    known = {r.name: r for r in board.regions if "weights" in r.holds or r.kind == "ram"}
    fast, slow, code = [], [], None
    for name, asked in options.weight_regions:
        if name not in known:
            there = ", ".join(f"{r.name} ({r.size_bytes:,} bytes)" for r in known.values())
            raise UsageError(f"{board.name} has no memory {name!r} for constants", where="--weights-in", hint=there)
        region = known[name]
        size = _allowed(board, region, asked, arenas)
        if region.kind == "ram":
            fast.append(Region(name, size))
        elif region == board.flash_regions()[0]:
            code = size
        else:
            slow.append(Region(name, size))
    if slow and code is None:
        code = max(board.flash_regions()[0].size_bytes - CODE_RESERVE_BYTES, 0)
    return WeightRegions(tuple(fast), tuple(slow), code)


def is_automatic(options: Options, board: Target) -> bool:
    """Whether constants go to RAM by default: with the goal `speed`, if the flash's wait states are known and no RAM
    budget is given.
    """
    if options.weights_in or options.optimize != "speed" or options.ram or options.region or board.is_core:
        return False
    return board.flash_regions()[0].has_waits


def waits_per_byte(options: Options, board: Target) -> float | None:
    """Mean wait cycles per byte of constants read, in the fastest memory that holds constants. None if not known."""
    if board.is_core or not board.flash_regions()[0].has_waits:
        return None
    names = {name for name, _ in options.weight_regions}
    rams = [r for r in board.ram_regions() if r.name in names]
    if options.weights_in == "auto" or is_automatic(options, board):
        rams = _faster(board)
    return min(region.waits_per_byte for region in (*rams, board.flash_regions()[0])) / 2


def _note(board: Target) -> str:
    return (
        f"constants are copied to RAM at start-up, as the flash has {board.flash_regions()[0].waits_text}, where the "
        "link script has their sections (docs/regions.md); --weights-in none keeps them in flash"
    )


def _given(board: Target, name: str, size: int | None) -> Region:
    if size is None:
        hint = f"{board.name} is a bare core: give the memory's size, as {name}=16K"
        raise UsageError(f"--weights-in {name}: a size is missing", hint=hint)
    return Region(name, size)


def _allowed(board: Target, region: MemoryRegion, asked: int | None, arenas: Mapping[str, int]) -> int:
    """Bytes of a region for constants. Raises UsageError for more than the region has."""
    free = region.size_bytes - arenas.get(region.name, 0)
    if asked is not None and asked > free:
        taken = f", {arenas[region.name]:,} bytes of it taken by tensors" if region.name in arenas else ""
        raise UsageError(
            f"{region.name} of {board.name} does not have {asked:,} free bytes for constants",
            where="--weights-in",
            hint=f"it has {region.size_bytes:,} bytes{taken}",
        )
    return asked if asked is not None else _free(board, region, arenas)


def _free(board: Target, region: MemoryRegion, arenas: Mapping[str, int]) -> int:
    holds_stack = region.kind == "ram" and region == board.ram_regions()[0]
    return max(region.size_bytes - arenas.get(region.name, 0) - (STACK_RESERVE_BYTES if holds_stack else 0), 0)


def _left_over(board: Target, arenas: Mapping[str, int]) -> tuple[Region, ...]:
    """RAM regions with their free bytes, if the flash is slower; else ().

    Raises UsageError for a bare core, whose memories are not known.
    """
    if board.is_core:
        hint = "name the memory and its size, as --weights-in dtcm=16K"
        raise UsageError(f"--weights-in auto: the memories of {board.name} are not known", hint=hint)
    flash = board.flash_regions()[0]
    if flash.wait_states == 0 and not flash.has_waits:
        return ()
    return tuple(Region(r.name, _free(board, r, arenas)) for r in _faster(board))


def _faster(board: Target) -> list[MemoryRegion]:
    """RAM of the chip for a model, without regions known to be as slow as the flash."""
    flash = board.flash_regions()[0]
    usable = [r for r in board.ram_regions() if "model" in r.holds and not r.external]
    return [r for r in usable if not (r.has_waits and flash.has_waits) or r.waits_per_byte < flash.waits_per_byte]
