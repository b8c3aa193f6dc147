"""Cortex-M55: single issue, except for pairs of 16-bit instructions. A vector instruction occupies its unit for two
cycles.
"""

from __future__ import annotations

from dataclasses import replace

from mcugen.machines.cycles.core_model import CycleModel, Pipeline

_VECTORS = ("vector_load", "vector_store", "vector_mul", "vector_int", "vector_narrow", "vector_move")
_SCATTERED = ("vector_gather_load", "vector_scatter_store")
LOW = Pipeline(
    width=2,
    cycles={"loop_end": 0, "div": 3, "float_div": 14, "float_sqrt": 14},
    per_register={
        "load_list": 0.5, "store_list": 0.5, "load_pair": 0, "store_pair": 0,
        "float_load_list": 0.5, "float_store_list": 0.5,
    },
    latency={
        "load": 2, "load_narrow": 2, "load_pair": 2, "load_list": 2, "mac": 2, "mla": 2, "mul": 2, "mull": 2,
        "vector_mul": 2, "vector_narrow": 3, "vector_move": 2, "vector_gather_load": 5, "float_load": 2,
        "float_alu": 2, "float_mul": 3, "float_mac": 4, "float_div": 14, "float_sqrt": 14,
    },
    late={"mac": 1, "mla": 1, "vector_mul": 2},
    units={
        "vector_load": "memory", "vector_store": "memory", "vector_gather_load": "memory",
        "vector_scatter_store": "memory", "vector_mul": "multiply", "vector_int": "integer",
        "vector_narrow": "integer", "vector_move": "integer", "load": "memory", "load_narrow": "memory",
        "store": "memory", "load_pair": "memory", "store_pair": "memory",
    },
    busy={**dict.fromkeys(_VECTORS, 2), **dict.fromkeys(_SCATTERED, 4)},
    seconds=frozenset({"nop", "it", "b", "adds", "subs", "add", "sub", "movs", "mov", "sxtb", "sxth", "uxtb", "uxth"}),
    taken=1,
    jump=1,
)  # fmt: skip
HIGH = replace(
    LOW,
    width=1,
    cycles={**LOW.cycles, "div": 10},
    per_register={**LOW.per_register, "load_list": 1, "store_list": 1, "load_pair": 0.5, "store_pair": 0.5},
    latency={**LOW.latency, "load_narrow": 3},
    busy={**LOW.busy, **dict.fromkeys(_SCATTERED, 8)},
    taken=3,
    jump=3,
)
MODEL = CycleModel(
    "cortex-m55",
    LOW,
    HIGH,
    source="LLVM ARMScheduleM55.td: two beats of 64 bits per vector instruction, pipes for memory, integers and "
    "products that overlap, latencies, mispredicted branch 3, LE without cost, gathers 4 more",
)
