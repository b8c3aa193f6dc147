"""Front ends: the operators that words of `--preprocess` become, between samples and the input of a network.

The host computes features by running these operators in the oracle, and a build makes them part of the model, so both
have the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.graph import Graph, Node, State, Tensor
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import NUMPY_DTYPES, QuantParams, TensorType
from mcugen.ops.cast import Cast
from mcugen.ops.reshape import Reshape

REFERENCE = "litert"
"""The runtime whose arithmetic operators without pinned bits have; none of them differs between runtimes."""
_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


class FrontEnd:
    """A graph under construction, from samples [n, *shape of a sample] on.

    rate: samples a second of the present value. channels: the axis of [n, ...] that holds the channels, None if it is
    unknown. has_windows: whether the present value is features of windows [n, windows, features] of a sound.
    source: the option, as the place of its operators
    """

    def __init__(
        self, given: TensorType, rate: float = 0, channels: int | None = None, source: str = "--preprocess"
    ) -> None:
        self.rate, self.channels, self.source = rate, channels, source
        self.has_windows = False
        self.given = "given"
        self._tensors = {self.given: Tensor(self.given, given)}
        self._nodes: list[Node] = []
        self._states: dict[str, State] = {}

    def type(self, name: str) -> TensorType:
        """The type of a value."""
        return self._tensors[name].type

    def constant(self, data: np.ndarray) -> str:
        """A new constant; float64 becomes float32. Raises ValueError for numbers beyond float32."""
        with np.errstate(over="ignore"):
            stored = np.array(data, np.float32 if data.dtype == np.float64 else data.dtype)
        if stored.dtype == np.float32 and not np.isfinite(stored).all():
            raise ValueError("has numbers that float32 cannot hold")
        return self._tensor(TensorType(stored.shape, _NAMES[stored.dtype]), stored)

    def node(self, op: Op, *inputs: str, quant: QuantParams | None = None) -> str:
        """Append an operator; returns its result. quant: the result's scale and zero point."""
        name = self._tensor(replace(op.infer(*(self.type(x) for x in inputs))[0], quant=quant))
        self._nodes.append(Node(f"n{len(self._nodes)}", op, inputs, (name,), self.source))
        return name

    def nodes(self, op: Op, *inputs: str) -> Sequence[str]:
        """Append an operator; returns all its results."""
        names = tuple(self._tensor(t) for t in op.infer(*(self.type(x) for x in inputs)))
        self._nodes.append(Node(f"n{len(self._nodes)}", op, inputs, names, self.source))
        return names

    def state(self, initial: np.ndarray) -> str:
        """A value of the run before; in the first run `initial`."""
        name = self._tensor(TensorType(initial.shape, _NAMES[initial.dtype]))
        self._states[name] = State(name, name, initial)
        return name

    def keep(self, state: str, value: str) -> None:
        """Make a value that of a state in the next run."""
        self._states[state] = replace(self._states[state], after=value)

    def real(self, x: str) -> str:
        """A value as float32."""
        return x if self.type(x).is_float else self.node(Cast("f32"), x)

    def channels_of(self, x: str, count: int) -> int:
        """The axis of a value that has `count` channels. Raises ValueError if none or several axes fit."""
        shape = self.type(x).shape
        ends = {1, len(shape) - 1} if self.channels is None else {self.channels}
        fitting = [axis for axis in sorted(ends) if shape[axis : axis + 1] == (count,)]
        if len(fitting) != 1:
            what = "could be those of several axes" if fitting else "do not match"
            raise ValueError(f"{count} numbers for channels {what}: samples are {list(shape[1:])}")
        return fitting[0]

    def shaped(self, x: str, shape: Sequence[int]) -> str:
        """A value in another shape."""
        return x if self.type(x).shape == tuple(shape) else self.node(Reshape(tuple(shape)), x)

    def graph(self, result: str, label: str = "") -> Graph:
        """The finished graph. label: a name for its input."""
        tensors = {**self._tensors, self.given: replace(self._tensors[self.given], label=label)}
        states = tuple(self._states.values())
        return Graph(self.source, tensors, tuple(self._nodes), (self.given,), (result,), states=states)

    def _tensor(self, t: TensorType, data: np.ndarray | None = None) -> str:
        name = f"v{len(self._tensors)}"
        self._tensors[name] = Tensor(name, t, data)
        return name


class Appended(Protocol):
    """A word with its value, which appends operators to a front end."""

    @property
    def text(self) -> str: ...

    def appended(self, front: FrontEnd, x: str) -> str:
        """Append the operators; returns their result. Raises ValueError if the word does not fit the value x."""


class StepError(ValueError):
    """A word that does not fit the samples. step: its text."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


def appended(front: FrontEnd, x: str, steps: Sequence[Appended]) -> str:
    """Append the operators of words, in their order; returns their result. Raises StepError."""
    for step in steps:
        try:
            x = step.appended(front, x)
        except (ValueError, McugenError) as error:
            raise StepError(step.text, str(error)) from error
    return x


def applied(steps: Sequence[Any], block: np.ndarray, rate: float = 0, channels: int | None = None) -> np.ndarray:
    """Samples [n, ...] after words. Raises StepError."""
    if not steps:
        return block
    given = TensorType(block.shape, _NAMES[block.dtype])
    return _run(_built(StepSequence(tuple(steps)), given, rate, channels), block)


class StepSequence(tuple[Any, ...]):
    """Words that are compared by their texts, since their values may be arrays."""

    def __new__(cls, steps: Sequence[Any]) -> StepSequence:
        return super().__new__(cls, steps)

    def __hash__(self) -> int:
        return hash(tuple(step.text for step in self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepSequence) and [s.text for s in self] == [s.text for s in other]


@functools.lru_cache(8)
def _built(steps: StepSequence, given: TensorType, rate: float, channels: int | None) -> Graph:
    front = FrontEnd(given, rate, channels)
    return front.graph(appended(front, front.given, steps))


def _run(graph: Graph, x: np.ndarray) -> np.ndarray:
    """The result of a front end in the oracle. Values that no node reads any more are dropped."""
    values = {name: t.data for name, t in graph.tensors.items() if t.data is not None} | {graph.inputs[0]: x}
    last = {name: k for k, node in enumerate(graph.nodes) for name in node.inputs}
    for k, node in enumerate(graph.nodes):
        operands = [None if name is None else values[name] for name in node.inputs]
        values[node.outputs[0]] = evaluate(graph.call(node, REFERENCE), operands)[0]
        for name in {name for name in node.inputs if name is not None and last[name] == k} - set(graph.outputs):
            del values[name]
    return values[graph.outputs[0]]
