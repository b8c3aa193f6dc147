"""FLOOR: each element rounded down."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Floor(FloatFunction):
    """y = x rounded down.

    x, y: f32
    Source: TFLite FLOOR.
    """

    litert_types = dtypes("f16 f32")
    imports = (Import("tflite", "FLOOR"), Import("onnx", "Floor"))
    writes = (_tflite.same("FLOOR"), _onnx.same("Floor"))
    element: ClassVar = {"f32": Element("floor(a)")}
    kernels = _unary.kernels("mg_floor", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.floor(x))
