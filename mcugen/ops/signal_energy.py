"""SignalEnergy: the squared magnitude of each bin of a spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number


def from_tflite(source: Source) -> Imported:
    options = flexbuffer.options(source.attributes["custom_options"], start_index=0, end_index=0)
    return Imported(SignalEnergy(int(options["start_index"]), int(options["end_index"])))


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, SignalEnergy)
    return {"size": call.output.size, "start": op.start, "end": op.end}


def _options(call: Call) -> dict[str, Number]:
    return {"start_index": call.op.start, "end_index": call.op.end}


@dataclass(frozen=True)
class SignalEnergy(Op):
    """y[k] = re[k]^2 + im[k]^2 for start <= k < end, else 0. The runtime does not write the other y.

    x: s16 [2 * n], real and imaginary parts alternating   y: u32 [n]
    Source: TFLM signal library, energy.cc.
    """

    start: int
    end: int

    tflm_types = dtypes("s16")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalEnergy", from_tflite),)
    writes = (_tflite.custom("SignalEnergy", _options),)
    kernels = (Kernel("mg_signal_energy", Whole(), params=params),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _signal.vector("spectrum", x, "s16")
        if x.size % 2 or not 0 <= self.start <= self.end <= x.size // 2:
            raise ShapeError(f"bins {self.start} to {self.end} do not exist in a spectrum of {x.size // 2} bins")
        return (TensorType((x.size // 2,), "u32"),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        parts = x.astype(np.int64).reshape(-1, 2)
        found = (parts**2).sum(axis=1)
        k = np.arange(found.size)
        return np.where((k >= self.start) & (k < self.end), found, 0)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(op, (x,), op.infer(x), {}, k)
            for k, (size, start, end) in enumerate(((34, 3, 15), (10, 0, 5), (6, 2, 2)))
            for op, x in [(cls(start, end), TensorType((size,), "s16"))]
        ]
