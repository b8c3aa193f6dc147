"""Cortex-M4: single issue. Consecutive loads and stores pipeline their addresses."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel, Pipeline

MEMORY = frozenset({"load", "load_narrow", "store", "float_load", "float_store"})
LOW = Pipeline(
    cycles={
        "load": 2, "load_narrow": 2, "float_load": 2, "div": 2, "float_mac": 3, "float_div": 14, "float_sqrt": 14,
    },
    per_register={
        "load_list": 1, "store_list": 1, "load_pair": 1, "store_pair": 1, "float_load_list": 1, "float_store_list": 1,
    },
    latency={"float_alu": 2, "float_mul": 2, "float_mac": 4},
    follows=frozenset({"load", "load_narrow", "float_load"}),
    leads=MEMORY,
    taken=1,
    jump=1,
)  # fmt: skip
HIGH = replace(LOW, cycles={**LOW.cycles, "div": 12}, taken=3, jump=3)
MODEL = CycleModel(
    "cortex-m4",
    LOW,
    HIGH,
    source="Cortex-M4 Technical Reference Manual (100166), 3.3.1: LDR 2, pipelined behind a load or store; LDM, STM, "
    "LDRD, STRD 1 + registers; branches 1 + P, P 1 to 3; UDIV, SDIV 2 to 12. 7.2.3: VMLA 3, VDIV and VSQRT 14",
)
