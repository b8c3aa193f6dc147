"""SHAPE: the shape of a tensor, computed when the model is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Alias, Kernel
from mcugen.ir.op import Example, Op
from mcugen.ir.types import MOVABLE, TensorType
from mcugen.ops import _strided

_DTYPES = {"INT32": "s32", "INT64": "s64"}


def from_tflite(source: Source) -> Imported:
    out_type = source.attributes["out_type"]
    if out_type not in _DTYPES and source.outputs:
        out_type = {"s32": "INT32", "s64": "INT64"}.get(source.outputs[0].dtype, out_type)
    if out_type not in _DTYPES:
        raise UnsupportedError(f"a shape of type {out_type} is not supported: use INT32 or INT64")
    return Imported(Shape(_DTYPES[out_type]))


def at_run_time(call: Call) -> bool:
    "never: shapes are static, and this operator is computed when the model is read"
    return False


@dataclass(frozen=True)
class Shape(Op):
    """y = the sizes of x's axes.

    x: any type and shape   y: `dtype` (s32 or s64) [rank]
    Source: TFLite SHAPE.
    """

    dtype: str = "s32"

    only_moves = True
    tflm_types = litert_types = MOVABLE
    imports = (Import("tflite", "SHAPE", from_tflite),)
    kernels = (Kernel("", Alias(), accepts=(at_run_time,)),)

    def keeps_values(self, call: Call) -> bool:
        return False

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if not x.shape:
            raise UnsupportedError("the shape of a scalar is an empty tensor, which is not supported")
        return (TensorType((len(x.shape),), self.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.array(x.shape, np.int64)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return self.reference(x)

    def fold(self, call: Call) -> tuple[np.ndarray, ...]:
        """The sizes: always known at build time, whether x is constant or not."""
        y = call.output
        return (np.array(call.input(0).shape, y.np_dtype),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(cls(dtype), (TensorType(shape, "f32"),), (TensorType((len(shape),), dtype),), {})
            for dtype in ("s32", "s64")
            for shape in ((2, 3, 4), (7,))
        ]
