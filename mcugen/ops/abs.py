"""ABS: the absolute value of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.element import Element
from mcugen.imports import Import
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction
from mcugen.types import dtypes


class Abs(FloatFunction):
    """y = |x|.

    x, y: f32; s8 in files becomes a table of bytes
    Source: TFLite ABS.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 f32")
    imports = (Import("tflite", "ABS"),)
    writes = (_tflite.same("ABS"), _onnx.same("Abs"))
    element: ClassVar = {"f32": Element("fabs(a)")}
    kernels = _unary.kernels("mg_abs", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(x))
