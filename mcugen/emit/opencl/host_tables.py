"""Tables of the OpenCL host program: steps with their launches and arguments, and the constants to upload once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcugen.emit.literals import number
from mcugen.emit.model_parts import CopyView, DeviceView, EndView, GridStepView, KeptView, NumberView
from mcugen.emit.opencl import program
from mcugen.emit.opencl.arguments import CONSTANTS
from mcugen.emit.opencl.device_cuts import cuts
from mcugen.errors import InternalError, UnsupportedError
from mcugen.ir.graph import Node, State
from mcugen.ir.types import TensorType
from mcugen.kernels import halves
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.plan.buffers import align_up
from mcugen.solve.schedule import Choice, Schedule, Step
from mcugen.solve.schedule.places import Place

ALIGN = 64
"""Alignment in bytes of constants, of tensors of separate launches, and of the host's copies of inputs and outputs."""
_LARGEST_START = 2**32


@dataclass(frozen=True, eq=False)
class Launch:
    """A step of the tables.

    choice: kernel and call; None for a step in C. operands: per pointer operand, its offset in the arena, or its data
    if it is constant. out, scratch: offsets in the arena. pitches: per operand, and for the result, elements from one
    row to the next.
    """

    title: str
    choice: Choice | None
    operands: Sequence[int | np.ndarray] = ()
    out: int = 0
    scratch: int = 0
    pitches: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class StateSlot:
    """A state: its offset in the arena, its initial value, and the offset where a run leaves the next value."""

    start: int
    nbytes: int
    initial: np.ndarray
    moved_from: int


@dataclass
class ConstantBlock:
    """Bytes of all constants. Equal arrays are stored once."""

    parts: list[bytes] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def start(self, data: np.ndarray) -> int:
        """Offset of an array. A new array is added."""
        stored = np.ascontiguousarray(data).tobytes()
        key = hashlib.sha256(stored).hexdigest()
        if key not in self.starts:
            self.starts[key] = self.size
            self.parts.append(stored + bytes(align_up(len(stored), ALIGN) - len(stored)))
            self.size += len(self.parts[-1])
        return self.starts[key]


def build(
    schedule: Schedule, plan: MemoryPlan, inputs: list[EndView], outputs: list[EndView], titles: list[str]
) -> DeviceView:
    """Tables of the OpenCL host program for a planned schedule: launches, offsets of inputs and outputs, states, cuts.

    Raises UnsupportedError if a table is too large.
    """
    launches = [_of_step(s, title, schedule, plan) for s, title in zip(schedule.steps, titles, strict=True)]
    ends = [(end.offset, end.nbytes) for end in (*inputs, *outputs)]
    kept = [_kept(state, schedule, plan) for state in schedule.graph.states]
    made = tables(launches, ends[: len(inputs)], ends[len(inputs) :], plan.nbytes, kept)
    return replace(made, cuts=cuts(schedule, plan))


def _kept(state: State, schedule: Schedule, plan: MemoryPlan) -> StateSlot:
    made, before = (
        plan.offset[at.buffer] + at.start for at in (schedule.places[n] for n in (state.after, state.before))
    )
    t = schedule.graph.type(state.before)
    return StateSlot(before, t.nbytes, t.stored(state.initial), made)


def _of_step(step: Step, title: str, schedule: Schedule, plan: MemoryPlan) -> Launch:
    choice = step.choice
    if not step.on_device:
        return Launch(title, None)

    def place(tensor: str) -> int:
        at = schedule.places[tensor]
        return plan.offset[at.buffer] + at.start

    operands: list[int | np.ndarray] = []
    given = [str(choice.node.inputs[k]) for k in choice.kernel.pointer_operands(choice.call)]
    for name in given:
        tensor = schedule.graph.tensors[name]
        data = None if tensor.data is None else halves.operand(choice.call, tensor.type.stored(tensor.data))
        operands.append(place(name) if data is None else data)
    scratch = plan.offset[step.scratch_name] if step.scratch_bytes else 0
    made = choice.node.outputs[0]
    pitches = [_pitch(schedule.graph.type(name), schedule.places.get(name)) for name in (*given, made)]
    return Launch(title, choice, operands, place(made), scratch, pitches)


def _pitch(t: TensorType, place: Place | None = None) -> int:
    """Elements from the start of one row of a tensor to the next, gaps included."""
    return place.pitch // t.np_dtype.itemsize if place and place.pitch else t.shape[-1] if t.shape else 1


def alone(choices: Sequence[Choice]) -> tuple[DeviceView, list[Launch]]:
    """Tables of independent launches. They share one arena, and each uses it from the start."""
    launches: list[Launch] = []
    most = ALIGN
    for choice in choices:
        call, at = choice.call, 0
        operands: list[int | np.ndarray] = []
        for k in choice.kernel.pointer_operands(call):
            data = call.constants[k]
            operands.append(at if data is None else halves.operand(call, data))
            at += 0 if data is not None else align_up(call.input(k).nbytes, ALIGN)
        scratch = at + align_up(call.output.nbytes, ALIGN)
        size = choice.kernel.scratch(call) if choice.kernel.scratch else 0
        given = [call.input(k) for k in choice.kernel.pointer_operands(call)]
        pitches = [_pitch(t) for t in (*given, call.output)]
        launches.append(Launch(choice.node.source, choice, operands, at, scratch, pitches))
        most = max(most, scratch + size)
    return tables(launches, [], [], most), launches


def node_of(call: Any, title: str) -> Node:
    """A node for a call that is not part of a graph."""
    return Node("", call.op, (), (), title)


def tables(
    launches: Sequence[Launch],
    inputs: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int]],
    arena: int,
    kept: Sequence[StateSlot] = (),
) -> DeviceView:
    """The tables of launches. inputs, outputs: (start, bytes) in the arena. Raises UnsupportedError if too large."""
    made, constants = program.of([launch.choice for launch in launches if launch.choice]), ConstantBlock()
    steps: list[GridStepView] = []
    count = 0
    for launch in launches:
        steps.append(_step(launch, count, made, constants))
        count += len(steps[-1].numbers)
    states = [KeptView(k.start, k.nbytes, constants.start(k.initial), k.moved_from) for k in kept]
    size = align_up(max(arena, 1), ALIGN)
    if max(constants.size, size) >= _LARGEST_START:
        raise UnsupportedError("the model needs more than 4 GiB of constants or of arena on the device")
    copies, copied = _copies([*inputs, *outputs])
    data = b"".join(constants.parts)
    return DeviceView(
        source=made.text,
        source_hash=hashlib.sha256(made.text.encode()).hexdigest(),
        constants=data,
        check=check_of(data),
        steps=steps,
        inputs=copies[: len(inputs)],
        outputs=copies[len(inputs) :],
        states=states,
        arena_size=size,
        cuts=[],
        copies_size=max(copied + (size if any(not step.kernel for step in steps) else 0), ALIGN),
    )


def check_of(data: bytes) -> int:
    """Checksum of a file of constants, as templates/opencl/host computes it: 64-bit words times odd numbers, plus the
    size.
    """
    words = np.frombuffer(data, np.uint64)
    return (int((words * (2 * np.arange(words.size, dtype=np.uint64) + 1)).sum()) + len(data)) % 2**64


def _copies(ends: Sequence[tuple[int, int]]) -> tuple[list[CopyView], int]:
    found: list[CopyView] = []
    at = 0
    for start, nbytes in ends:
        found.append(CopyView(start, nbytes, at))
        at += align_up(nbytes, ALIGN)
    return found, at


def _step(launch: Launch, first: int, made: program.Program, constants: ConstantBlock) -> GridStepView:
    choice = launch.choice
    if choice is None:
        return GridStepView(launch.title, "", 0, 0, first, {}, (0, 0, 0), (0, 0, 0))
    key = program.identity(choice)
    grid = choice.kernel.launch(choice.call)
    group = grid.group or (0,) * len(grid.items)
    items = [align_up(n, g) if g else max(n, 1) for n, g in zip(grid.items, group, strict=True)]
    memories, values = _values(launch, choice, constants)
    taken = made.arguments[key]
    for name in (*taken.memories, *taken.numbers):
        if name not in values and name not in memories:
            raise InternalError(
                f"{choice.kernel.symbol} has an argument {name} that no operand or parameter gives", where="emit"
            )
    in_constants = sum(memories[name] << k for k, name in enumerate(taken.memories))
    numbers = {name: values[name] for name in taken.numbers}
    function, fill = made.functions[key], int(bool(grid.group))
    return GridStepView(
        launch.title,
        function,
        len(taken.memories),
        in_constants,
        first,
        numbers,
        _three(items, 1),
        _three(group, fill),
    )


def _three(values: Sequence[int], fill: int) -> tuple[int, int, int]:
    found = [*values, fill, fill, fill]
    return found[0], found[1], found[2]


def _values(launch: Launch, choice: Choice, constants: ConstantBlock) -> tuple[dict[str, bool], dict[str, NumberView]]:
    """Arguments that the step's kernel may take, by name: memories (True if constant), and numbers."""
    memories = {CONSTANTS: True}
    found: dict[str, NumberView] = {}

    def memory(name: str, at: int | np.ndarray) -> None:
        start = at if isinstance(at, int) else constants.start(np.asarray(at))
        memories[f"mem_{name}"] = not isinstance(at, int)
        found[f"at_{name}"] = NumberView("start", f"{start}u")

    *given, made = launch.pitches
    for k, (operand, pitch) in enumerate(zip(launch.operands, given, strict=True)):
        memory(f"in{k}", operand)
        found[f"pitch_in{k}"] = _number(pitch)
    found["pitch_out"] = _number(made)
    memory("out", launch.out)
    memory("scratch", launch.scratch)
    for name, value in choice.params.items():
        if isinstance(value, np.ndarray):
            memory(name, value)
        else:
            found[name] = _number(value)
    return memories, found


def _number(value: Any) -> NumberView:
    is_float = type(value) in (np.float32, np.float64, float)
    text = number(value if is_float else int(value))
    return NumberView("f" if is_float else "i", text)
