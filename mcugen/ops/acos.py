"""ACOS: the arc cosine of each element."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _onnx, _unary
from mcugen.ops._float_function import FloatFunction


class Acos(FloatFunction):
    """y = acos(x); not a number outside [-1, 1].

    x, y: f32
    Source: ONNX Acos-7.
    """

    imports = (Import("onnx", "Acos"),)
    writes = (_onnx.same("Acos"),)
    element: ClassVar = {"f32": Element("acos(a)")}
    kernels = _unary.kernels("mg_acos", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.arccos(x))
