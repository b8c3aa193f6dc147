"""Stored: the same integers with another scale and zero point. Only imports make it; no format has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Alias, Kernel, Run
from mcugen.ir.op import Example
from mcugen.ir.ranges import Range
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx
from mcugen.ops._channelwise import Channelwise


def same_bytes(call: Call) -> bool:
    "operand and result have one element type"
    return call.input(0).dtype == call.output.dtype


def other_sign(call: Call) -> bool:
    "one of operand and result is int8, the other uint8"
    return {call.input(0).dtype, call.output.dtype} == {"s8", "u8"}


def elements(call: Call) -> int:
    """The number of elements of the output."""
    return call.output.size


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.input(0).dtype != call.output.dtype:
        raise UnsupportedError("its uint8 data was converted to int8", hint="write the network as it was imported")
    return [_onnx.stored(sink, str(inputs[0]), call.output)]


@dataclass(frozen=True)
class Stored(Channelwise):
    """y = x with another scale and zero point; x - 128 or x + 128 if one of the two was converted from uint8 to int8.

    x, y: any integer type
    Source: none; operators of ONNX state scales and zero points as operands.
    """

    takes_unsigned = True
    writes = (Write("onnx", to_onnx),)
    kernels = (
        Kernel("", Alias(), (same_bytes,)),
        Kernel("mg_flip_sign", Run(elements), (other_sign,), in_place=(0,)),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand is missing")
        return (TensorType(x.shape, x.dtype),)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (call.range_of(0),) if same_bytes(call) else super().bounds(call)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return x.astype(np.int64) + call.output.limits[0] - call.input(0).limits[0]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quant = QuantParams((0.5,), (3,))
        types = (TensorType((3, 5), "s8"), TensorType((2, 2), "s16"))
        return [Example(cls(), (t,), (TensorType(t.shape, t.dtype, quant),), {}, k) for k, t in enumerate(types)]
