"""TAN: the tangent of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Tan(FloatFunction):
    """y = tan(x).

    x, y: f32
    Source: ONNX Tan-7.
    """

    imports = (Import("onnx", "Tan"),)
    writes = (_onnx.same("Tan"),)
    element: ClassVar = {"f32": Element("tan(a)")}
    kernels = _unary.kernels("mg_tan", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.tan(x))
