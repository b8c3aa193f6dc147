"""Tensors and buffers of a build: what each is, and which bytes it has during which events."""

from __future__ import annotations

from mcugen.plan import MemoryPlan
from mcugen.report.facts import BufferFacts, TensorFacts
from mcugen.schedule import Schedule, Step


def name_of(schedule: Schedule, step: Step) -> str:
    """The name of a layer: the model's own, as the emitted C has it; where there is none, its place in the file."""
    return schedule.graph.tensors[step.choice.node.outputs[0]].layer or step.choice.node.source


def tensors_of(schedule: Schedule) -> tuple[TensorFacts, ...]:
    """Every tensor that lies in RAM."""
    found = []
    for name, place in schedule.places.items():
        tensor = schedule.graph.tensors[name]
        t = tensor.type
        quant = t.quant if t.quant is not None and not t.quant.per_channel else None
        found.append(
            TensorFacts(
                name=name,
                label=tensor.label,
                dtype=t.dtype,
                shape=t.shape,
                nbytes=t.nbytes,
                scale=quant.scale[0] if quant else None,
                zero_point=quant.zero_point[0] if quant else None,
                buffer=place.buffer,
                start=place.start,
            )
        )
    return tuple(found)


def buffers_of(schedule: Schedule, plan: MemoryPlan) -> tuple[BufferFacts, ...]:
    """Every buffer, by region and address."""
    held = schedule.held()
    found = []
    for part in plan.parts:
        for b in schedule.buffers():
            if b.name in part.offset and b.nbytes:
                rows = schedule.row_buffers.get(b.name)
                found.append(
                    BufferFacts(
                        name=b.name,
                        region=part.region,
                        offset=part.offset[b.name],
                        nbytes=b.nbytes,
                        first_event=b.first,
                        last_event=b.last,
                        rows=rows.rows if rows else 0,
                        rows_kept=rows.kept if rows else 0,
                        tensors=tuple(held.get(b.name, ())),
                    )
                )
    return tuple(sorted(found, key=lambda b: (b.region, b.offset, b.first_event)))


def events_of(schedule: Schedule) -> dict[int, tuple[int, int]]:
    """The first and the last event of each step."""
    found: dict[int, tuple[int, int]] = {}
    for time, event in enumerate(schedule.trace):
        first, _ = found.get(event.step, (time, time))
        found[event.step] = (first, time)
    return found
