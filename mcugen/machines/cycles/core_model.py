"""Data types for a core's cycle costs. Each module of `mcugen.machines.cycles.cores` defines the costs of one core.

A CycleModel has two Pipelines: `low` errs on the fast side, `high` on the slow side. They agree where the core's
documents are clear. Memory has no wait states here; `machines.toolchain.count` adds the wait states of a board.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module, util


@dataclass(frozen=True)
class Pipeline:
    """An in-order core that issues at most `width` instructions per cycle. Times are in cycles; a "kind" is a class of
    instructions, see `Operation`.

    cycles        kind -> cycles until the next instruction can issue, default 1; 0 if it takes no time
    per_register  kind -> additional cycles per register of a list or pair
    follows       kinds that take one cycle less directly after a kind in `leads` (pipelined addresses)
    latency       kind -> cycles until an instruction that reads the result can issue, default: its `cycles`
    late          kind -> like `latency`, if the reader only accumulates onto the result
    units         kind -> functional unit that it needs; has: unit -> how many of it the core has, default 1
    busy          kind -> cycles for which its unit is occupied, default: its `cycles`
    alone         kinds that issue in no cycle with another instruction
    seconds       if given: only these (by name) may be second in a pair, and both must have 16 bits
    taken         additional cycles of a taken branch; jump: of a jump, call or return
    missed        additional cycles of a mispredicted branch
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
    """Cycle costs of a core. low, high: least and most cycles. source: of the figures. note: a remark for the user."""

    core: str
    low: Pipeline
    high: Pipeline
    source: str
    note: str = ""


def load(core: str) -> CycleModel | None:
    """The cycle model of a bare core, or None if there is none."""
    name = f"mcugen.machines.cycles.cores.{core.replace('-', '_')}"
    if not core.replace("-", "_").isidentifier() or util.find_spec(name) is None:
        return None
    found: CycleModel = import_module(name).MODEL
    return found
