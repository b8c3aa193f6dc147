"""NaturalLog: a logarithm with the same bits on every computer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.op import Example
from mcugen.ir.types import dtypes
from mcugen.ops import _unary
from mcugen.ops._float_function import FloatFunction

_LEAST = np.float32(2.0**-126)
_ROOT = np.uint32(0x3F3504F3)
"""The bits of the root of 1/2."""
_TAPS = (
    -0.11675641,
    0.11888175,
    -0.124055915,
    0.14219551,
    -0.16667996,
    0.20002119,
    -0.2500001,
    0.33333313,
)
"""The coefficients after the first of the polynomial of (log(1 + f) - f + f^2 / 2) / f^3, highest power first."""


class NaturalLog(FloatFunction):
    """y = ln(max(x, 2^-126)); NaN counts as 2^-126. Each operation rounds to f32: + - * and the bits of the exponent.

    x, y: f32. The relative error is at most 8e-8.
    Source: none, the logarithm of `--preprocess`. The operator Log calls the C library instead.
    """

    tflm_types = litert_types = dtypes("")
    exact_floats = True
    element: ClassVar = {"f32": Element("mg_natural_log(a)", headers=("natural_log.h",))}
    kernels = _unary.kernels("mg_natural_log", element)

    def reference(self, x: np.ndarray) -> np.ndarray:
        values = np.atleast_1d(x).astype(np.float32)
        values = np.where(values > _LEAST, values, _LEAST)
        above = values.view(np.uint32) - _ROOT
        f = (values.view(np.uint32) - (above & np.uint32(0xFF800000))).view(np.float32) - np.float32(1)
        e = (above.view(np.int32) >> 23).astype(np.float32)
        total = np.full_like(f, 0.06746601)
        for tap in _TAPS:
            total = total * f + np.float32(tap)
        square = f * f
        total = square * f * total + e * np.float32(-2.1219444e-4)
        total = f + (total - np.float32(0.5) * square)
        return np.asarray(total + e * np.float32(0.693359375)).reshape(x.shape)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [*_unary.examples(cls(), "f32"), *_unary.examples(cls(), "f32", seed=3)]
