"""Tensors and buffers of a build, and the events between which each buffer is in use."""

from __future__ import annotations

import itertools

from mcugen.ir.graph import Graph, Tensor
from mcugen.report.facts import BufferFacts, TensorFacts
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule, Step


def name_of(schedule: Schedule, step: Step) -> str:
    """Name of a step's layer: the model's own name, as in the emitted C, or else its position in the file."""
    return schedule.graph.tensors[step.choice.node.outputs[0]].layer or step.choice.node.source


def operators_of(schedule: Schedule, imported: Graph) -> dict[int, tuple[str, ...]]:
    """Step -> operators of the model file that it computes, in file order. Only steps with several operators are
    listed.

    These are the operators between the step's results and the nearest other tensors of the build.
    """
    makers = {name: k for k, node in enumerate(imported.nodes) for name in node.outputs}
    stands = {t.origin.tensor for t in schedule.graph.tensors.values() if t.origin is not None}
    found = {}
    for step in schedule.steps:
        origins = [schedule.graph.tensors[name].origin for name in step.choice.node.outputs]
        ends = [origin.tensor for origin in origins if origin is not None]
        seen, ahead = set[int](), [makers[name] for name in ends if name in makers]
        while ahead:
            k = ahead.pop()
            if k not in seen:
                seen.add(k)
                before = (name for name in imported.nodes[k].inputs if name is not None and name not in stands)
                ahead += [makers[name] for name in before if name in makers]
        sources = tuple(dict.fromkeys(imported.nodes[k].source for k in sorted(seen)))  # one may be split
        if len(sources) > 1:
            found[step.index] = sources
    return found


def trace_of(schedule: Schedule) -> str:
    """The step of each event as text. Repeated steps have a count: `3x5` is step 3 five times."""
    runs = ((step, len(list(group))) for step, group in itertools.groupby(event.step for event in schedule.trace))
    return " ".join(f"{step}x{count}" if count > 1 else str(step) for step, count in runs)


def _makers(schedule: Schedule) -> dict[str, tuple[int, ...]]:
    """Tensor -> steps that write its bytes. An operator without code passes on the steps that write its operands."""
    found: dict[str, tuple[int, ...]] = {}
    steps = {id(step.choice.node): step.index for step in schedule.steps}
    for node in schedule.graph.nodes:
        own = steps.get(id(node))
        handed = (k for name in node.inputs for k in found.get(name or "", ()))
        made = tuple(dict.fromkeys(handed)) if own is None else (own,)
        found.update(dict.fromkeys(node.outputs, made))
    return found


def _removed_channels(tensor: Tensor, imported: Graph) -> int:
    origin, shape = tensor.origin, tensor.type.shape
    if origin is None or origin.kept is None or not shape or not shape[-1] or origin.tensor not in imported.tensors:
        return 0
    return imported.type(origin.tensor).size // (tensor.type.size // shape[-1]) - shape[-1]


def tensors_of(schedule: Schedule, imported: Graph) -> tuple[TensorFacts, ...]:
    """Facts of every tensor in RAM."""
    found, makers = [], _makers(schedule)
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
                made_by=makers.get(name, ()),
                removed_channels=_removed_channels(tensor, imported),
            )
        )
    return tuple(found)


def buffers_of(schedule: Schedule, plan: MemoryPlan) -> tuple[BufferFacts, ...]:
    """Facts of every buffer, sorted by region and address."""
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
