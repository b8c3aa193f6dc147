"""SQUARE: the square of each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _tflite, _unary
from mcugen.ops._float_function import FloatFunction


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("Mul", [*inputs, *inputs], call.outputs)


class Square(FloatFunction):
    """y = x * x.

    x, y: f32
    Source: TFLite SQUARE.
    """

    imports = (Import("tflite", "SQUARE"),)
    writes = (_tflite.same("SQUARE"), Write("onnx", to_onnx))
    element: ClassVar = {"f32": Element("a * a")}
    kernels = _unary.kernels("mg_square", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * x)
