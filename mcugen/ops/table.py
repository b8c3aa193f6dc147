"""Table: a function of 8-bit data as a table of 256 results. Only passes and imports make it; no format has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _bytes, _onnx


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    byte = sink.constant(np.array(255, np.int32))
    values = np.frombuffer(call.op.values, np.uint8).view(call.output.np_dtype)
    return [_onnx.looked_up(call, sink, str(inputs[0]), ("BitwiseAnd", byte), values)]


@dataclass(frozen=True)
class Table(_bytes.ByteFunction):
    """y = values[x], with x as an unsigned byte.

    x, y: s8 or u8   values: 256 bytes   dtype: y's element type
    Source: none; the combined effect of several operators on 8-bit data.
    """

    values: bytes = field(repr=False)
    dtype: str

    writes = (Write("onnx", to_onnx),)
    kernels = (_bytes.table_kernel(),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or len(self.values) != 256:
            raise ShapeError(f"a table needs an operand and 256 values, not {x} and {len(self.values)}")
        return (TensorType(x.shape, self.dtype),)

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        return self.reference_q(call, x)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return np.frombuffer(self.values, np.uint8)[x.view(np.uint8)].view(call.output.np_dtype)
