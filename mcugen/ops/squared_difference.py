"""SQUARED_DIFFERENCE: (a - b)^2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.call import Call
from mcugen.element import Element
from mcugen.imports import Import
from mcugen.op import Example
from mcugen.ops import _elementwise, _onnx, _tflite
from mcugen.ops._channelwise import Pointwise
from mcugen.types import TensorType, dtypes
from mcugen.writes import Sink, Write


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    apart = sink.operator("Sub", inputs, [_onnx.real(call.output)])[0]
    return sink.operator("Mul", [apart, apart], call.outputs)


class SquaredDifference(Pointwise):
    """y = (a - b)^2, elementwise, broadcasting.

    a, b, y: f32
    Source: TFLite SQUARED_DIFFERENCE.
    """

    tflm_types = dtypes("f32")
    litert_types = dtypes("f32")
    imports = (Import("tflite", "SQUARED_DIFFERENCE"),)
    writes = (_tflite.same("SQUARED_DIFFERENCE", s8=2), Write("onnx", to_onnx))
    element: ClassVar = {"f32": Element("(a - b) * (a - b)")}
    kernels = _elementwise.all_kernels("mg_squared_difference", element)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (_elementwise.broadcast_types(a, b, ("f32",)),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray((a - b) ** 2)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _elementwise.examples(cls(), "f32", [(1, 1, 1)])
