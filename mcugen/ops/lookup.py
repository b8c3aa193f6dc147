"""Lookup: a function of 8-bit data as a table of 256 results. Only imports make it; no format has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.op import Example
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _bytes, _onnx


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    first = sink.constant(np.array(call.input(0).limits[0], np.int32))
    values = np.frombuffer(call.op.values, np.uint8).astype(np.int32) + call.output.limits[0]
    return [_onnx.looked_up(call, sink, str(inputs[0]), ("Sub", first), values)]


@dataclass(frozen=True)
class Lookup(_bytes.ByteFunction):
    """y = values[x - least x] + least y, where least is -128 for s8 and 0 for u8.

    x, y: s8 or u8   values: 256 bytes   dtype: y's element type
    x or y may be converted between uint8 and int8, with their zero points, without a change of `values`.
    Source: none; the combined effect of the float operators between a DequantizeLinear and a QuantizeLinear.
    """

    values: bytes = field(repr=False)
    dtype: str

    writes = (Write("onnx", to_onnx),)
    kernels = (_bytes.table_kernel(),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype not in ("s8", "u8") or len(self.values) != 256:
            raise ShapeError(f"a table of {len(self.values)} values for {x}: 256 values and 8-bit data are needed")
        return (TensorType(x.shape, self.dtype),)

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        place = x.astype(np.int64) - INT_RANGE[call.input(0).dtype][0]
        return np.frombuffer(self.values, np.uint8)[place].astype(np.int64) + INT_RANGE[call.output.dtype][0]

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        signed_in, signed_out = (t.dtype == "s8" for t in (call.input(0), call.output))
        found = np.frombuffer(self.values, np.uint8)[x.astype(np.int64) + 128 * signed_in]
        return np.asarray(found.astype(np.int64) - 128 * signed_out)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quant = QuantParams((0.5,), (0,))
        values = np.random.default_rng(1).permutation(256).astype(np.uint8).tobytes()
        shapes = ((3, 7), (1, 2, 2, 5))
        types = (TensorType(shape, "s8", quant) for shape in shapes)
        return [Example(cls(values, "s8"), (t,), (t,), {}, k) for k, t in enumerate(types)]
