"""SIN: the sine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Sin(FloatFunction):
    """y = sin(x).

    x, y: f32
    Source: TFLite SIN.
    """

    litert_types = dtypes("f16 f32")
    imports = (Import("tflite", "SIN"), Import("onnx", "Sin"))
    writes = (_tflite.same("SIN"), _onnx.same("Sin"))
    element: ClassVar = {"f32": Element("sin(a)")}
    kernels = _unary.kernels("mg_sin", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(x))
