"""Framing: windows of samples, one every hop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType
from mcugen.ops import _strided, _view


@dataclass(frozen=True)
class Framing(_view.View):
    """y[..., k, i, ...] = x[..., k * hop + i, ...], for every window that lies within the samples, along `axis`.

    x: any type [..., n, ...], n >= window   y: as x [..., 1 + (n - window) // hop, window, ...]
    Source: none, the framing of `--preprocess`.
    """

    window: int
    hop: int
    axis: int = -1

    litert_types = frozenset()
    kernels = _view.KERNELS

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        axis = _strided.axis_of(self.axis, len(x.shape))
        if self.hop < 1 or not 1 <= self.window <= x.shape[axis]:
            raise ShapeError(f"windows of {self.window} every {self.hop} do not fit {list(x.shape)} samples")
        count = 1 + (x.shape[axis] - self.window) // self.hop
        return (TensorType((*x.shape[:axis], count, self.window, *x.shape[axis + 1 :]), x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        axis = self.axis % x.ndim
        windows = np.lib.stride_tricks.sliding_window_view(x, self.window, axis=axis)
        return np.moveaxis(windows, -1, axis + 1)[(slice(None),) * axis + (slice(None, None, self.hop),)]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((8, 3), (20,)), ((4, 4), (2, 17)), ((3, 5), (2, 1, 14)), ((6, 1), (6,)), ((1, 2), (2, 3, 5)))
        channels = ((cls(4, 3, 1), (2, 12, 3)), (cls(5, 5, 0), (11, 2)))
        return _view.examples([*((cls(*sizes), shape) for sizes, shape in cases), *channels])
