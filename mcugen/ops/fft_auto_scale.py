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
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _signal, _tflite


def from_tflite(source: Source) -> Imported:
    _signal.no_options(source)
    return Imported(FftAutoScale())


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """SignalFftAutoScale. Raises UnsupportedError for the scaling of the microfrontend library."""
    if call.op.ignores_least:
        raise UnsupportedError("automatic scaling that ignores -32768 cannot be written as .tflite")
    return _tflite.customized(call, sink, "SignalFftAutoScale", inputs, None, call.outputs)


def params(call: Call) -> Params:
    return {"size": call.input(0).size}


def with_least(call: Call) -> bool:
    "samples of -32768 count"
    return not call.op.ignores_least


def without_least(call: Call) -> bool:
    "samples of -32768 are ignored"
    return bool(call.op.ignores_least)


@dataclass(frozen=True)
class FftAutoScale(Op):
    """y = x << b, with the largest b for which each |y| fits in 15 bits; b = 0 if all x are 0.

    x, y: s16, any shape   b: s32 []
    ignores_least: whether b ignores samples of -32768, which become 0 if all other |x| are below 2^14
    Source: TFLM signal library, fft_auto_scale.cc; with ignores_least the microfrontend library, window.c.
    """

    ignores_least: bool = False

    tflm_types = dtypes("s16")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFftAutoScale", from_tflite),)
    writes = (Write("tflite", to_tflite),)
    kernels = (
        Kernel("mg_fft_auto_scale", Whole(), (with_least,), params),
        Kernel("mg_fft_auto_scale__least", Whole(), (without_least,), params),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "s16":
            raise UnsupportedError(f"the samples {x} must be int16")
        return TensorType(x.shape, "s16"), TensorType((), "s32")

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        wide = x.astype(np.int64)
        largest = int(np.abs(np.where(wide == -32768, 0, wide) if self.ignores_least else wide).max(initial=0))
        bits = max(0, 15 - largest.bit_length()) if largest else 0
        gone = (wide == -32768) & self.ignores_least & (largest < 1 << 14)
        return np.where(gone, 0, wide << bits), np.array(bits)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(cls(ignores_least), (x,), cls().infer(x), {}, k)
            for ignores_least in (False, True)
            for k, shape in enumerate(((48,), (1, 3), (1,)))
            for x in [TensorType(shape, "s16")]
        ]
