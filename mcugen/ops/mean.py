"""MEAN: mean over axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.types import dtypes
from mcugen.ops import _onnx, _reduce, _reduce_sum


def from_tflite(source: Source) -> Imported:
    return Imported(Mean(**_reduce.attributes(source)), inputs=(0,))


@dataclass(frozen=True)
class Mean(_reduce_sum.ReducedSum):
    """y = mean of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, without the axes, or with size 1 there if keep_dims
    rounding: "even" for the exact mean, rounded once; "single" as QLinearGlobalAveragePool computes it; see _rounding
    Source: TFLite MEAN; kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """

    rounding: str = ""

    divides = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f32")
    imports = (Import("tflite", "MEAN", from_tflite),)
    writes = (_reduce.written("MEAN", s8=2, s16=3), _onnx.reduced("ReduceMean"))

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    @classmethod
    def examples(cls) -> Sequence[Example]:
        plain = super().examples()
        return [*plain, *_reduce_sum.stated(plain, "even"), *_reduce_sum.stated(plain, "single")]

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean(x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))
