"""COS: the cosine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Cos(FloatFunction):
    """y = cos(x).

    x, y: f32
    Source: TFLite COS.
    """

    litert_types = dtypes("f16 f32")
    imports = (Import("tflite", "COS"), Import("onnx", "Cos"))
    writes = (_tflite.same("COS"), _onnx.same("Cos"))
    element: ClassVar = {"f32": Element("cos(a)")}
    kernels = _unary.kernels("mg_cos", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos(x))
