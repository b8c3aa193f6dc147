"""Static memory planning: buffers with lifetimes become byte offsets in one arena, with a proven gap."""

from __future__ import annotations

from mcugen.solve.plan.bound import aligned_bound, live_bytes, lower_bound
from mcugen.solve.plan.buffers import Buffer, MemoryPlan, Piece
from mcugen.solve.plan.check import check
from mcugen.solve.plan.planner import plan, plan_regions
from mcugen.solve.plan.regions import Region, assign

__all__ = [
    "Buffer",
    "MemoryPlan",
    "Piece",
    "Region",
    "aligned_bound",
    "assign",
    "check",
    "live_bytes",
    "lower_bound",
    "plan",
    "plan_regions",
]
