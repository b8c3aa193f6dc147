"""EXP: the exponential of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Exp(FloatFunction):
    """y = exp(x).

    x, y: f32; s8 in files becomes a table of bytes, s16 a Curve
    Source: TFLite EXP.
    """

    litert_types = dtypes("s8 s16 f32")
    imports = (Import("tflite", "EXP"), Import("onnx", "Exp"))
    writes = (_tflite.same("EXP"), _onnx.same("Exp"))
    element: ClassVar = {"f32": Element("exp(a)")}
    kernels = _unary.kernels("mg_exp", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(x))
