"""The size of a model object: its arena and its counters."""

from __future__ import annotations

from mcugen.plan import MemoryPlan
from mcugen.plan.buffers import align_up
from mcugen.schedule import Schedule

OBJECT_ALIGN = 16
COUNTER_BYTES = 4


def object_bytes(plan: MemoryPlan, schedule: Schedule) -> int:
    """sizeof the model object: the plan and the counters of pushed rows, rounded up to the object's alignment."""
    counters = COUNTER_BYTES * (2 if schedule.streams else 1) if schedule.pushed is not None else 0
    return max(align_up(align_up(plan.nbytes, COUNTER_BYTES) + counters, OBJECT_ALIGN), OBJECT_ALIGN)
