"""BITCAST: the same bits, read as elements of another type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import NUMPY_DTYPES, TensorType
from mcugen.ops import _plain

_TYPES = ("s8", "u8", "s16", "s32", "s64", "f32")


def params(call: Call) -> Params:
    return {"size": call.output.nbytes}


@dataclass(frozen=True)
class Reinterpret(Op):
    """y = the bits of x, read as elements of `dtype`, which have the same width.

    x: s8, u8, bool, s16, s32, s64 or f32, without a scale   y: `dtype`, not bool
    Source: ONNX BitCast-26.
    """

    dtype: str

    only_moves = True
    kernels = (Kernel("mg_copy", Whole(), params=params, operands=(0,)),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _plain.operand(x)
        if self.dtype not in _TYPES:
            raise UnsupportedError(f"reading bits as {self.dtype} is not supported")
        if NUMPY_DTYPES[self.dtype].itemsize != x.np_dtype.itemsize:
            raise ShapeError(f"elements of {x.dtype} and {self.dtype} differ in width")
        return (TensorType(x.shape, self.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x).view(NUMPY_DTYPES[self.dtype])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        pairs = (("f32", "s32"), ("u8", "s8"), ("s64", "s64"))
        return [
            Example(cls(b), (TensorType((3, 5), a),), (TensorType((3, 5), b),), {}, k) for k, (a, b) in enumerate(pairs)
        ]
