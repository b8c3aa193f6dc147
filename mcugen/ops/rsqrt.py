"""RSQRT: the reciprocal square root of each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _tflite, _unary
from mcugen.ops._float_function import FloatFunction


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    root = sink.operator("Sqrt", inputs, call.outputs)
    return sink.operator("Reciprocal", root, call.outputs)


class Rsqrt(FloatFunction):
    """y = 1 / sqrt(x); NaN below 0.

    x, y: f32; s8 in files is computed by a table of bytes, s16 by a Curve
    Source: TFLite RSQRT.
    """

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 s16 f32")
    imports = (Import("tflite", "RSQRT"),)
    writes = (_tflite.same("RSQRT"), Write("onnx", to_onnx))
    element: ClassVar = {"f32": Element("1.0f / sqrt(a)")}
    kernels = _unary.kernels("mg_rsqrt", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 / np.sqrt(x))
