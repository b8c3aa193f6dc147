"""Conversion of index tuples to flat indices of slices, for GatherND and ScatterND."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import Shape, TensorType
from mcugen.ops import _strided


def params(call: Call) -> Params:
    op, batches = call.op, call.op.batches
    return {
        "sizes": np.array(op.sizes, np.int32),
        "strides": np.array(_strided.dense(op.sizes), np.int32),
        "depth": len(op.sizes),
        "batches": batches,
        "count": call.output.size // batches,
        "batch": prod(op.sizes),
    }


@dataclass(frozen=True)
class FlatIndex(Op):
    """y[b, k] = b * product of sizes + sum over d of index[b, k, d] * product of the sizes after d.

    index: s32, any shape; the last axis has one index per entry of `sizes`, the other axes form `batches` equal parts
    y: s32, without the last axis
    Negative indices count from the end. Indices outside an axis are clamped.
    Source: ONNX GatherND-13, ScatterND-18.
    """

    sizes: Shape
    batches: int = 1

    only_moves = True
    kernels = (Kernel("mg_flat_index", Whole(), (), params),)

    def infer(self, index: TensorType | None) -> tuple[TensorType, ...]:
        index = _strided.operand(index)
        if index.dtype != "s32":
            raise UnsupportedError(f"indices of {index.dtype} are not supported")
        if not index.shape or index.shape[-1] != len(self.sizes) or min(self.sizes, default=0) < 1:
            raise ShapeError(f"indices {list(index.shape)} must be [..., {len(self.sizes)}] for {list(self.sizes)}")
        if self.batches < 1 or prod(index.shape[:-1]) % self.batches or self.batches * prod(self.sizes) >= 2**31:
            raise ShapeError(f"indices {list(index.shape)} do not form {self.batches} equal batches")
        return (TensorType(index.shape[:-1], "s32"),)

    def reference_q(self, call: Call, index: np.ndarray) -> np.ndarray:
        sizes = np.array(self.sizes, np.int64)
        wide = index.astype(np.int64)
        places = np.clip(np.where(wide < 0, wide + sizes, wide), 0, sizes - 1).reshape(self.batches, -1, sizes.size)
        flat = np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), self.sizes)
        return np.asarray(flat + np.arange(self.batches)[:, None] * prod(self.sizes)).reshape(index.shape[:-1])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[Shape, int, Shape], ...] = (
            ((7,), 1, (5, 1)),
            ((3, 4, 2), 1, (2, 4, 3)),
            ((3, 5), 2, (2, 3, 2)),
        )
        return [
            Example(cls(sizes, batches), (t,), cls(sizes, batches).infer(t), {}, k)
            for k, (sizes, batches, shape) in enumerate(cases)
            for t in [TensorType(shape, "s32")]
        ]
