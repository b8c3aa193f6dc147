"""YuvToRgb: conversion of BT.601 colours, where two adjacent pixels share U and V, to red, green and blue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType

FRACTION = 16
RED, BLUE = 0.299, 0.114
"""Shares of red and blue in Y. Source: ITU-R BT.601."""


def pairs(call: Call) -> int:
    """The number of pairs of pixels."""
    return call.output.size // 6


def packed(call: Call) -> bool:
    "Y, U and V are one tensor"
    return len(call.inputs) == 1


def planes(call: Call) -> bool:
    "Y is a tensor of its own"
    return len(call.inputs) == 2


def params(call: Call) -> Params:
    is_full = call.op.is_full
    luma, chroma = (1.0, 1.0) if is_full else (255 / 219, 255 / 224)
    green = 1 - RED - BLUE
    real = {
        "y": luma,
        "red_v": chroma * 2 * (1 - RED),
        "green_u": -chroma * 2 * (1 - BLUE) * BLUE / green,
        "green_v": -chroma * 2 * (1 - RED) * RED / green,
        "blue_u": chroma * 2 * (1 - BLUE),
    }
    return {"black": 0 if is_full else 16, **{name: round(v * (1 << FRACTION)) for name, v in real.items()}}


_FACTORS = {
    False: (16, 76309, 104597, -25675, -53279, 132201),
    True: (0, 65536, 91881, -22553, -46802, 116130),
}
"""Whether the range is full -> Y of black, then the factors of Y, V in red, U and V in green, U in blue, in 1/65536."""


@dataclass(frozen=True)
class YuvToRgb(Op):
    """y = (a + 1.402 v, a - 0.344 u - 0.714 v, a + 1.772 u) for a = Y, u = U - 128, v = V - 128, if the range is full.

    Otherwise a = 255/219 max(Y - 16, 0), and u and v are multiplied by 255/224. Factors have 16 fractional bits; sums
    are rounded to nearest and clamped to bytes. Two adjacent pixels have the same U and V.
    x: u8 [..., W, 2], Y and then U or V in turn; or two operands, u8 [..., W, 1] Y and u8 [..., W, 1] U and V in turn
    y: u8 [..., W, 3], with an even W
    Source: none, the words `yuyv` and `nv12` of `--preprocess`; ITU-R BT.601.
    """

    is_full: bool = False

    litert_types = frozenset()
    kernels = (
        Kernel("mg_yuv_to_rgb__packed", Run(pairs), (packed,), params),
        Kernel("mg_yuv_to_rgb__planes", Run(pairs), (planes,), params),
    )

    def infer(self, x: TensorType | None, uv: TensorType | None = None) -> tuple[TensorType, ...]:
        last = 2 if uv is None else 1
        given = [t for t in (x, uv) if t is not None]
        if any(t.dtype != "u8" or len(t.shape) < 2 or t.shape[-1] != last for t in given) or not x:
            raise ShapeError(f"Y, U and V must be u8 [..., W, 2], or two tensors [..., W, 1], not {x}, {uv}")
        if x.shape[-2] % 2 or any(t.shape != x.shape for t in given):
            raise ShapeError(f"rows of Y, U and V must be equally long, of an even number of pixels: {x}, {uv}")
        return (TensorType((*x.shape[:-1], 3), "u8"),)

    def reference_q(self, call: Call, x: np.ndarray, uv: np.ndarray | None = None) -> np.ndarray:
        luma = x[..., 0].astype(np.int64)
        colour = (x[..., 1] if uv is None else uv[..., 0]).astype(np.int64) - 128
        u, v = (np.repeat(colour[..., k::2], 2, axis=-1) for k in (0, 1))
        black, y, red_v, green_u, green_v, blue_u = _FACTORS[self.is_full]
        grey = np.maximum(luma - black, 0) * y + (1 << (FRACTION - 1))
        sums = np.stack([grey + red_v * v, grey + green_u * u + green_v * v, grey + blue_u * u], axis=-1)
        return np.asarray(np.clip(sums >> FRACTION, 0, 255))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((False, 1, (1, 3, 6)), (True, 1, (1, 4, 2)), (False, 2, (1, 2, 10)), (True, 2, (4,)))
        return [
            Example(cls(is_full), given, cls(is_full).infer(*given), {}, k)
            for k, (is_full, count, shape) in enumerate(cases)
            for given in [(TensorType((*shape, 3 - count), "u8"),) * count]
        ]
