"""DYNAMIC_UPDATE_SLICE: a copy of a tensor with one part replaced, whose position is computed at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _strided, _tflite

RANK = 6


def params(call: Call) -> Params:
    x, part = call.input(0), call.input(1)
    ones = (1,) * (RANK - len(x.shape))
    item = x.np_dtype.itemsize
    shape, size = (*ones, *x.shape), (*ones, *part.shape)
    return {
        "bytes": x.size * item,
        "item": item,
        "leading": len(ones),
        **{f"shape[{k}]": d for k, d in enumerate(shape)},
        **{f"size[{k}]": d for k, d in enumerate(size)},
    }


@dataclass(frozen=True)
class DynamicUpdateSlice(Op):
    """y = x, with the part that begins at `start` replaced by u. `start` is clamped so that u lies inside x.

    x, u, y: any one type, of one rank, u no larger than x   start: s32 [rank], or s64
    Source: TFLite DYNAMIC_UPDATE_SLICE.
    """

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 u32 f16 f32 bool")
    imports = (Import("tflite", "DYNAMIC_UPDATE_SLICE"),)
    writes = (_tflite.same("DYNAMIC_UPDATE_SLICE"),)
    kernels = (
        Kernel("mg_dynamic_update_slice", Whole(), (_strided.has_c_type,), params, operands=(0, 1, 2), short="update"),
    )

    def infer(self, x: TensorType | None, u: TensorType | None, start: TensorType | None) -> tuple[TensorType, ...]:
        x, u, start = _strided.operand(x), _strided.operand(u), _strided.operand(start)
        rank = len(x.shape)
        if start.dtype != "s32" or u.dtype != x.dtype:
            raise UnsupportedError(f"update {u} of {x} at {start}: update and tensor need one type, start int32")
        if not 1 <= rank <= RANK or start.shape != (rank,) or len(u.shape) != rank:
            raise ShapeError(f"update {u} at {start} does not fit {x}: ranks must be equal, 1 to {RANK}")
        if any(part > whole for part, whole in zip(u.shape, x.shape, strict=True)):
            raise ShapeError(f"the update {list(u.shape)} is larger than the tensor {list(x.shape)}")
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray, u: np.ndarray, start: np.ndarray) -> np.ndarray:
        y = x.copy()
        first = [int(np.clip(v, 0, d - n)) for v, d, n in zip(start, x.shape, u.shape, strict=True)]
        y[tuple(slice(v, v + n) for v, n in zip(first, u.shape, strict=True))] = u
        return y

    def reference_q(self, call: Call, x: np.ndarray, u: np.ndarray, start: np.ndarray) -> np.ndarray:
        return self.reference(x, u, start)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((3, 4), (2, 3)), ((7,), (7,)), ((1, 3, 2, 4), (1, 2, 1, 3)), ((2, 2, 3, 1, 2, 2), (1, 2, 2, 1, 1, 2)))
        return [
            Example(cls(), inputs, cls().infer(*inputs), {}, k)
            for k, (shape, part) in enumerate(cases)
            for dtype, quant in _strided.DTYPES[:3]
            for inputs in [
                (TensorType(shape, dtype, quant), TensorType(part, dtype, quant), TensorType((len(shape),), "s32"))
            ]
        ]
