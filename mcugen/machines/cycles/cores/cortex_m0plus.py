"""Cortex-M0+: two pipeline stages, single issue, multiplication in one cycle."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel, Pipeline

LOW = Pipeline(
    cycles={"load": 2, "load_narrow": 2, "store": 2},
    per_register={"load_list": 1, "store_list": 1},
    taken=1,
    jump=1,
)
MODEL = CycleModel(
    "cortex-m0plus",
    LOW,
    replace(LOW, jump=2),
    source="Cortex-M0+ Technical Reference Manual (DDI0484), 3.3: loads and stores 2, lists 1 + registers, taken "
    "branch 2, BL 3, and MULS 1: the multiplier of 32 cycles is an option that boards here do not have",
)
