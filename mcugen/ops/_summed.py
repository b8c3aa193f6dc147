"""int8 convolution, then an Add of another tensor. Only the pass fuse_residuals makes it, for OpenCL devices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, fact
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D


@dataclass(frozen=True)
class SummedConv2D(Op):
    """y = add(conv(x, w, b), r): the operators rounded and clamped one after the other.

    x, w, b: s8, with the shapes of Conv2D   r: s8, with the shape of y
    between: the quantization of conv's result   first: whether conv's result is the first operand of add
    Source: none; the pass fuse_residuals makes it.
    """

    conv: Conv2D
    add: Add
    # left out of repr, the key of tuning tables: launches do not depend on these two
    between: QuantParams | None = field(repr=False)
    first: bool = field(repr=False)

    weight_operands = (1,)

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        b: TensorType | None = None,
        r: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        (y,) = self.conv.infer(x, w, b)
        if r is None or (r.shape, r.dtype) != (y.shape, y.dtype):
            raise ShapeError(f"the residual {r} must have the type and shape of the result {y}")
        return (y,)

    def reference(
        self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None, r: np.ndarray | None = None
    ) -> np.ndarray:
        assert r is not None
        return self.add.reference(self.conv.reference(x, w, b), r)

    def reference_q(
        self,
        call: Call,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None = None,
        r: np.ndarray | None = None,
    ) -> np.ndarray:
        assert r is not None
        made = self.conv.reference_q(convolution(call), x, w, b)
        return self.add.reference_q(addition(call), *((made, r) if self.first else (r, made)))

    def macs(self, call: Call) -> int:
        return self.conv.macs(convolution(call))

    def in_words(self, call: Call) -> str:
        return f"{self.conv.in_words(convolution(call))}, and a sum"


@fact
def convolution(call: Call) -> Call:
    """The call of the convolution alone."""
    made = TensorType(call.output.shape, call.output.dtype, call.op.between)
    known = (call.inputs[:3], (made,), call.constants[:3], call.reference, call.input_range[:3])
    return Call(call.op.conv, *known, call.loop_bytes, call.features)


@fact
def addition(call: Call) -> Call:
    """The call of the addition alone."""
    pair = (convolution(call).output, call.input(3))
    operands = pair if call.op.first else pair[::-1]
    return Call(call.op.add, operands, call.outputs, (None, None), call.reference, features=call.features)
