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
    """y[..., k, i] = x[..., k * hop + i], for every window that lies within the samples.

    x: any type [..., n], n >= window   y: as x [..., 1 + (n - window) // hop, window]
    Source: none, the framing of `--preprocess`.
    """

    window: int
    hop: int

    litert_types = frozenset()
    kernels = _view.KERNELS

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if self.hop < 1 or not 1 <= self.window <= (x.shape[-1] if x.shape else 0):
            raise ShapeError(f"windows of {self.window} every {self.hop} do not fit {list(x.shape)} samples")
        count = 1 + (x.shape[-1] - self.window) // self.hop
        return (TensorType((*x.shape[:-1], count, self.window), x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        windows: np.ndarray = np.lib.stride_tricks.sliding_window_view(x, self.window, axis=-1)
        return windows[..., :: self.hop, :]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((8, 3), (20,)), ((4, 4), (2, 17)), ((3, 5), (2, 1, 14)), ((6, 1), (6,)), ((1, 2), (2, 3, 5)))
        return _view.examples((cls(*sizes), shape) for sizes, shape in cases)
