"""Convolution of scaled, shifted and clamped input channels. Only the pass fuse_scales makes it, for OpenCL devices."""

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
from mcugen.oracle import quantized


@dataclass(frozen=True)
class ScaledConv2D(Conv2D):
    """y = activation(convolution of first(x * s + t) with w, plus b).

    x, w, b: f32, with the shapes of Conv2D   s, t: f32 constants [channels of x]   first: an activation

    Source: none; the pass fuse_scales makes it.
    """

    first: str = "NONE"

    imports: ClassVar[tuple[Import, ...]] = ()  # type: ignore[assignment]
    writes: ClassVar[tuple[Write, ...]] = ()  # type: ignore[assignment]
    kernels: ClassVar[tuple[Kernel, ...]] = ()

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        b: TensorType | None = None,
        s: TensorType | None = None,
        t: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        found = super().infer(x, w, b)
        if x is None or s is None or t is None or s.shape != x.shape[-1:] or t.shape != s.shape:
            raise ShapeError(f"scales {s} and offsets {t} need one number for each channel of {x}")
        return found

    def reference(
        self,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None = None,
        s: np.ndarray | None = None,
        t: np.ndarray | None = None,
    ) -> np.ndarray:
        assert s is not None and t is not None
        return super().reference(quantized.clamped(x * s + t, self.first), w, b)
