"""C expressions for buffers: arenas, addresses in them, and the memory map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcugen.emit.literals import comment, type_text
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule
from mcugen.solve.schedule.size import region_bytes

LABEL_WIDTH = 48


@dataclass(frozen=True)
class MapView:
    """One line of the memory map in the source. first, last: the first and last step that use the bytes."""

    offset: int
    nbytes: int
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class RegionView:
    """An arena: the model object itself or, for a model in several regions, an array that the caller allocates."""

    name: str
    macro: str
    size: int
    lower_bound: int
    memory_map: list[MapView]


def regions_of(schedule: Schedule, plan: MemoryPlan) -> list[RegionView]:
    """The arenas, in the order of the plan."""
    sizes = region_bytes(plan, schedule)
    return [
        RegionView(p.region, p.region.upper(), sizes[p.region], p.lower_bound, list(_map(schedule, p)))
        for p in plan.parts
    ]


def _map(schedule: Schedule, plan: MemoryPlan) -> Iterator[MapView]:
    graph = schedule.graph
    ends = dict.fromkeys(graph.inputs, "input") | dict.fromkeys(graph.outputs, "output")
    ends |= {state.before: "state" for state in graph.states}
    tensors = schedule.held()
    steps = [max(event.step, 0) for event in schedule.trace] or [0]
    own = {step.scratch_name: f"scratch of step {step.index}" for step in schedule.steps}
    own |= {step.stage_name: f"constants of step {step.index}, copied before it runs" for step in schedule.steps}
    own |= {step.ring_name: f"converted rows of step {step.index}" for step in schedule.steps}
    inside = [b for b in schedule.buffers() if b.name in plan.offset]
    for buffer in sorted(inside, key=lambda b: (b.first, plan.offset[b.name])):
        held = tensors.get(buffer.name, [])
        texts = [f"{type_text(graph.type(n))} {_short(graph.tensors[n].label)}{_from(schedule, n)}" for n in held]
        texts += [ends[n] for n in held if n in ends]
        yield MapView(
            offset=plan.offset[buffer.name],
            nbytes=buffer.nbytes,
            first=min(steps[buffer.first], steps[buffer.last]),
            last=max(steps[buffer.first], steps[buffer.last]),
            text="; ".join(dict.fromkeys(texts)) or own[buffer.name],
        )


def _from(schedule: Schedule, name: str) -> str:
    """Note on where a tensor lies in its buffer: rows kept, distance of rows, offset; "" for a whole buffer."""
    place, buffer = schedule.places[name], schedule.buffer_of(name)
    rows = f", {buffer.kept} of {buffer.rows} rows" if buffer.kept < buffer.rows else ""
    runs = f", rows {place.pitch} bytes apart" if place.pitch else ""
    return rows + runs + (f", from byte {place.start}" if place.start else "")


def _short(label: str) -> str:
    """Short name of a tensor for a table. Converters join the names of all fused tensors; the last is the most
    specific.
    """
    last = comment(label.rstrip(";").rsplit(";", 1)[-1])
    return last if len(last) <= LABEL_WIDTH else f"...{last[-LABEL_WIDTH:]}"


def element(plan: MemoryPlan, buffer: str, start: int = 0) -> str:
    """Byte `start` of a buffer as an index expression: into the arena, or into the array of pointers to the arenas."""
    k = plan.part_of(buffer)
    offset = plan.parts[k].offset[buffer] + start
    return f"[{k}][{offset}]" if plan.further else f"[{offset}]"


def pointer(plan: MemoryPlan, buffer: str, c_type: str, *, const: bool, start: int = 0) -> str:
    """A typed pointer to byte `start` of a buffer, as C text. The C variable `a` is the arena or the array of
    arenas.
    """
    qualifier = "const " if const else ""
    at = f"&a{element(plan, buffer, start)}"
    if c_type == "uint8_t":
        return at
    through = "" if c_type == "int8_t" else f"({qualifier}void *)"
    return f"({qualifier}{c_type} *){through}{at}"
