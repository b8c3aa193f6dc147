"""Front ends: the operators that words of `--preprocess` become, between samples and the input of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node, State, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import DTYPE_NAMES, QuantParams, TensorType
from mcugen.ops.banded import Banded
from mcugen.ops.cast import Cast
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.reshape import Reshape


class FrontEnd:
    """A graph under construction, from samples [n, *shape of a sample] on.

    rate: samples a second of the present value. channels: the axis of [n, ...] that holds the channels, None if it is
    unknown. has_windows: whether the present value is windows, or features of windows [n, windows, features].
    frames: windows of motion, from which words make features; "" if there are none.
    option: the option that the words are given by; `word`: the word that is being appended, "" for none. The source of
    an operator is `role` and the word, or the option without a word.
    """

    def __init__(
        self,
        given: TensorType,
        rate: float = 0,
        channels: int | None = None,
        option: str = "--preprocess",
        role: str = "",
    ) -> None:
        self.rate, self.channels, self.option, self.role, self.word = rate, channels, option, role, ""
        self.has_windows, self.frames = False, ""
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
        return self._tensor(TensorType(stored.shape, DTYPE_NAMES[stored.dtype]), stored)

    def node(self, op: Op, *inputs: str, quant: QuantParams | None = None) -> str:
        """Append an operator; returns its first result. quant: the result's scale and zero point."""
        return self.nodes(op, *inputs, quant=quant)[0]

    def nodes(self, op: Op, *inputs: str, quant: QuantParams | None = None) -> Sequence[str]:
        """Append an operator; returns all its results."""
        types = op.infer(*(self.type(x) for x in inputs))
        names = tuple(self._tensor(replace(t, quant=quant)) for t in types)
        source = self.role + (self.word or self.option)
        self._nodes.append(Node(f"n{len(self._nodes)}", op, inputs, names, source))
        return names

    def state(self, initial: np.ndarray) -> str:
        """A new state; returns its value of the run before, which is `initial` in the first run."""
        name = self._tensor(TensorType(initial.shape, DTYPE_NAMES[initial.dtype]))
        self._states[name] = State(name, name, initial)
        return name

    def keep(self, state: str, value: str) -> None:
        """Set the value that a state has in the next run."""
        self._states[state] = replace(self._states[state], after=value)

    def real(self, x: str) -> str:
        """A value as float32."""
        t = self.type(x)
        return x if t.is_float else self.node(Cast("f32") if t.quant is None else Dequantize(), x)

    def channels_of(self, x: str, count: int) -> int:
        """The axis of a value that has `count` channels. Raises ValueError if none or several axes fit."""
        shape = self.type(x).shape
        ends = {1, len(shape) - 1} if self.channels is None else {self.channels}
        fitting = [axis for axis in sorted(ends) if shape[axis : axis + 1] == (count,)]
        if len(fitting) != 1:
            what = "more than one axis" if fitting else "no axis"
            raise ValueError(f"{count} numbers, one per channel, fit {what} of samples of shape {list(shape[1:])}")
        return fitting[0]

    def total(self, x: str, axis: int, weight: float) -> str:
        """The sum along an axis, which keeps one element, times `weight`. The order of the additions is fixed."""
        weights = np.full((1, self.type(x).shape[axis]), float(weight))
        return self.node(Banded(axis, (0,), 1), x, self.constant(weights))

    def shaped(self, x: str, shape: Sequence[int]) -> str:
        """A value in another shape."""
        return x if self.type(x).shape == tuple(shape) else self.node(Reshape(tuple(shape)), x)

    def graph(self, result: str, label: str = "") -> Graph:
        """The finished graph. label: a name for its input."""
        tensors = {**self._tensors, self.given: replace(self._tensors[self.given], label=label)}
        states = tuple(self._states.values())
        return Graph(self.option, tensors, tuple(self._nodes), (self.given,), (result,), states=states)

    def _tensor(self, t: TensorType, data: np.ndarray | None = None) -> str:
        name = f"v{len(self._tensors)}"
        self._tensors[name] = Tensor(name, t, data)
        return name
