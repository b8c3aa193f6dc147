"""RV32IMC: a generic in-order core of four or five stages, as in small microcontrollers, not one real core."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel, Pipeline

LOW = Pipeline(
    cycles={"div": 4},
    latency={"load": 2, "load_narrow": 2},
    taken=1,
    jump=1,
)
MODEL = CycleModel(
    "rv32imc",
    LOW,
    replace(LOW, cycles={"div": 34, "load": 2, "load_narrow": 2, "store": 2, "mul": 2}, latency={}, taken=2, jump=2),
    source="assumed: ALU 1, multiplication 1 to 2, loads 1 with a stall of 1 before their use, to 2, stores 1 to 2, "
    "taken branch and jump 2 to 3, division 4 to 34",
    note="cycles of RV32IMC are those of a generic in-order core, not of a real chip",
)
