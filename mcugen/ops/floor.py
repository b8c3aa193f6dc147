"""FLOOR: each element rounded down."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.element import Element
from mcugen.imports import Import
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction
from mcugen.types import dtypes


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
