"""TableSoftmax: softmax of 8-bit data over the last axis, from a table of float32 exponentials.

Only imports make it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _pool
from mcugen.oracle import byte_tables
from mcugen.oracle.fixed import int64
from mcugen.oracle.quantized import stored
from mcugen.oracle.rational import binary32, binary64, scale_of

_BYTES = ("s8", "u8")
_LARGEST_FLOAT = float(np.finfo(np.float32).max)
_HEADROOM = 5
_FAR = 2.0**30


def _lift(call: Call) -> float:
    """The input steps that QLinearSoftmax adds to differences to use the range of float32; 0 without `lifts`."""
    if not call.op.lifts:
        return 0.0
    room = np.log(_LARGEST_FLOAT / call.input(0).shape[-1]) - _HEADROOM
    return max(0.0, float(room)) / float(np.float32(call.input(0).scale))


def exponentials(call: Call) -> np.ndarray:
    """The exponential of each difference from the maximum, float32 [256]."""
    steps = -np.arange(256, dtype=np.float64) + _lift(call)
    return np.asarray(np.exp(steps * np.float64(np.float32(call.input(0).scale))).astype(np.float32))


def params(call: Call) -> Params:
    scale = np.float32(call.output.scale)
    return {
        "exp": exponentials(call),
        "scale": float(scale),
        "factor": int(np.float32(1) / scale) if call.op.lifts else 0,
        "zero_point": call.output.zero_point,
        "classes": call.input(0).shape[-1],
    }


def rows(call: Call) -> int:
    """The number of vectors along the last axis."""
    return call.output.size // call.output.shape[-1]


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("Softmax", inputs, call.outputs, {"axis": len(call.output.shape) - 1})


@dataclass(frozen=True)
class TableSoftmax(Op):
    """y[i] = exp(x[i]) / sum over k of exp(x[k]), over the last axis, all operations in float32.

    x, y: s8 or u8 per tensor, rank 1 or more
    lifts: whether exponentials are scaled up to the range of float32, and quotients multiplied by floor(1 / scale_y)
    Source: QLinearSoftmax of ONNX Runtime (lifts); Softmax between DequantizeLinear and QuantizeLinear.
    """

    lifts: bool = False

    writes = (Write("onnx", to_onnx),)
    kernels = (Kernel("mg_softmax_table_s8", Run(rows), (_pool.int8_data,), params, in_place=(0,)),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or not x.shape:
            raise ShapeError(f"softmax needs an input of rank 1 or more, not {x}")
        if x.dtype not in _BYTES:
            raise UnsupportedError(f"a softmax by table needs int8 or uint8 data, not {x.dtype}")
        return (TensorType(x.shape, x.dtype),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        scale, y_scale = scale_of(call.input(0)), scale_of(call.output)
        lift = byte_tables.softmax_lift(x.shape[-1], scale) if self.lifts else Fraction(0)
        entries = [float(binary32(binary64(byte_tables.exp((lift - k) * scale)))) for k in range(256)]
        e = np.array(entries, np.float32)[int64(x).max(axis=-1, keepdims=True) - int64(x)]
        total = np.cumsum(e, axis=-1, dtype=np.float32)[..., -1:]
        if self.lifts:
            steps = (e / total).astype(np.float64) * int(binary32(1 / y_scale))
        else:
            with np.errstate(over="ignore"):  # tiny scales: every result saturates
                steps = e / total / np.float32(float(y_scale))
        return stored(int64(np.rint(np.minimum(steps, _FAR))), call.output)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        found = []
        for k, (shape, scale, lifts) in enumerate(
            (
                ((2, 10), 0.1, False),
                ((1, 3, 4), 0.02, True),
                ((7,), 0.5, True),
                ((2, 33), 0.05, True),
                ((1, 5), 3.0, False),
            )
        ):
            x, y = QuantParams((scale,), (3 * k,)), QuantParams(((1 / 256, 0.0041)[k % 2],), (-128,))
            found.append(Example(cls(lifts), (TensorType(shape, "s8", x),), (TensorType(shape, "s8", y),), {}, k))
        return found
