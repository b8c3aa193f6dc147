"""ATANH: the inverse hyperbolic tangent of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Atanh(FloatFunction):
    """y = atanh(x); not a number outside [-1, 1].

    x, y: f32
    Source: ONNX Atanh-9.
    """

    imports = (Import("onnx", "Atanh"),)
    writes = (_onnx.same("Atanh"),)
    element: ClassVar = {"f32": Element("atanh(a)")}
    kernels = _unary.kernels("mg_atanh", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.arctanh(x))
