"""ACOSH: the inverse hyperbolic cosine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Acosh(FloatFunction):
    """y = acosh(x); not a number below 1.

    x, y: f32
    Source: ONNX Acosh-9.
    """

    imports = (Import("onnx", "Acosh"),)
    writes = (_onnx.same("Acosh"),)
    element: ClassVar = {"f32": Element("acosh(a)")}
    kernels = _unary.kernels("mg_acosh", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.arccosh(x))
