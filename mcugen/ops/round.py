"""ROUND: each element rounded to the nearest integer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction


class Round(FloatFunction):
    """y = x to the nearest integer, halves to even.

    x, y: f32
    Source: TFLite ROUND.
    """

    litert_types = dtypes("f16 f32")
    imports = (Import("tflite", "ROUND"), Import("onnx", "Round"))
    writes = (_tflite.same("ROUND"), _onnx.same("Round"))
    element: ClassVar = {"f32": Element("rint(a)")}
    kernels = _unary.kernels("mg_round", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.rint(x))
