"""SINH: the hyperbolic sine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Sinh(FloatFunction):
    """y = sinh(x).

    x, y: f32
    Source: ONNX Sinh-9.
    """

    imports = (Import("onnx", "Sinh"),)
    writes = (_onnx.same("Sinh"),)
    element: ClassVar = {"f32": Element("sinh(a)")}
    kernels = _unary.kernels("mg_sinh", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.sinh(x))
