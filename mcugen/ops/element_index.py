"""Conversion of indices along one axis to flat element indices, for GatherElements and ScatterElements."""

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

_LOOPS = 6


def params(call: Call) -> Params:
    op, shape = call.op, call.output.shape
    strides = _strided.dense(op.shape)
    others = [0 if k == op.axis else stride for k, stride in enumerate(strides)]
    before = _LOOPS - len(shape)
    return {
        "dims": np.array([1] * before + list(shape), np.uint32),
        "strides": np.array([0] * before + others, np.int32),
        "elements": call.output.size,
        "size": op.shape[op.axis],
        "stride": strides[op.axis],
    }


@dataclass(frozen=True)
class ElementIndex(Op):
    """y[i...] = flat index of element [i..., index[i...], ...] in a tensor of `shape`, with the index at `axis`.

    index: s32, with the rank of `shape`; no axis but `axis` may be longer   y: s32, with index's shape
    Negative indices count from the end. Indices outside the axis are clamped.
    Source: ONNX GatherElements-13, ScatterElements-18.
    """

    shape: Shape
    axis: int

    only_moves = True
    kernels = (Kernel("mg_element_index", Whole(), (), params),)

    def infer(self, index: TensorType | None) -> tuple[TensorType, ...]:
        index = _strided.operand(index)
        if index.dtype != "s32":
            raise UnsupportedError(f"indices of {index.dtype} are not supported")
        others = [k for k in range(len(self.shape)) if k != self.axis]
        if len(index.shape) != len(self.shape) or any(index.shape[k] > self.shape[k] for k in others):
            raise ShapeError(f"indices {list(index.shape)} do not fit data {list(self.shape)} along axis {self.axis}")
        if len(self.shape) > _LOOPS or prod(self.shape) >= 2**31:
            raise UnsupportedError(f"an indexed tensor {list(self.shape)} has over {_LOOPS} axes or 2^31 - 1 elements")
        return (TensorType(index.shape, "s32"),)

    def reference_q(self, call: Call, index: np.ndarray) -> np.ndarray:
        size = self.shape[self.axis]
        wide = index.astype(np.int64)
        places: list[np.ndarray] = list(np.indices(index.shape))
        places[self.axis] = np.clip(np.where(wide < 0, wide + size, wide), 0, size - 1)
        return np.asarray(np.ravel_multi_index(tuple(places), self.shape))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[Shape, int, Shape], ...] = (((7,), 0, (9,)), ((3, 4, 2), 1, (2, 5, 2)), ((3, 5), 1, (3, 2)))
        return [
            Example(cls(shape, axis), (t,), (t,), {}, k)
            for k, (shape, axis, given) in enumerate(cases)
            for t in [TensorType(given, "s32")]
        ]
