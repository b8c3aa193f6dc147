"""Rgb565: colours of 5, 6 and 5 bits as colours of 8 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType


def pixels(call: Call) -> int:
    """The number of pixels."""
    return call.output.size // 3


def params(call: Call) -> Params:
    return {"upper": int(not call.op.is_big)}


@dataclass(frozen=True)
class Rgb565(Op):
    """y = (r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2) for words r << 11 | g << 5 | b.

    x: u8 [..., 2], the bytes of a word   y: u8 [..., 3]
    is_big: whether the upper byte of a word is the first
    Source: none, the word `rgb565` of `--preprocess`.
    """

    is_big: bool = False

    litert_types = frozenset()
    kernels = (Kernel("mg_rgb565", Run(pixels), params=params),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "u8" or x.shape[-1:] != (2,):
            raise ShapeError(f"words of RGB565 must be u8 [..., 2], not {x}")
        return (TensorType((*x.shape[:-1], 3), "u8"),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        first, second = x[..., 0].astype(np.int64), x[..., 1].astype(np.int64)
        word = first * 256 + second if self.is_big else second * 256 + first
        red, green, blue = word // 2048, word // 32 % 64, word % 32
        return np.stack([red * 8 + red // 4, green * 4 + green // 16, blue * 8 + blue // 4], axis=-1)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((False, (1, 4, 5, 2)), (True, (1, 3, 7, 2)), (False, (2,)))
        return [
            Example(cls(is_big), (x,), cls(is_big).infer(x), {}, k)
            for k, (is_big, shape) in enumerate(cases)
            for x in [TensorType(shape, "u8")]
        ]
