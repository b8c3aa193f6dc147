"""Memories of a build: what each holds, how often it is used, and what does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.boards.target import Target
from mcugen.options import Options
from mcugen.report.facts import RegionFacts
from mcugen.solve import Solution
from mcugen.solve.memories import regions_text
from mcugen.solve.plan import MemoryPlan, Region
from mcugen.solve.schedule.accesses import accesses
from mcugen.solve.schedule.size import region_bytes

Limit = tuple[str, str, int, int | None]
"""A limit: its name, a text for the need, bytes needed, and bytes available (None: no limit)."""
_NEEDS = "smallest RAM found for the model is"


def facts_of(solution: Solution) -> tuple[RegionFacts, ...]:
    """Facts of each region in use, the fastest first."""
    regions = {region.name: region.nbytes for region in solution.regions}
    counted = accesses(solution.schedule)
    sizes = region_bytes(solution.plan, solution.schedule)
    return tuple(
        RegionFacts(
            name=part.region,
            used_bytes=sizes[part.region],
            size_bytes=regions.get(part.region),
            lower_bound=part.lower_bound,
            accesses=sum(counted[name] for name in part.offset),
            tensors=tuple(b.name for b in solution.schedule.buffers() if b.name in part.offset),
            why=_why(solution, part),
        )
        for part in solution.plan.parts
    )


def _why(solution: Solution, part: MemoryPlan) -> str:
    if not solution.plan.further:
        first = solution.regions[0].name
        return "everything fits" if part.region == first else f"everything fits, which it does not in {first}"
    if part is solution.plan:
        return "most accesses per byte"
    return f"what {' and '.join(p.region for p in _before(solution.plan, part))} had no room for"


def _before(plan: MemoryPlan, part: MemoryPlan) -> Iterator[MemoryPlan]:
    for other in plan.parts:
        if other is part:
            return
        yield other


def as_lines(regions: Sequence[RegionFacts]) -> Iterator[str]:
    """A line per region, for the report. Empty for a single region without a limit."""
    if len(regions) == 1 and regions[0].size_bytes is None:
        return
    total = max(sum(r.accesses for r in regions), 1)
    width = max(len(r.name) for r in regions)
    for r in regions:
        size = f" of {r.size_bytes:,}" if r.size_bytes is not None else ""
        share = f"{100 * r.accesses / total:.0f} % of accesses; {r.why}"
        yield f"           {r.used_bytes:>10,} bytes  {r.name:<{width}}{size}: {share}"


def limits(needed: int, solution: Solution, board: Target, options: Options) -> list[Limit]:
    """Limits on RAM from --ram, from the regions given, and from the board."""
    found: list[Limit] = []
    if options.ram:
        found.append(("--ram", _NEEDS, needed, options.ram_bytes))
    if len(solution.regions) == 1 and not options.regions:
        return [*found, (f"RAM of {board.name}", _NEEDS, needed, board.ram_bytes)]
    if solution.fits:
        return found
    region = next(r for r in solution.regions if r.name == solution.plan.region)
    where = f"--region {region.name}" if options.regions else f"{region.name} of {board.name}"
    return [*found, (where, _NEEDS, needed, region.nbytes)]


def too_large(solution: Solution) -> Iterator[str]:
    """Why several regions together do not suffice: a buffer that fits in none of them, or their total size."""
    regions = solution.regions
    if len(regions) == 1:
        return
    yield f"nor could it be spread over {regions_text(regions)}: {_obstacle(solution, regions)}"


def _obstacle(solution: Solution, regions: Sequence[Region]) -> str:
    total, most = (of(region.nbytes or 0 for region in regions) for of in (sum, max))
    largest = max(solution.schedule.buffers(), key=lambda b: b.nbytes)
    if largest.nbytes > most:
        return f"{largest.name} alone takes {largest.nbytes:,} bytes, the largest region has {most:,}"
    if solution.plan.lower_bound > total:
        return f"{solution.plan.lower_bound:,} bytes are live at once, all regions have {total:,}"
    return f"{solution.plan.lower_bound:,} bytes are live at once, in pieces that do not fill the regions"
