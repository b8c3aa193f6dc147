"""Convolution plus a residual tensor, then the activation. Only the pass fuse_residuals makes it, for OpenCL devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.imports import Import
from mcugen.ir.kernel import Kernel
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Write
from mcugen.ops.conv2d import Conv2D
from mcugen.oracle import filters, quantized


@dataclass(frozen=True)
class ResidualConv2D(Conv2D):
    """y = activation(convolution of x with w, plus b, plus r).

    x, w, b: f32, with the shapes of Conv2D   r: f32, with the shape of y
    Source: none; the pass fuse_residuals makes it.
    """

    imports: ClassVar[tuple[Import, ...]] = ()  # type: ignore[assignment]
    writes: ClassVar[tuple[Write, ...]] = ()  # type: ignore[assignment]
    kernels: ClassVar[tuple[Kernel, ...]] = ()

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        b: TensorType | None = None,
        r: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        (y,) = super().infer(x, w, b)
        if r is None or r.shape != y.shape or not r.is_float:
            raise ShapeError(f"the residual {r} must have the type and shape of the result {y}")
        return (y,)

    def reference(
        self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None, r: np.ndarray | None = None
    ) -> np.ndarray:
        sums = filters.real_results(self._sums(x, w), b, "NONE")
        return quantized.clamped(sums if r is None else sums + r, self.activation)
