"""SIGN: -1, 0 or 1 for each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Sign(FloatFunction):
    """y = -1 where x is negative, 1 where it is positive, else x: zeros and what is not a number stay.

    x, y: f32
    Source: TFLite SIGN; ONNX Sign-13.
    """

    tflm_types = frozenset()
    litert_types = dtypes("s32 f32")
    imports = (Import("tflite", "SIGN"),)
    writes = (_tflite.same("SIGN"), _onnx.same("Sign"))
    element: ClassVar = {"f32": Element("a > 0.0f ? 1.0f : (a < 0.0f ? -1.0f : a)")}
    kernels = _unary.kernels("mg_sign", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sign(x))
