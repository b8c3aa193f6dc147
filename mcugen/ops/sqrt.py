"""SQRT: the square root of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.element import Element
from mcugen.imports import Import
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction
from mcugen.types import dtypes


class Sqrt(FloatFunction):
    """y = sqrt(x); not a number below 0.

    x, y: f32; s8 in files becomes a table of bytes
    Source: TFLite SQRT.
    """

    litert_types = dtypes("s8 f32")
    imports = (Import("tflite", "SQRT"), Import("onnx", "Sqrt"))
    writes = (_tflite.same("SQRT"), _onnx.same("Sqrt"))
    element: ClassVar = {"f32": Element("sqrt(a)")}
    kernels = _unary.kernels("mg_sqrt", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(x))
