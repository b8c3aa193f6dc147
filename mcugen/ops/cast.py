"""CAST: conversion of numbers to another element type, without scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element, Line, Loop, Operand, Walk
from mcugen.ir.imports import Expansion, Import, Imported, Source
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ir.types import FLOATS, NUMPY_DTYPES, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _links, _onnx, _tflite

_KINDS = {"s8": 0, "u8": 1, "s16": 2, "s32": 3, "u32": 3, "f32": 4, "bool": 5}
_SATURATING = ("s8", "u8", "s16", "s32", "s64")


def from_tflite(source: Source) -> Imported:
    source.attributes.ignore("in_data_type", "out_data_type")  # both repeat the types of the tensors
    return Imported(Cast(source.outputs[0].dtype))


ONNX_DTYPES = {1: "f32", 2: "u8", 3: "s8", 5: "s16", 6: "s32", 7: "s64", 9: "bool", 10: "f32", 11: "f32"}
"""Number in TensorProto.DataType -> element type; all floats become float32."""

_ONNX_STRING = 8


def from_onnx(source: Source, e: Expansion) -> Sequence[str]:
    x, number = e.inputs[0] if e.inputs else None, source.attributes["to"]
    source.attributes.ignore("saturate", "round_mode")  # only for 8-bit floats
    if x is None:
        raise ShapeError("the operand to cast is missing")
    if number == _ONNX_STRING and e.texts(x):
        return [x]
    if number not in ONNX_DTYPES or e.texts(x):
        kind = "strings" if e.texts(x) else "numbers"
        raise UnsupportedError(f"casting {kind} to element type {number} is not supported")
    dtype = ONNX_DTYPES[number]
    return [x if dtype == e.type(x).dtype else e.node(Cast(dtype), x)]


def params(call: Call) -> Params:
    return {"from": _KINDS[call.input(0).dtype], "to": _KINDS[call.output.dtype]}


def elements(call: Call) -> int:
    """The number of elements of the output."""
    return call.output.size


def has_c_types(call: Call) -> bool:
    "input and output are int8, uint8, int16, int32, float32 or bool"
    return call.input(0).dtype in _KINDS and call.output.dtype in _KINDS


def has_wide_type(call: Call) -> bool:
    "one of input and output is int64"
    types = {call.input(0).dtype, call.output.dtype}
    return "s64" in types and types <= {*_KINDS, "s64"}


def wide_loop(call: Call) -> Loop:
    """The generated loop for the call's pair of element types."""
    dtype, x = call.output.dtype, call.input(0).dtype
    text = {"bool": "a != 0", "f32": "(float)a", "s64": "mg_whole(a)" if x == "f32" else "a"}.get(dtype, "(int32_t)a")
    return Loop(Walk.RUN, (Operand("a", x),), (), (Line("y0", dtype, text),), ("integers.h",))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    types = (call.input(0), call.output)
    attributes = dict(zip(("in_data_type", "out_data_type"), map(_tflite.schema_name, types), strict=True))
    number = max(_tflite.version(t, u32=2, s8=3, f16=5) for t in types)
    return _tflite.operator(call, sink, "CAST", inputs, attributes, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """ONNX Cast of the stored integers."""
    plain = [TensorType(t.shape, t.dtype) for t in (call.input(0), call.output)]
    made = sink.operator("Cast", [_onnx.stored(sink, str(inputs[0]), plain[0])], [plain[1]], {"to": call.op.dtype})
    return [_onnx.stored(sink, made[0], call.output)]


@dataclass(frozen=True)
class Cast(Op):
    """y = x in another element type: floats are truncated, integers keep their low bits, bool is x != 0.

    x, y: s8, u8, s16, s32, s64, f32, f16 (constants) or bool, same shape
    Floats beyond the range of an integer type saturate, as on Arm cores; in C the result is undefined.
    Source: TFLite CAST; cast.cc.
    """

    dtype: str

    is_elementwise = True
    tflm_types = dtypes("s8 s16 s32 f32 bool")
    imports = (Import("tflite", "CAST", from_tflite), Import("onnx", "Cast", expand=from_onnx))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    takes_unsigned = True
    kernels = (
        Kernel("mg_cast", Run(elements), (has_c_types,), params),
        Kernel("mg_cast_wide", Run(elements), (has_wide_type,), None, text=Text(generate=wide_loop)),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        lacking = {call.input(0).dtype, call.output.dtype} & {"u8", "s64", "f16"} if runtime == "tflm" else set()
        return f"no kernel for {min(lacking)}" if lacking else ""

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to cast is missing")
        floats = x.is_float or self.dtype in FLOATS
        if (
            self.dtype not in NUMPY_DTYPES
            or "u64" in (x.dtype, self.dtype)
            or ((floats or "s64" in (x.dtype, self.dtype)) and "u32" in (x.dtype, self.dtype))
        ):
            raise UnsupportedError(f"casting {x.dtype} to {self.dtype} is not supported")
        return (TensorType(x.shape, self.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if self.dtype == "bool":
            return np.asarray(x != 0)
        if x.dtype.kind == "f" and self.dtype in _SATURATING:
            ends = np.iinfo(NUMPY_DTYPES[self.dtype])
            whole = np.trunc(x.astype(np.float64))
            found = np.clip(np.where(np.abs(whole) < 2.0**63, whole, 0.0).astype(np.int64), ends.min, ends.max)
            return np.where(whole >= 2.0**63, ends.max, np.where(whole <= -(2.0**63), ends.min, found))
        return x.astype(NUMPY_DTYPES[self.dtype])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        shapes = ((1, 3, 2, 2), (7,), (2, 5), ())
        pairs = [(a, b) for a in _KINDS for b in _KINDS if a != b and {a, b} != {"u32", "f32"}]
        pairs += [pair for kind in _KINDS if kind != "u32" for pair in ((kind, "s64"), ("s64", kind))]
        return [
            Example(cls(b), (TensorType(shapes[k % 4], a),), (TensorType(shapes[k % 4], b),), {}, k)
            for k, (a, b) in enumerate(pairs)
        ]


@_links.elements.register(Cast)
def _(op: Cast, call: Call) -> tuple[Element, ...]:
    """The conversion between two integer types."""
    types = {call.input(0).dtype, call.output.dtype}
    name = call.output.dtype
    c_type = f"{'uint' if name.startswith('u') else 'int'}{call.output.bits}_t"
    return (Element(f"({c_type})a"),) if types <= _links.INTEGERS else ()
