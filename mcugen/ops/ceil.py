"""CEIL: each element rounded up."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Ceil(FloatFunction):
    """y = x rounded up.

    x, y: f32
    Source: TFLite CEIL.
    """

    imports = (Import("tflite", "CEIL"), Import("onnx", "Ceil"))
    writes = (_tflite.same("CEIL"), _onnx.same("Ceil"))
    element: ClassVar = {"f32": Element("ceil(a)")}
    kernels = _unary.kernels("mg_ceil", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.ceil(x))
