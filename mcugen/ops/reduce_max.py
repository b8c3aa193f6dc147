"""REDUCE_MAX: the largest value over axes."""

from __future__ import annotations

import numpy as np

from mcugen.ir.imports import Import, Imported, Source
from mcugen.ops import _onnx, _reduce, _reduce_extreme


def from_tflite(source: Source) -> Imported:
    return Imported(ReduceMax(**_reduce.attributes(source)), inputs=(0,))


class ReduceMax(_reduce_extreme.ReducedExtreme):
    """y = largest value of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, with x's scale, without the axes, or with size 1 there if keep_dims
    Source: TFLite REDUCE_MAX.
    """

    chosen_by = np.maximum
    imports = (Import("tflite", "REDUCE_MAX", from_tflite),)
    writes = (_reduce.written("REDUCE_MAX", s8=2, s16=3), _onnx.reduced("ReduceMax"))
    kernels = _reduce_extreme.kernels("mg_reduce_max")
