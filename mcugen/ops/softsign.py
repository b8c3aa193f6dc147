"""SOFTSIGN: each element, bounded."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Softsign(FloatFunction):
    """y = x / (1 + |x|).

    x, y: f32
    Source: ONNX Softsign-22.
    """

    imports = (Import("onnx", "Softsign"),)
    writes = (_onnx.same("Softsign"),)
    element: ClassVar = {"f32": Element("a / (1.0f + fabs(a))")}
    kernels = _unary.kernels("mg_softsign", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x / (1.0 + np.abs(x)))
