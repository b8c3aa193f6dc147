"""ARG_MAX and ARG_MIN: the index of the largest or smallest value along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op, Reordered
from mcugen.ir.quant_rule import OWN_BYTES, Scales
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _strided, _tflite

_DTYPES = {"INT32": "s32", "INT64": "s64"}


def from_tflite(source: Source) -> Imported:
    axis, smallest = source.ints(1), source.name == "ARG_MIN"
    if axis is None or len(axis) != 1:
        raise UnsupportedError("the axis (operand 1) must be one constant number", hint="make it a constant")
    out_type = source.attributes["output_type"]
    declared = source.outputs[0].dtype if source.outputs else ""
    if declared not in _DTYPES.values():
        raise UnsupportedError(f"results of type {declared or out_type} are not supported: use int32 or int64")
    return Imported(ArgMax(axis[0], declared, smallest), inputs=(0,))


def values_are(dtype: str, name: str) -> Rule:
    """A rule: operand 0 has this element type. name: the type's name in the rule's text."""

    names = {"s8": ("s8", "bool")}.get(dtype, (dtype,))

    def rule(call: Call) -> bool:
        return call.input(0).dtype in names

    rule.__doc__ = f"the values are {name}"
    return rule


def params(call: Call) -> Params:
    op, x = call.op, call.input(0).shape
    assert isinstance(op, ArgMax)
    axis = op.axis % len(x)
    return {
        "outer": int(np.prod(x[:axis], dtype=np.int64)),
        "size": x[axis],
        "inner": int(np.prod(x[axis + 1 :], dtype=np.int64)),
        "smallest": int(op.smallest),
        "wide": int(call.output.dtype == "s64"),
    }


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op = call.op
    operands = [*inputs, sink.constant(np.array(op.axis, np.int32))]
    name, attributes = "ARG_MIN" if op.smallest else "ARG_MAX", {"output_type": _tflite.schema_name(call.output)}
    return _tflite.operator(call, sink, name, operands, attributes, _tflite.version(call.input(0), s8=2))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    axis = call.op.axis % len(call.input(0).shape)
    name = "ArgMin" if call.op.smallest else "ArgMax"
    wide = TensorType(call.output.shape, "s64")
    x = str(inputs[0])
    operand = _onnx.cast(sink, x, "s32") if call.input(0).dtype == "bool" else x  # ONNX's operators do not take bool
    return [_onnx.cast(sink, sink.operator(name, [operand], [wide], {"axis": axis, "keepdims": 0})[0], call.op.dtype)]


@dataclass(frozen=True)
class ArgMax(Op):
    """y = the first index along `axis` where x is largest (smallest with `smallest`).

    x: s8, u8, s32, f32 or bool, any shape   y: `dtype` (s32 or s64), without the axis
    Source: TFLite ARG_MAX, ARG_MIN; kernels/internal/reference/arg_min_max.h.
    """

    axis: int
    dtype: str = "s32"
    smallest: bool = False

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 s32 f32 bool")
    imports = (Import("tflite", "ARG_MAX", from_tflite), Import("tflite", "ARG_MIN", from_tflite))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = tuple(
        Kernel(f"mg_arg_max_{dtype}", Whole(), accepts=(values_are(dtype, name),), params=params)
        for dtype, name in (("s8", "int8 or bool"), ("s32", "int32"), ("f32", "float32"))
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and self.dtype != "s32":
            return f"no kernel with {self.dtype} results"
        return super().refused_by(call, runtime)

    def quantized(self, call: Call) -> Scales:
        return OWN_BYTES

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if x.dtype not in ("s8", "u8", "s32", "f32", "bool"):
            raise UnsupportedError(f"the index of the largest or smallest of {x.dtype} data is not supported")
        axis = _strided.axis_of(self.axis, len(x.shape))
        return (TensorType((*x.shape[:axis], *x.shape[axis + 1 :]), self.dtype),)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This operator along the stored axis; the stored result has no such axis."""
        order, axis = orders[0], self.axis % len(call.input(0).shape)
        stored = None if order is None else order.stored_axis(axis)
        if order is None or stored is None:
            return None
        return Reordered(replace(self, axis=stored), (order,), (order.without(axis, stored),))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.argmin(self.axis) if self.smallest else x.argmax(self.axis))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Compares stored values; of equal values the first wins."""
        return self.reference(x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        kinds = (("s8", QuantParams((0.5,), (-3,))), ("s32", None), ("f32", None), ("bool", None))
        return [
            Example(op, (x,), op.infer(x), {}, k)
            for k, (axis, shape) in enumerate(_CASES)
            for dtype, quant in kinds
            for out, smallest in (("s32", False), ("s64", True))
            for op, x in [(cls(axis, out, smallest), TensorType(shape, dtype, quant))]
        ]


_CASES: tuple[tuple[int, Shape], ...] = (
    (-1, (1, 10)),
    (3, (1, 3, 4, 5)),
    (1, (2, 300, 3)),
    (0, (7,)),
    (0, (1, 4)),
)
