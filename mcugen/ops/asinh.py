"""ASINH: the inverse hyperbolic sine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Asinh(FloatFunction):
    """y = asinh(x).

    x, y: f32
    Source: ONNX Asinh-9.
    """

    imports = (Import("onnx", "Asinh"),)
    writes = (_onnx.same("Asinh"),)
    element: ClassVar = {"f32": Element("asinh(a)")}
    kernels = _unary.kernels("mg_asinh", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.arcsinh(x))
