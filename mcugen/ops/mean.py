"""MEAN: mean over axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.call import Call
from mcugen.channels import Range
from mcugen.imports import Import, Imported, Source
from mcugen.op import Example, Scaling
from mcugen.ops import _reduce, _reduce_sum
from mcugen.oracle import reductions
from mcugen.types import dtypes


def from_tflite(source: Source) -> Imported:
    return Imported(Mean(**_reduce.attributes(source)), inputs=(0,))


@dataclass(frozen=True)
class Mean(_reduce.Reduction):
    """y = mean of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, the axes left out, or of size 1 with keep_dims
    Source: TFLite MEAN; kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """

    divides: ClassVar[bool] = True

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "MEAN", from_tflite),)
    kernels = _reduce_sum.KERNELS

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean(x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return reductions.summed(call, x, self.chosen(x.ndim), mean=True)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float else {"scale": _reduce_sum.multiplier(call)}

    def scaling_q(self, call: Call) -> Scaling:
        axes = self.chosen(len(call.input(0).shape))
        return {} if call.output.is_float else {"scale": reductions.multiplier(call, axes, mean=True)}

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _reduce_sum.bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _reduce.examples(cls, rescaled=True)
