"""Shared recipe of writing recurrent float layers to TensorFlow Lite, unrolled: each step has operators of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink

MOST = 128
"""The most steps that a layer is unrolled to."""

_PLAIN = {"fused_activation_function": "NONE"}
_FUNCTIONS = {"Sigmoid": "LOGISTIC", "Tanh": "TANH", "Relu": "RELU"}


class FloatVectors:
    """A builder of operators on float vectors [B, N]."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def constant(self, values: np.ndarray | float) -> str:
        return self._sink.constant(np.asarray(values, np.float32))

    def data(self, name: str | None) -> np.ndarray:
        """The data of constant weights. Raises UnsupportedError if they are computed at run time."""
        found = None if name is None else self._sink.data(name)
        if found is None:
            raise UnsupportedError("weights of a recurrent layer must be constant to be written")
        return found

    def part(self, name: str, first: int, end: int) -> str:
        """Elements first to end of a vector."""
        found = self._sink.data(name)
        if found is not None:
            return self.constant(found[first:end])
        bounds = [self._sink.constant(np.array([n], np.int32)) for n in (first, end - first)]
        return self._sink.operator("SLICE", [name, *bounds], [TensorType((end - first,), "f32")], {}, 1)[0]

    def dense(self, x: str, w: np.ndarray, b: str | None = None) -> str:
        """W x + b."""
        made = TensorType((self._sink.type(x).shape[0], len(w)), "f32")
        attributes = {**_PLAIN, "weights_format": "DEFAULT", "keep_num_dims": False}
        fixed = b if b is not None and self._sink.data(b) is not None else None
        operands = [x, self.constant(w), fixed or self.constant(np.zeros(len(w)))]
        y = self._sink.operator("FULLY_CONNECTED", operands, [made], attributes, 1)[0]
        return y if b == fixed or b is None else self.add(y, b)

    def add(self, a: str, b: str) -> str:
        return self._binary("ADD", a, b)

    def mul(self, a: str, b: str) -> str:
        return self._binary("MUL", a, b)

    def rest(self, x: str) -> str:
        """1 - x."""
        y = self._sink.type(x)
        return self._sink.operator("SUB", [self.constant(np.ones(1)), x], [y], _PLAIN, 1)[0]

    def within(self, x: str, limit: float) -> str:
        """x clamped to [-limit, limit]; a limit of 0 means no clamp."""
        if not limit:
            return x
        above = self._binary("MAXIMUM", x, self.constant(np.full(1, -limit)))
        return self._binary("MINIMUM", above, self.constant(np.full(1, limit)))

    def activated(self, kind: str, x: str, limit: float = 0.0) -> str:
        bounded = self.within(x, limit)
        return self._sink.operator(_FUNCTIONS[kind], [bounded], [self._sink.type(x)], {}, 1)[0]

    def parts(self, x: str, count: int) -> Sequence[str]:
        """x split into `count` equal parts along its last axis."""
        batches, size = self._sink.type(x).shape
        axis = self._sink.constant(np.array(1, np.int32))
        each = [TensorType((batches, size // count), "f32")] * count
        return self._sink.operator("SPLIT", [axis, x], each, {"num_splits": count}, 1)

    def _binary(self, name: str, a: str, b: str) -> str:
        attributes = _PLAIN if name in ("ADD", "MUL") else {}
        return self._sink.operator(name, [a, b], [self._sink.type(a)], attributes, 1)[0]


Step = Callable[[str, Sequence[str]], Sequence[str]]
"""(data of a step, states before it) -> states after it. The first state is also the step's result."""


def unrolled(call: Call, sink: Sink, x: str, states: Sequence[str], step: Step) -> Sequence[str]:
    """The results [T, B, H] of a layer on data x [T, B, I], then its states after the last step."""
    t, y = sink.type(x), call.outputs[0]
    if t.shape[0] > MOST:
        raise UnsupportedError(f"a recurrent layer of {t.shape[0]} steps: at most {MOST} can be written step by step")
    each = [t.with_shape(t.shape[1:])] * t.shape[0]
    rows = sink.operator("UNPACK", [x], each, {"axis": 0, "num": t.shape[0]}, 1)
    made = []
    for row in rows:
        states = step(row, states)
        made.append(states[0])
    packed = sink.operator("PACK", made, [y], {"axis": 0, "values_count": len(made)}, 1)
    return [*packed, *states]
