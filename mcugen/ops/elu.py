"""ELU: the exponential linear unit of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Elu(FloatFunction):
    """y = x where x >= 0, exp(x) - 1 elsewhere.

    x, y: f32; s8 in files becomes a table of bytes
    Source: TFLite ELU.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 f32")
    imports = (Import("tflite", "ELU"),)
    writes = (_tflite.same("ELU"), _onnx.same("Elu"))
    element: ClassVar = {"f32": Element("a < 0.0f ? expm1(a) : a")}
    kernels = _unary.kernels("mg_elu", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x))
