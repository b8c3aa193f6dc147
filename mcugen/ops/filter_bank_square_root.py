"""SignalFilterBankSquareRoot: the square root of each energy."""

from __future__ import annotations

import math
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

_MOST = 31


def from_tflite(source: Source) -> Imported:
    _signal.no_options(source)
    return Imported(FilterBankSquareRoot())


def params(call: Call) -> Params:
    return {"size": call.output.size}


@dataclass(frozen=True)
class FilterBankSquareRoot(Op):
    """y = sqrt(x) >> bits. The root is rounded to the nearest integer, at most 65535 for x below 2^32.

    x: u64 [n]   bits: s32, one number, clamped to 0 to 31: C leaves other shifts undefined   y: u32 [n]
    Source: TFLM signal library, filter_bank_square_root.cc, square_root_32.cc, square_root_64.cc.
    """

    tflm_types = dtypes("u64")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFilterBankSquareRoot", from_tflite),)
    writes = (_tflite.custom("SignalFilterBankSquareRoot"),)
    kernels = (Kernel("mg_filter_bank_square_root", Whole(), params=params, operands=(0, 1), short="bank_root"),)

    def infer(self, x: TensorType | None, bits: TensorType | None) -> tuple[TensorType, ...]:
        x = _signal.vector("energy", x, "u64")
        if bits is None or bits.dtype != "s32" or bits.size != 1:
            raise ShapeError(f"the shift {bits} must be one number of s32")
        return (TensorType(x.shape, "u32"),)

    def reference_q(self, call: Call, x: np.ndarray, bits: np.ndarray) -> np.ndarray:
        shift = min(max(int(bits.reshape(-1)[0]), 0), _MOST)
        return np.array([_root(int(v)) >> shift for v in x.reshape(-1)], np.int64)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        shift = TensorType((), "s32")
        return [
            Example(
                cls(), (x, shift), cls().infer(x, shift), {1: np.array(bits, np.int32)} if bits is not None else {}, k
            )
            for k, bits in enumerate((None, 3, 0))
            for x in [TensorType((17 + k,), "u64")]
        ]


def _root(x: int) -> int:
    root, most = math.isqrt(x), 0xFFFF if x < 1 << 32 else 0xFFFFFFFF
    return min(root + (x - root * root > root), most)
