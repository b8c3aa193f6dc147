"""What runs when, and which tensors share memory: steps, their trace, and the buffers that follow from both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcugen.graph import Graph, Node
from mcugen.op import Call, Form, Kernel
from mcugen.plan import Buffer
from mcugen.types import rows_of

SCRATCH_ALIGN = 8


@dataclass(frozen=True)
class Choice:
    """A node with the kernel chosen for it, and why that one."""

    node: Node
    call: Call
    kernel: Kernel
    why: str


@dataclass(frozen=True)
class Step:
    """One kernel call of the generated code."""

    index: int
    choice: Choice

    @property
    def scratch_bytes(self) -> int:
        scratch = self.choice.kernel.scratch
        return scratch(self.choice.call) if scratch else 0

    @property
    def scratch_name(self) -> str:
        return f"scratch {self.index}"


@dataclass(frozen=True)
class Event:
    """Rows [first_row, first_row + rows) of a step's output, of each image, are computed."""

    step: int
    first_row: int
    rows: int


@dataclass(frozen=True, eq=False)
class Schedule:
    """The steps, the order of their rows, and for every tensor in RAM the buffer that holds it.

    home: tensor name -> name of the buffer; tensors that are aliases or computed in place share one.
    """

    graph: Graph
    steps: tuple[Step, ...]
    trace: tuple[Event, ...]
    home: dict[str, str]
    keep_input: bool

    def buffers(self) -> list[Buffer]:
        """Each home and each scratch with the events it must live through."""
        last = max(len(self.trace) - 1, 0)
        spans: dict[str, list[int]] = {self.home[n]: [0, last if self.keep_input else 0] for n in self.graph.inputs}
        for time, event in enumerate(self.trace):
            node = self.steps[event.step].choice.node
            for name in (*node.inputs, *node.outputs):
                if name is not None and name in self.home:
                    span = spans.setdefault(self.home[name], [time, time])
                    span[1] = max(span[1], time)
        for name in self.graph.outputs:
            spans[self.home[name]][1] = last
        held = self.held()
        tensors = [self._buffer(home, held[home], *span) for home, span in spans.items()]
        return tensors + list(self._scratches())

    def held(self) -> dict[str, list[str]]:
        """The tensors of each home, in the order they appear."""
        found: dict[str, list[str]] = {}
        for name, home in self.home.items():
            found.setdefault(home, []).append(name)
        return found

    def _buffer(self, home: str, held: Sequence[str], first: int, last: int) -> Buffer:
        types = [self.graph.type(name) for name in held]
        return Buffer(home, max(t.nbytes for t in types), max(4, *(t.np_dtype.itemsize for t in types)), first, last)

    def _scratches(self) -> list[Buffer]:
        return [
            Buffer(step.scratch_name, step.scratch_bytes, SCRATCH_ALIGN, event.step, event.step)
            for event in self.trace
            if (step := self.steps[event.step]).scratch_bytes
        ]


def build(graph: Graph, choices: Sequence[Choice], *, keep_input: bool) -> Schedule:
    """A schedule that runs each node once, whole, in graph order."""
    steps = tuple(Step(i, c) for i, c in enumerate(c for c in choices if c.kernel.form is not Form.ALIAS))
    trace = tuple(Event(s.index, 0, rows_of(s.choice.call.output.shape)) for s in steps)
    return Schedule(graph, steps, trace, _homes(graph, choices, keep_input), keep_input)


def _homes(graph: Graph, choices: Sequence[Choice], keep_input: bool) -> dict[str, str]:
    """Which buffer holds each tensor: aliases and in-place results live in their operand's."""
    last_use = {name: time for time, choice in enumerate(choices) for name in choice.node.inputs if name is not None}
    last_use |= dict.fromkeys(graph.outputs, len(choices))
    kept = set(graph.inputs) if keep_input else set()
    home = {name: name for name in graph.inputs}

    def dies(name: str, time: int) -> bool:
        return all(last_use.get(other, -1) <= time for other, at in home.items() if at == home[name])

    for time, choice in enumerate(choices):
        home.update((name, name) for name in choice.node.outputs)
        source = _alias_source(choice) or _overwritten(choice, home, kept, lambda name, t=time: dies(name, t))
        if source is not None:
            home[choice.node.outputs[0]] = home[source]
    return home


def _alias_source(choice: Choice) -> str | None:
    return choice.node.inputs[0] if choice.kernel.form is Form.ALIAS else None


def _overwritten(
    choice: Choice, home: dict[str, str], kept: set[str], dies: Callable[[str], bool]
) -> str | None:
    """The operand whose memory the kernel may write its output over, if one dies here and is large enough."""
    operands = [home[name] for name in choice.node.inputs if name in home]
    for k in choice.kernel.in_place:
        name = choice.node.inputs[k]
        if name is None or name not in home or home[name] in kept or operands.count(home[name]) > 1:
            continue
        if dies(name) and choice.call.input(k).nbytes >= choice.call.output.nbytes:
            return name
    return None
