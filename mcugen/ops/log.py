"""LOG: the natural logarithm of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Log(FloatFunction):
    """y = log(x); not a number below 0.

    x, y: f32; s8 in files becomes a table of bytes, s16 a Curve
    Source: TFLite LOG.
    """

    litert_types = dtypes("s8 s16 f32")
    imports = (Import("tflite", "LOG"), Import("onnx", "Log"))
    writes = (_tflite.same("LOG"), _onnx.same("Log"))
    element: ClassVar = {"f32": Element("log(a)")}
    kernels = _unary.kernels("mg_log", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(x))
