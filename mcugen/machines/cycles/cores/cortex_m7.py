"""Cortex-M7: in-order dual issue, with two load units and one multiplier."""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel, Pipeline

_LISTS = frozenset({"load_list", "store_list", "load_pair", "store_pair", "float_load_list", "float_store_list"})
LOW = Pipeline(
    width=2,
    cycles={"div": 3, "float_div": 14, "float_sqrt": 14},
    per_register={
        "load_list": 0.5, "store_list": 0.5, "load_pair": 0, "store_pair": 0,
        "float_load_list": 0.5, "float_store_list": 0.5,
    },
    latency={
        "load": 1, "load_narrow": 2, "mac": 2, "mla": 2, "mul": 2, "mull": 2, "load_pair": 2, "load_list": 2,
        "float_alu": 3, "float_mul": 3, "float_mac": 3, "float_load": 2, "float_div": 14, "float_sqrt": 14,
    },
    late={"mac": 1, "mla": 1},
    units={
        "mac": "mac", "mla": "mac", "mul": "mac", "mull": "mac", "div": "mac", "simd": "simd", "extend": "simd",
        "shift": "shift", "load": "load", "load_narrow": "load", "store": "store", "float_load": "load",
        "float_store": "store", "branch": "branch", "jump": "branch", "call": "branch", "float_alu": "float",
        "float_mul": "float", "float_mac": "float", "float_div": "float", "float_sqrt": "float",
    },
    has={"load": 2},
    alone=_LISTS,
)  # fmt: skip
HIGH = replace(
    LOW,
    cycles={**LOW.cycles, "div": 8},
    per_register={
        "load_list": 1, "store_list": 1, "load_pair": 0.5, "store_pair": 0.5,
        "float_load_list": 1, "float_store_list": 1,
    },
    latency={**LOW.latency, "load": 2, "load_narrow": 3, "load_pair": 3, "load_list": 3, "shift": 2, "extend": 2},
    jump=1,
    missed=6,
)  # fmt: skip
MODEL = CycleModel(
    "cortex-m7",
    LOW,
    HIGH,
    source="LLVM ARMScheduleM7.td: units, latencies, mispredicted branch 4 to 6; LDM, LDRD, STM, STRD issue alone",
)
