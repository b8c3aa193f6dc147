"""Cortex-M3: like Cortex-M4, with slower 64-bit multiplication and no floating point."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel
from mcugen.machines.cycles.cores.cortex_m4 import HIGH as M4_HIGH
from mcugen.machines.cycles.cores.cortex_m4 import LOW as M4_LOW

MODEL = CycleModel(
    "cortex-m3",
    replace(M4_LOW, cycles={**M4_LOW.cycles, "mla": 2, "mull": 3}),
    replace(M4_HIGH, cycles={**M4_HIGH.cycles, "mla": 2, "mull": 7}),
    source="Cortex-M3 Technical Reference Manual (DDI0337), table 18-1: MLA 2, SMULL, UMULL, SMLAL 3 to 7, LDR 2 and "
    "pipelined, LDM 1 + registers, branches 1 + P",
)
