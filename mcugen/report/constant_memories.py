"""Memories of the constants: what each holds, how often it is read, and why the constants lie there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.boards.target import Target
from mcugen.emit.view import ModelView
from mcugen.report.facts import Report, WeightFacts
from mcugen.solve.weights import WeightRegions


def facts_of(view: ModelView, board: Target) -> tuple[WeightFacts, ...]:
    """Facts of each memory that holds constants, the flash of the code first."""
    kinds = {r.name: r.kind for r in board.regions}
    names = ["", *(place.region for place in view.weight_places)]
    return tuple(_facts(view, name, kinds.get(name, "ram")) for name in names)


def _facts(view: ModelView, name: str, kind: str) -> WeightFacts:
    inside = [a for a in view.arrays if a.region == name]
    hot, cold = (
        "most reads per byte; copied at start-up from the flash, which holds them, too",
        "fewest reads per byte; the flash of the code is full",
    )
    return WeightFacts(
        name=name,
        used_bytes=sum(a.nbytes for a in inside),
        accesses=sum(view.reads[a.symbol] for a in inside),
        arrays=tuple(a.symbol for a in inside),
        why="with the code" if not name else hot if kind == "ram" else cold,
    )


def with_code(facts: Report, weight_regions: WeightRegions) -> int:
    """Bytes of constants in the flash of the code, including the initial images of constants in RAM."""
    elsewhere = {region.name for region in weight_regions.slow}
    return sum(w.used_bytes for w in facts.weights if w.name not in elsewhere)


def where(weights: Sequence[WeightFacts]) -> str:
    return " in flash" if len(weights) == 1 else f" in {len(weights)} memories"


def as_lines(weights: Sequence[WeightFacts]) -> Iterator[str]:
    """A line per memory, for the report. Empty if all constants are in the flash of the code."""
    if len(weights) == 1:
        return
    total = max(sum(w.accesses for w in weights), 1)
    width = max(len(w.name or "flash") for w in weights)
    for w in weights:
        share = f"{100 * w.accesses / total:.0f} % of their reads"
        yield f"           {w.used_bytes:>10,} bytes  {w.name or 'flash':<{width}}: {share}; {w.why}"
