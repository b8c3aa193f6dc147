"""Power: the squared magnitude of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType


@dataclass(frozen=True)
class Power(Op):
    """y[..., k] = x[..., 2k]^2 + x[..., 2k + 1]^2; each operation rounds to f32.

    x: f32 [..., 2n], real and imaginary parts alternating   y: f32 [..., n]
    Source: none, the power of `--preprocess`.
    """

    litert_types = frozenset()
    exact_floats = True
    kernels = (Kernel("mg_power_f32", Run(lambda call: call.output.size)),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "f32":
            raise UnsupportedError(f"the power of {x}: float32 data are needed")
        if not x.shape or x.shape[-1] % 2:
            raise ShapeError(f"the last axis of {list(x.shape)} must be even: real and imaginary parts alternate")
        return (TensorType((*x.shape[:-1], x.shape[-1] // 2), x.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        parts = np.atleast_1d(x).astype(np.float32)
        return np.asarray(parts[..., 0::2] * parts[..., 0::2] + parts[..., 1::2] * parts[..., 1::2])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        types = [TensorType(shape, "f32") for shape in ((10,), (2, 3, 34), (1, 2))]
        return [Example(cls(), (x,), cls().infer(x), {}, k) for k, x in enumerate(types)]
