"""IntegerLine: a line through integers, rounded down and clamped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range, channels_of, filled
from mcugen.ir.types import TensorType
from mcugen.ops import _links

_END = 1 << 32


@dataclass(frozen=True)
class IntegerLine(Op):
    """y = clamp((x * factor + addend) >> shift, low, high). The sum wraps at 32 bits.

    x, y: s8, u8, s16 or s32; low and high are numbers of y's type
    Source: none; the pass fold_lines makes it.
    """

    factor: int
    addend: int
    shift: int
    low: int
    high: int
    dtype: str

    is_elementwise = True
    kernels = (
        Kernel(
            "mg_integer_line",
            Run(lambda call: call.output.size),
            (_links.expressed,),
            _links.params,
            text=Text(generate=_links.loop),
        ),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("an operand is needed")
        return (TensorType(x.shape, self.dtype),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        total = (x.astype(np.int64) * self.factor + self.addend + _END // 2) % _END - _END // 2
        return np.asarray(np.clip(total >> self.shift, self.low, self.high))

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (filled(channels_of(call.output), self.low, self.high),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        ops = (
            (cls(806092, -267386880, 21, -128, 127, "s8"), "s16"),
            (cls(-3, 7, 0, -(2**31), 2**31 - 1, "s32"), "s8"),
            (cls(2**31 - 1, 5, 9, 0, 255, "u8"), "s32"),
            (cls(77, -(2**31), 3, -300, 20000, "s16"), "u8"),
        )
        shapes = ((1, 3, 5, 2), (7,), (2, 11), ())
        return [
            Example(op, (TensorType(shape, dtype),), (TensorType(shape, op.dtype),), {}, k)
            for k, ((op, dtype), shape) in enumerate(zip(ops, shapes, strict=True))
        ]


@_links.elements.register(IntegerLine)
def _(op: IntegerLine, call: Call) -> tuple[Element, ...]:
    total = f"(int32_t)((uint32_t)a * {op.factor % _END}u + {op.addend % _END}u)"
    if (op.low, op.high) == INT_RANGE["s8"]:
        return (Element(f"mg_saturated_s8({total} >> {op.shift})", headers=("saturate.h",)),)
    low, high = (_links.literal(v) for v in (op.low, op.high))
    return (Element(f"mg_clamp({total} >> {op.shift}, {low}, {high})"),)
