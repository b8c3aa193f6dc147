"""ERF: the error function of each element."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Erf(FloatFunction):
    """y = erf(x).

    x, y: f32
    Source: ONNX Erf-13.
    """

    imports = (Import("onnx", "Erf"),)
    writes = (_onnx.same("Erf"),)
    element: ClassVar = {"f32": Element("erf(a)")}
    kernels = _unary.kernels("mg_erf", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))
