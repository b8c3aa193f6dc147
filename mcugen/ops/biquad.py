"""Biquad: recursive filters of second order, one after the other, along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType


def constant_sections(call: Call) -> bool:
    "the coefficients are constant"
    return call.constants[1] is not None


def params(call: Call) -> Params:
    op, sections, shape = call.op, call.constant(1), call.input(0).shape
    assert isinstance(op, Biquad)
    axis = op.axis % len(shape)
    return {
        "sections": sections.reshape(-1),
        "count": len(sections),
        "length": shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "outer": prod(shape[:axis]),
    }


@dataclass(frozen=True)
class Biquad(Op):
    """y = (b0 x + s1); then s1 = (b1 x - a1 y) + s2 and s2 = b2 x - a2 y, for each element of `axis`.

    x: f32 [..., n, ...]   w: constant f32 [sections, 5]: b0, b1, b2, a1, a2 of each section   y: as x
    Each section reads the results of the one before it. s1 and s2 begin at 0; each operation rounds to f32.
    Source: none, the filter of `--preprocess`; transposed direct form 2.
    """

    axis: int = -1

    litert_types = frozenset()
    exact_floats = True
    kernels = (Kernel("mg_biquad_f32", Whole(), (constant_sections,), params, operands=(0,), in_place=(0,)),)

    def infer(self, x: TensorType | None, w: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or w is None or x.dtype != "f32" or w.dtype != "f32":
            raise UnsupportedError(f"data {x} and coefficients {w} must be float32")
        if not -len(x.shape) <= self.axis < len(x.shape):
            raise ShapeError(f"axis {self.axis} does not exist in data {list(x.shape)}")
        if len(w.shape) != 2 or w.shape[1] != 5 or not w.shape[0]:
            raise ShapeError(f"coefficients {list(w.shape)} must be [sections, 5], for data {list(x.shape)}")
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        y = np.ascontiguousarray(np.moveaxis(x.astype(np.float32), self.axis, 0))
        for b0, b1, b2, a1, a2 in w.astype(np.float32):
            first, second = (np.zeros(y.shape[1:], np.float32) for _ in range(2))
            for k, value in enumerate(y):
                made = b0 * value + first
                first = (b1 * value - a1 * made) + second
                second = b2 * value - a2 * made
                y[k] = made
        return np.moveaxis(y, 0, self.axis)

    def macs(self, call: Call) -> int:
        return 5 * call.output.size * call.input(1).shape[0]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        low = [0.2, 0.4, 0.2, -0.5, 0.3]
        two = [low, [1, -2, 1, -1.6, 0.7]]
        cases = ((-1, (50,), [low]), (-1, (2, 33), two), (-1, (1, 3, 1), [low]), (1, (2, 33, 3), two), (0, (9, 4), two))
        return [
            Example(cls(axis), (x, w), cls(axis).infer(x, w), {1: np.array(sections, np.float32)}, k)
            for k, (axis, shape, sections) in enumerate(cases)
            for x, w in [(TensorType(shape, "f32"), TensorType((len(sections), 5), "f32"))]
        ]
