"""SUM: sum over axes."""

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
    return Imported(Sum(**_reduce.attributes(source)), inputs=(0,))


@dataclass(frozen=True)
class Sum(_reduce_sum.ReducedSum):
    """y = sum of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, without the axes, or with size 1 there if keep_dims
    rounding: "even" for the exact sum, rounded once; see _rounding
    Source: TFLite SUM; kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """

    rounding: str = ""

    divides = False
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("u8 s32 s64 f32")
    imports = (Import("tflite", "SUM", from_tflite),)
    writes = (_reduce.written("SUM", s8=2), _onnx.reduced("ReduceSum"))

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "litert" and call.input(0).dtype in ("s8", "s16"):
            return f"it reads {call.input(0).dtype} as uint8"
        return super().refused_by(call, runtime)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    @classmethod
    def examples(cls) -> Sequence[Example]:
        plain = super().examples()
        return [*plain, *_reduce_sum.stated(plain, "even")]

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum(x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))
