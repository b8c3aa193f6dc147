"""REDUCE_MIN: the smallest value over axes."""

from __future__ import annotations

import numpy as np

from mcugen.ir.imports import Import, Imported, Source
from mcugen.ops import _onnx, _reduce, _reduce_extreme


def from_tflite(source: Source) -> Imported:
    return Imported(ReduceMin(**_reduce.attributes(source)), inputs=(0,))


class ReduceMin(_reduce_extreme.ReducedExtreme):
    """y = smallest value of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, with x's scale, without the axes, or with size 1 there if keep_dims
    Source: TFLite REDUCE_MIN.
    """

    chosen_by = np.minimum
    imports = (Import("tflite", "REDUCE_MIN", from_tflite),)
    writes = (_reduce.written("REDUCE_MIN", s8=2, s16=3), _onnx.reduced("ReduceMin"))
    kernels = _reduce_extreme.kernels("mg_reduce_min")
