"""SignalWindow: samples, multiplied by a window function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _elementwise, _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

_MOST = 31


def from_tflite(source: Source) -> Imported:
    options = flexbuffer.options(source.attributes["custom_options"], shift=0)
    return Imported(SignalWindow(int(options["shift"])))


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, SignalWindow)
    return {"shift": op.shift}


def _options(call: Call) -> dict[str, Number]:
    return {"shift": call.op.shift}


@dataclass(frozen=True)
class SignalWindow(Op):
    """y = saturate((x * w) >> shift), with w along the last axis.

    x, y: s16 [..., n]   w: s16 [n]
    Source: TFLM signal library, window.cc.
    """

    shift: int = 0

    tflm_types = dtypes("s16")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalWindow", from_tflite),)
    writes = (_tflite.custom("SignalWindow", _options),)
    element: ClassVar = {
        "s16": Element("mg_clamp((a * b) >> shift, -32768, 32767)", {"shift": "int32_t"}, params),
    }
    kernels = _elementwise.all_kernels("mg_signal_window", element)

    def infer(self, x: TensorType | None, w: TensorType | None) -> tuple[TensorType, ...]:
        w = _signal.vector("window", w, "s16")
        if x is None or x.dtype != "s16" or x.shape[-1:] != w.shape:
            raise ShapeError(f"data {x} must be int16, with a last axis of {w.size} as the window")
        if not 0 <= self.shift <= _MOST:
            raise UnsupportedError(f"shift={self.shift} must be between 0 and {_MOST}")
        return (TensorType(x.shape, "s16"),)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip((x.astype(np.int64) * w.astype(np.int64)) >> self.shift, -32768, 32767))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = []
        cases = (((1, 37), True), ((2, 5), True), ((8,), False), ((3, 7), False), ((4, 1), True))
        for k, (shape, constant) in enumerate(cases):
            x, w = TensorType(shape, "s16"), TensorType(shape[-1:], "s16")
            op = cls((12, 0, 15, 3, 7)[k])
            made.append(Example(op, (x, w), op.infer(x, w), {1: None} if constant else {}, k))
        return made
