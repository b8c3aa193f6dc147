"""Size of a model object in C, with its counters and its queue, and of the arenas that it points to."""

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
    return total if not plan.further else total + POINTER_BYTES * len(plan.parts) + kept_bytes(schedule)


def region_bytes(plan: MemoryPlan, schedule: Schedule) -> dict[str, int]:
    """Bytes of the arena in each region, in the plan's order, each rounded up to its alignment.

    With one region, the arena is the model object and ends with its counters and its queue.
    """
    if plan.further:
        return {part.region: max(align_up(part.nbytes, OBJECT_ALIGN), OBJECT_ALIGN) for part in plan.parts}
    nbytes = align_up(plan.nbytes, COUNTER_BYTES) + kept_bytes(schedule)
    return {plan.region: max(align_up(nbytes, OBJECT_ALIGN), OBJECT_ALIGN)}


def counters(schedule: Schedule) -> tuple[str, ...]:
    """Names of the 32-bit counters in the model object: rows, frames or samples pushed, the step that is computed in
    bands, and whether states have a value.
    """
    if stream := schedule.graph.stream:
        queue = ("written", "taken", "dropped", "forgiven") if stream.queue else ()
        return ("filled", "due", "lost", "busy", *queue, "started")
    pushed: tuple[str, ...] = () if schedule.pushed is None else ("next_row",)
    if schedule.takes_frames:
        pushed = ("frame", "seen") if schedule.streams else ("seen",)
    if schedule.bands > 1:
        pushed = ("step",)
    return (*pushed, "started") if schedule.graph.states else pushed


def queue_slots(schedule: Schedule) -> int:
    """Samples in the queue between an interrupt and the task, 0 without one: one slot stays free. In whole words."""
    graph = schedule.graph
    if not graph.stream or not graph.stream.queue:
        return 0
    each = graph.type(graph.inputs[0]).np_dtype.itemsize
    return align_up((graph.stream.queue + 1) * each, COUNTER_BYTES) // each


def waiting_bytes(schedule: Schedule) -> int:
    """Bytes of the model object for the flags of bands that are still to be computed, in whole words."""
    return align_up(schedule.bands, COUNTER_BYTES) if schedule.bands > 1 else 0


def kept_bytes(schedule: Schedule) -> int:
    """Bytes of the model object besides the arena: its counters, which bands wait, and the queue of samples."""
    graph, slots = schedule.graph, queue_slots(schedule)
    queue = slots * graph.type(graph.inputs[0]).np_dtype.itemsize if slots else 0
    return COUNTER_BYTES * len(counters(schedule)) + waiting_bytes(schedule) + queue
