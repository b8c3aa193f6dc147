"""Copy: a copy of a tensor in memory of its own. Only passes make it; no format has it."""

from __future__ import annotations

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType
from mcugen.ops import _onnx
from mcugen.ops._channelwise import Channelwise


def params(call: Call) -> Params:
    return {"size": call.output.nbytes}


class Copy(Channelwise):
    """y = x, in other memory.

    x, y: any type
    Source: none; passes add it if a graph output is also an input or a constant.
    """

    writes = (_onnx.same("Identity"),)
    kernels = (Kernel("mg_copy", Whole(), params=params, operands=(0,)),)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (call.range_of(0),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to copy is missing")
        return (x,)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return x

    def fold(self, call: Call) -> None:
        """None: a copy is never folded, since it exists to have memory of its own."""
        return None
