"""Cortex-M33: the costs of Cortex-M4, as in LLVM's scheduler; two 16-bit instructions may issue together."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel
from mcugen.machines.cycles.cores.cortex_m4 import HIGH as M4_HIGH
from mcugen.machines.cycles.cores.cortex_m4 import LOW as M4_LOW

MODEL = CycleModel(
    "cortex-m33",
    replace(M4_LOW, width=2, seconds=frozenset({"nop", "b", "adds", "subs", "movs", "mov", "add", "sub", "cmp"})),
    M4_HIGH,
    source="LLVM ARMScheduleM4.td, used for Cortex-M33; Arm publishes no table of cycles. Low: pairs of 16-bit "
    "instructions of which the second is a simple one",
    note="Arm publishes no cycle counts for Cortex-M33: estimates use those of Cortex-M4",
)
