"""ASIN: the arc sine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Asin(FloatFunction):
    """y = asin(x); not a number outside [-1, 1].

    x, y: f32
    Source: ONNX Asin-7.
    """

    imports = (Import("onnx", "Asin"),)
    writes = (_onnx.same("Asin"),)
    element: ClassVar = {"f32": Element("asin(a)")}
    kernels = _unary.kernels("mg_asin", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.arcsin(x))
