"""NEG: negation of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Neg(FloatFunction):
    """y = -x.

    x, y: f32; for integers in files imports make 0 - x
    Source: TFLite NEG.
    """

    litert_types = dtypes("s8 s16 s32 s64 f16 f32")
    imports = (Import("tflite", "NEG"),)
    writes = (_tflite.same("NEG"), _onnx.same("Neg"))
    element: ClassVar = {"f32": Element("-a")}
    kernels = _unary.kernels("mg_neg", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-x)
