"""Arithmetic on integers without scales, and functions of two floats that no other operator has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Reordered
from mcugen.ir.types import Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _ordered, _tflite
from mcugen.ops._channelwise import Channelwise

INTEGERS = ("s8", "u8", "s16", "s32", "s64")
_WIDE = np.uint64
_HEADERS = ("integers.h",)


def _wrapping(sign: str) -> dict[str, str]:
    return {
        "s64": f"(int64_t)((uint64_t)a {sign} (uint64_t)b)",
        "": f"(int32_t)((uint32_t)a {sign} (uint32_t)b)",
    }


def _called(function: str) -> dict[str, str]:
    return {"s64": f"{function}(a, b)", "": f"mg_low_bits({function}(a, b))"}


_INTEGER: dict[str, dict[str, str]] = {
    "add": _wrapping("+"),
    "sub": _wrapping("-"),
    "mul": _wrapping("*"),
    "max": {"": "a > b ? a : b"},
    "min": {"": "a < b ? a : b"},
    "and": {"": "a & b"},
    "or": {"": "a | b"},
    "xor": {"": "a ^ b"},
    "div": _called("mg_quotient"),
    "floor_div": _called("mg_floor_quotient"),
    "fmod": _called("mg_remainder"),
    "mod": _called("mg_modulo"),
    "pow": _called("mg_power"),
    "shift_left": _called("mg_shift_left"),
    "shift_right": _called("mg_shift_right"),
    "wrap": {dtype: f"a < 0 ? {text} : a" for dtype, text in _wrapping("+").items()},
}
"""Kind -> element type -> C expression; the key "" is for all other types."""

_FLOAT = {
    "floor_div": Element("floor(a / b)"),
    "fmod": Element("fmod(a, b)"),
    "mod": Element("mg_modulo_float(a, b)", headers=("modulo_float.h",)),
    "pow": Element("pow(a, b)"),
}


def element(dtype: str, call: Call) -> Element:
    """The C expression of the call's `kind` of arithmetic for one element type."""
    kind = call.op.kind
    if dtype == "f32":
        return _FLOAT[kind]
    texts = _INTEGER[kind]
    text = texts.get(dtype, texts[""])
    return Element(text, headers=_HEADERS if "mg_" in text else ())


_TFLM = {"floor_div": "f32", "mod": "f32"}
_LITERT = {
    "floor_div": "s8 s16 s32 f32",
    "mod": "s8 s16 s32 s64 f32",
    "pow": "s32 f32",
    "shift_right": "s8 u8 s16 s32",
    "xor": "s8 u8 s16 s32",
}
"""Kind -> element types for which LiteRT has a kernel; `_TFLM`: for which TFLM has one."""
_TFLITE = {"FLOOR_DIV": "floor_div", "FLOOR_MOD": "mod", "POW": "pow"}


def from_tflite(source: Source) -> Imported:
    return Imported(Arithmetic(_TFLITE[source.name]))


def shift_from_tflite(source: Source) -> Imported:
    return Imported(Arithmetic("shift_right"))


def bitwise_from_tflite(source: Source) -> Imported:
    return Imported(Arithmetic("xor"))


_WRITTEN = {
    "floor_div": "FLOOR_DIV",
    "mod": "FLOOR_MOD",
    "pow": "POW",
    "shift_right": "RIGHT_SHIFT",
    "xor": "BITWISE_XOR",
}
_INT32 = {"add": "ADD", "sub": "SUB", "mul": "MUL", "max": "MAXIMUM", "min": "MINIMUM"}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    kind, x = call.op.kind, call.input(0)
    if kind in _INT32 and x.dtype == "s32":
        attributes = {"fused_activation_function": "NONE"} if kind in ("add", "sub", "mul") else {}
        return sink.operator(_INT32[kind], inputs, call.outputs, attributes)
    if x.dtype not in _LITERT.get(kind, "").split():
        raise UnsupportedError(f"TensorFlow Lite has no operator for {kind} of {x.dtype}")
    versions = {"floor_div": {"s8": 3, "s16": 3, "f32": 2}, "mod": {"s8": 2, "s16": 2}}
    return _tflite.operator(call, sink, _WRITTEN[kind], inputs, {}, _tflite.version(x, **versions.get(kind, {})))


_TO_ONNX: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("Add", {}),
    "sub": ("Sub", {}),
    "mul": ("Mul", {}),
    "max": ("Max", {}),
    "min": ("Min", {}),
    "and": ("BitwiseAnd", {}),
    "or": ("BitwiseOr", {}),
    "xor": ("BitwiseXor", {}),
    "div": ("Div", {}),
    "mod": ("Mod", {"fmod": 0}),
    "fmod": ("Mod", {"fmod": 1}),
    "pow": ("Pow", {}),
}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    kind, is_real = call.op.kind, _onnx.real(call.output).is_float
    if kind in _TO_ONNX and (kind not in ("mod", "pow") or is_real == (kind == "pow")):
        name, attributes = _TO_ONNX[kind]
        return [_onnx.in_wide(call, sink, name, inputs, attributes)]
    if kind == "wrap" and call.output.dtype not in _onnx.NARROW:
        zero = sink.constant(np.zeros((), call.output.np_dtype))
        below = sink.operator("Less", [inputs[0], zero], [TensorType(call.output.shape, "bool")])[0]
        moved = sink.operator("Add", inputs, call.outputs)[0]
        return sink.operator("Where", [below, moved, inputs[0]], call.outputs)
    if kind == "floor_div" and is_real:
        return sink.operator("Floor", sink.operator("Div", inputs, call.outputs), call.outputs)
    raise UnsupportedError(f"ONNX has no operator for {kind} of {call.output.dtype}")


@dataclass(frozen=True)
class Arithmetic(Channelwise):
    """y = kind(a, b), elementwise, broadcasting.

    a, b, y: one type of s8, u8, s16, s32 and s64 without scales; f32 for floor_div, mod, fmod and pow
    Integers wrap. A division by zero gives 0. Shifts past the width give 0, or -1 for a right shift of a negative
    number. div and fmod round towards zero, floor_div and mod down; wrap is a + b if a is negative, else a.
    Source: ONNX Add-14, Div-14, Mod-13, Pow-15, BitShift-11, BitwiseAnd-18; TFLite FLOOR_DIV, FLOOR_MOD, POW.
    """

    kind: str

    is_elementwise = True
    tflm_types = dtypes("f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f32")
    imports = (
        *(Import("tflite", name, from_tflite) for name in _TFLITE),
        Import("tflite", "RIGHT_SHIFT", shift_from_tflite),
        Import("tflite", "BITWISE_XOR", bitwise_from_tflite),
    )
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    element: ClassVar = {dtype: partial(element, dtype) for dtype in ("f32", *INTEGERS)}
    kernels = _elementwise.all_kernels("mg_arithmetic", element)

    def refused_by(self, call: Call, runtime: str) -> str:
        dtype, table = call.input(0).dtype, _TFLM if runtime == "tflm" else _LITERT
        known = table.get(self.kind, "")
        return super().refused_by(call, runtime) if dtype in known.split() else f"no kernel for {dtype}"

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        known = ("f32",) if self.kind in _FLOAT and self.kind not in _INTEGER else INTEGERS
        return (plain_types(a, b, (*known, *(("f32",) if self.kind in _FLOAT else ()))),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            if self.kind == "floor_div":
                return np.floor((a.astype(np.float32) / b.astype(np.float32)).astype(np.float64))
            return np.asarray({"fmod": np.fmod, "mod": np.mod, "pow": np.power}[self.kind](a, b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The exact integer result, cut to the low bits that the type has."""
        exact = np.frompyfunc(_EXACT[self.kind], 2, 1)(a.astype(object), b.astype(object))
        bits = call.output.bits
        wrapped = np.frompyfunc(lambda v: int(v) & ((1 << bits) - 1), 1, 1)(exact)
        return np.asarray(wrapped, np.dtype(f"u{bits // 8}")).view(call.output.np_dtype)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        kinds = list(_INTEGER)
        cases = [(kinds[k % len(kinds)], INTEGERS[k % 5], k // 5 % len(_SHAPES)) for k in range(50)]
        cases += [(kind, "f32", k) for k in range(len(_SHAPES)) for kind in _FLOAT]
        return [_example(seed, cls(kind), dtype, k) for seed, (kind, dtype, k) in enumerate(cases)]


def plain_types(a: TensorType | None, b: TensorType | None, allowed: Sequence[str]) -> TensorType:
    """The broadcast type of two operands without scales. Raises ShapeError or UnsupportedError."""
    if a is None or b is None:
        raise ShapeError("an operand is missing: two are needed")
    if a.dtype != b.dtype or a.dtype not in allowed:
        raise UnsupportedError(f"operands {a.dtype} and {b.dtype} are not supported together")
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError as error:
        raise ShapeError(f"shapes {list(a.shape)} and {list(b.shape)} cannot be broadcast together") from error
    if len(shape) > _elementwise.RANK:
        raise UnsupportedError(f"broadcasting over {len(shape)} axes is not supported; at most {_elementwise.RANK} are")
    return TensorType(shape, a.dtype)


def _toward_zero(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    if b < 0:
        return a if a in (1, -1) and b % 2 else int(a in (1, -1))
    return pow(a, b, 1 << 64)


_EXACT: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "div": _toward_zero,
    "floor_div": lambda a, b: 0 if b == 0 else a // b,
    "fmod": lambda a, b: 0 if b == 0 else a - b * _toward_zero(a, b),
    "mod": lambda a, b: 0 if b == 0 else a % b,
    "pow": _power,
    "shift_left": lambda a, b: a << b if 0 <= b < 64 else 0,
    "shift_right": lambda a, b: a >> (b if 0 <= b < 64 else 63),
    "wrap": lambda a, b: a + b if a < 0 else a,
}

_SHAPES: tuple[tuple[Shape, Shape, int | None], ...] = (
    ((1, 3, 5, 2), (1, 3, 5, 2), None),
    ((1, 3, 5, 4), (4,), 1),
    ((2, 3, 3, 2), (), 1),
    ((), (7,), 0),
    ((2, 1, 3, 1), (1, 4, 1, 5), None),
)


def _example(seed: int, op: Arithmetic, dtype: str, k: int) -> Example:
    a, b, constant = _SHAPES[k]
    y = TensorType(np.broadcast_shapes(a, b), dtype)
    given = {} if constant is None else {constant: None}
    return Example(op, (TensorType(a, dtype), TensorType(b, dtype)), (y,), given, seed)
