"""MAXIMUM: the larger of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.call import Call
from mcugen.channels import Range
from mcugen.element import Element
from mcugen.errors import QuantizationError
from mcugen.imports import Import
from mcugen.op import Example, Reordered
from mcugen.ops import _elementwise, _ordered
from mcugen.ops._channelwise import Channelwise
from mcugen.order import Order
from mcugen.types import TensorType, dtypes

_TYPES = ("s8", "u8", "s16", "s32", "f32")


@dataclass(frozen=True)
class Maximum(Channelwise):
    """y = max(a, b), elementwise, broadcasting.

    a, b, y: one type of s8, u8, s16, s32 and f32; quantized ones share one scale and zero point
    Source: TFLite MAXIMUM; maximum_minimum.h, which compares stored values.
    """

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 f32")
    imports = (Import("tflite", "MAXIMUM"),)
    element: ClassVar = dict.fromkeys(("s8", "s16", "s32", "f32"), Element("a > b ? a : b"))
    kernels = _elementwise.all_kernels("mg_maximum", element)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        result = _elementwise.broadcast_types(a, b, _TYPES)
        if a is not None and b is not None and a.quant != b.quant:
            raise QuantizationError(f"{a} and {b} are compared as stored, but their scales or zero points differ")
        return (result,)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(a, b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(a, b))

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (_elementwise.corners(call),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [e for k, t in enumerate(("s8", "s16", "s32", "f32")) for e in _elementwise.same_scale(cls(), t, 10 * k)]
