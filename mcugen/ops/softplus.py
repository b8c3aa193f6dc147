"""SOFTPLUS: a smooth form of the rectifier, for each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Softplus(FloatFunction):
    """y = log(1 + exp(x)), computed without overflow.

    x, y: f32
    Source: ONNX Softplus-22.
    """

    imports = (Import("onnx", "Softplus"),)
    writes = (_onnx.same("Softplus"),)
    element: ClassVar = {"f32": Element("(a > 0.0f ? a : 0.0f) + log1p(exp(-fabs(a)))")}
    kernels = _unary.kernels("mg_softplus", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))
