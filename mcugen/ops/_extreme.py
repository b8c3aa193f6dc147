"""Shared recipe of MAXIMUM and MINIMUM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.ir.op import Example
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _tflite
from mcugen.ops._channelwise import Pointwise

COMPUTED = ("s8", "s16", "s32", "f32")
_TYPES = (*COMPUTED, "u8")


def written(name: str) -> Write:
    """How MAXIMUM or MINIMUM is written to TensorFlow Lite. name: which of the two."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        x, broadcasts = call.input(0), call.input(0).shape != call.input(1).shape
        number = 3 if broadcasts and len(call.output.shape) > 4 else _tflite.version(x, s8=2)
        return _tflite.operator(call, sink, name, inputs, {}, 4 if x.dtype == "s16" else number)

    return Write("tflite", write)


class ElementExtreme(Pointwise):
    """The larger or the smaller of two elements: a subclass defines `chosen`. Both runtimes compare stored values."""

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 s64 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f16 f32")
    chosen: ClassVar[np.ufunc]

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        result = _elementwise.broadcast_types(a, b, _TYPES)
        if a is not None and b is not None and a.quant != b.quant:
            raise QuantizationError(f"{a} and {b} are compared as stored, but their scales or zero points differ")
        return (result,)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(self.chosen(a, b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.reference(a, b)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (_elementwise.corners(call),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [e for k, t in enumerate(COMPUTED) for e in _elementwise.same_scale(cls(), t, 10 * k)]
