"""RECIPROCAL: one over each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Reciprocal(FloatFunction):
    """y = 1 / x.

    x, y: f32
    Source: ONNX Reciprocal-13.
    """

    imports = (Import("onnx", "Reciprocal"),)
    writes = (_onnx.same("Reciprocal"),)
    element: ClassVar = {"f32": Element("1.0f / a")}
    kernels = _unary.kernels("mg_reciprocal", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.reciprocal(x))
