"""ATAN: the arc tangent of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Atan(FloatFunction):
    """y = atan(x).

    x, y: f32
    Source: ONNX Atan-7.
    """

    imports = (Import("onnx", "Atan"),)
    writes = (_onnx.same("Atan"),)
    element: ClassVar = {"f32": Element("atan(a)")}
    kernels = _unary.kernels("mg_atan", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.arctan(x))
