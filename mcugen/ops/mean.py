"""MEAN: mean over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.imports import Import, Imported, Source
from mcugen.ops import _reduce, _reduce_sum
from mcugen.types import dtypes


def from_tflite(source: Source) -> Imported:
    return Imported(Mean(**_reduce.attributes(source)), inputs=(0,))


@dataclass(frozen=True)
class Mean(_reduce_sum.Sums):
    """y = mean of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, the axes left out, or of size 1 with keep_dims
    Source: TFLite MEAN; kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """

    divides = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "MEAN", from_tflite),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean(x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))
