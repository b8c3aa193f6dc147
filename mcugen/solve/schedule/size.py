"""Size of a model object in C, with its counters, and of the arenas that it points to."""

from __future__ import annotations

from mcugen.solve.plan import MemoryPlan
from mcugen.solve.plan.buffers import align_up
from mcugen.solve.schedule import Schedule

OBJECT_ALIGN = 16
COUNTER_BYTES = 4
POINTER_BYTES = 4
"""Bytes of a pointer on the cores that code is built for; a host's pointers may be larger."""


def object_bytes(plan: MemoryPlan, schedule: Schedule) -> int:
    """All RAM of a model in bytes.

    With one region, this is the model object, which contains the arena. With several, it is the arenas and a small
    object that points to them.
    """
    total = sum(region_bytes(plan, schedule).values())
    return total if not plan.further else total + POINTER_BYTES * len(plan.parts) + _counter_bytes(schedule)


def region_bytes(plan: MemoryPlan, schedule: Schedule) -> dict[str, int]:
    """Bytes of the arena in each region, in the plan's order, each rounded up to its alignment.

    With one region, the arena is the model object and ends with its counters.
    """
    if plan.further:
        return {part.region: max(align_up(part.nbytes, OBJECT_ALIGN), OBJECT_ALIGN) for part in plan.parts}
    nbytes = align_up(plan.nbytes, COUNTER_BYTES) + _counter_bytes(schedule)
    return {plan.region: max(align_up(nbytes, OBJECT_ALIGN), OBJECT_ALIGN)}


def counters(schedule: Schedule) -> tuple[str, ...]:
    """Names of the 32-bit counters in the model object: rows, frames or samples pushed, and whether states have a
    value.
    """
    if schedule.graph.stream:
        return ("filled", "due", "lost", "busy", "started")
    pushed: tuple[str, ...] = () if schedule.pushed is None else ("next_row",)
    if schedule.takes_frames:
        pushed = ("frame", "seen") if schedule.streams else ("seen",)
    return (*pushed, "started") if schedule.graph.states else pushed


def _counter_bytes(schedule: Schedule) -> int:
    return COUNTER_BYTES * len(counters(schedule))
