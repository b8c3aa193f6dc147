"""A core's cycle costs as data: one module of `mcugen.machines.cycles.cores` per core has its Model.

A Model is two Pipelines, one that errs on the fast side and one that errs on the slow side; where the documents agree
the two say the same. Memory is taken to have no wait states here; `flash` adds those of a board.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module, util


@dataclass(frozen=True)
class Pipeline:
    """An in-order core that issues at most `width` instructions in a cycle. Units: cycles.

    cycles        kind -> cycles that it holds up what comes after it, else 1; 0 for one that takes no time
    per_register  kind -> further cycles for each register of a list or pair
    follows       kinds that take one cycle less right after a kind of `leads` (pipelined addresses)
    latency       kind -> cycles until an instruction that reads its result can issue, else its `cycles`
    late          kind -> the same for one that adds to that result
    units         kind -> the unit it needs; has: unit -> how many there are
    busy          kind -> cycles for which its unit takes no other, else 1
    alone         kinds that issue with no other
    seconds       instructions (by name) that may be the second of two, where not any may; both of 16 bits then
    taken         further cycles of a taken branch; jump: of a jump, call or return
    missed        cycles of a branch that went the other way than last time
    """

    width: int = 1
    cycles: Mapping[str, int] = field(default_factory=dict)
    per_register: Mapping[str, float] = field(default_factory=dict)
    follows: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    latency: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    has: Mapping[str, int] = field(default_factory=dict)
    busy: Mapping[str, int] = field(default_factory=dict)
    alone: frozenset[str] = frozenset()
    seconds: frozenset[str] | None = None
    taken: int = 0
    jump: int = 0
    missed: int = 0


@dataclass(frozen=True)
class CycleModel:
    """The least and the most that a core takes. source: where the figures are from; note: what the user should know."""

    core: str
    low: Pipeline
    high: Pipeline
    source: str
    note: str = ""


def load(core: str) -> CycleModel | None:
    """The model of a bare core, or None where there is none."""
    name = f"mcugen.machines.cycles.cores.{core.replace('-', '_')}"
    if not core.replace("-", "_").isidentifier() or util.find_spec(name) is None:
        return None
    found: CycleModel = import_module(name).MODEL
    return found
