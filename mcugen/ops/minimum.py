"""MINIMUM: the smaller element of two tensors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ops import _elementwise, _extreme, _onnx
from mcugen.ops._extreme import COMPUTED, ElementExtreme


class Minimum(ElementExtreme):
    """y = min(a, b), elementwise, broadcasting.

    a, b, y: one type of s8, u8, s16, s32 and f32; quantized operands share one scale and zero point
    Source: TFLite MINIMUM; maximum_minimum.h, which compares stored values.
    """

    chosen = np.minimum
    imports = (Import("tflite", "MINIMUM"),)
    writes = (_extreme.written("MINIMUM"), _onnx.same("Min"))
    element: ClassVar = dict.fromkeys(COMPUTED, Element("a < b ? a : b"))
    kernels = _elementwise.all_kernels("mg_minimum", element)
