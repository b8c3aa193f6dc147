"""SignalFftAutoScale: samples, shifted left as far as the largest sample allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _signal, _tflite


def from_tflite(source: Source) -> Imported:
    _signal.no_options(source)
    return Imported(FftAutoScale())


def params(call: Call) -> Params:
    return {"size": call.input(0).size}


@dataclass(frozen=True)
class FftAutoScale(Op):
    """y = x << b, with the largest b for which each |y| fits in 15 bits; b = 0 if all x are 0.

    x, y: s16, any shape   b: s32 []
    Source: TFLM signal library, fft_auto_scale.cc.
    """

    tflm_types = dtypes("s16")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFftAutoScale", from_tflite),)
    writes = (_tflite.custom("SignalFftAutoScale"),)
    kernels = (Kernel("mg_fft_auto_scale", Whole(), params=params),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "s16":
            raise UnsupportedError(f"the samples {x} must be int16")
        return TensorType(x.shape, "s16"), TensorType((), "s32")

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        largest = int(np.abs(x.astype(np.int64)).max(initial=0))
        bits = max(0, 15 - largest.bit_length()) if largest else 0
        return x.astype(np.int64) << bits, np.array(bits)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(cls(), (x,), cls().infer(x), {}, k)
            for k, shape in enumerate(((48,), (1, 3), (1,)))
            for x in [TensorType(shape, "s16")]
        ]
