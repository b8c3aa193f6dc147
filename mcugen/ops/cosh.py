"""A copy is never folded: its purpose is memory of its own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Cosh(FloatFunction):
    """y = cosh(x).

    x, y: f32
    Source: ONNX Cosh-9.
    """

    imports = (Import("onnx", "Cosh"),)
    writes = (_onnx.same("Cosh"),)
    element: ClassVar = {"f32": Element("cosh(a)")}
    kernels = _unary.kernels("mg_cosh", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.cosh(x))
