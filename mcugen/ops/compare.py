"""Comparisons of two tensors, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Reordered, Scaling
from mcugen.ir.quant_rule import OWN_BYTES, Scales
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _ordered, _tflite
from mcugen.ops._channelwise import Channelwise
from mcugen.ops.arithmetic import plain_types
from mcugen.oracle import quantized
from mcugen.oracle.fixed import int64, scaled_twice

_TYPES = ("s8", "u8", "s16", "s32", "s64", "f32", "bool")
_KINDS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "EQUAL": ("==", np.equal),
    "NOT_EQUAL": ("!=", np.not_equal),
    "LESS": ("<", np.less),
    "LESS_EQUAL": ("<=", np.less_equal),
    "GREATER": (">", np.greater),
    "GREATER_EQUAL": (">=", np.greater_equal),
}
_SHIFT = 8
_ONNX = {
    "Equal": "EQUAL",
    "Less": "LESS",
    "LessOrEqual": "LESS_EQUAL",
    "Greater": "GREATER",
    "GreaterOrEqual": "GREATER_EQUAL",
}


def from_tflite(source: Source) -> Imported:
    return Imported(Compare(source.name))


def from_onnx(source: Source) -> Imported:
    return Imported(Compare(_ONNX[source.name]))


def scaled_element(call: Call) -> Element:
    """The expression for quantized operands. Both are rescaled to multiples of 1/256, rounding twice, then compared.

    Source: comparisons.cc.
    """
    sides = (f"mg_requantize(({x} - {x}_zero) * 256, {x}_mult, {x}_shift)" for x in "ab")
    return Element(
        f" {_KINDS[call.op.kind][0]} ".join(sides),
        {f"{x}_{name}": "int32_t" for x in "ab" for name in ("zero", "mult", "shift")},
        scaled_params,
    )


def scaled_params(call: Call) -> Params:
    found: dict[str, int] = {}
    for k, x in enumerate("ab"):
        t = call.input(k)
        mult, shift = quantize_multiplier(float(np.float32(t.scale)))
        found |= {f"{x}_zero": t.zero_point, f"{x}_mult": mult, f"{x}_shift": shift}
    return found


def element(call: Call) -> Element:
    """The expression: stored numbers are compared directly if they have no scale, else rescaled first."""
    if call.input(0).quant is not None:
        return scaled_element(call)
    return Element(f"a {_KINDS[call.op.kind][0]} b")


_WIDE = {"EQUAL": 4, "LESS": 3, "GREATER_EQUAL": 3}
"""Kind -> version of the TensorFlow Lite operator that has int16."""


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    kind = call.op.kind
    number = _tflite.version(call.input(0), s8=2, s16=_WIDE.get(kind, 1))
    return _tflite.operator(call, sink, kind, inputs, {}, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    name = next((name for name, kind in _ONNX.items() if kind == call.op.kind), "Equal")
    operands = inputs
    if call.input(0).dtype == "bool" and name != "Equal":
        operands = [_onnx.cast(sink, str(x), "s32") for x in inputs]
    found = sink.operator(name, operands, call.outputs)
    return sink.operator("Not", found, call.outputs) if call.op.kind == "NOT_EQUAL" else found


@dataclass(frozen=True)
class Compare(Channelwise):
    """y = kind(a, b), elementwise, broadcasting.

    a, b: one type of s8, u8, s16, s32, s64, f32 and bool; scales, if any, are below 1   y: bool
    Source: TFLite EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, comparisons.cc; ONNX Equal-19, Less-13.
    """

    kind: str

    is_elementwise = True
    tflm_types = dtypes("s8 s32 s64 f32 bool")
    litert_types = dtypes("s8 u8 s16 s32 s64 f16 f32 bool")
    imports = (
        *(Import("tflite", name, from_tflite) for name in _KINDS),
        *(Import("onnx", name, from_onnx) for name in _ONNX),
    )
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    element: ClassVar = dict.fromkeys(_TYPES, element)
    kernels = tuple(
        kernel
        for dtype in _TYPES
        for kernel in _elementwise.kernels(f"mg_compare_{dtype}", dtype, element, result="bool")
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        ordered = self.kind not in ("EQUAL", "NOT_EQUAL")
        if call.input(0).dtype == "bool" and ordered:
            return "no kernel for bool"
        if call.input(0).dtype == "s16" and call.input(0).quant and ordered:
            return "no kernel that rescales int16 data: it compares stored values"
        return super().refused_by(call, runtime)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)

    def quantized(self, call: Call) -> Scales:
        return OWN_BYTES

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        result = plain_types(a, b, _TYPES)
        given = [t for t in (a, b) if t is not None]
        if len({t.quant is None for t in given}) > 1:
            raise QuantizationError(f"operands {a} and {b}: both or neither must have a scale")
        if any(t.quant is not None and t.scale >= 1.0 for t in given):
            raise UnsupportedError(f"comparing {a} and {b} is not supported: scales must be below 1")
        return (TensorType(result.shape, "bool"),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(_KINDS[self.kind][1](a, b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if call.input(0).quant is None:
            return self.reference(a, b)
        sides = (self._steps(call, k, x) for k, x in enumerate((a, b)))
        return self.reference(*sides)

    def _steps(self, call: Call, k: int, x: np.ndarray) -> np.ndarray:
        t = call.input(k)
        return np.asarray(scaled_twice(int64(x) - t.zero_point << _SHIFT, *self._multiplier(t)))

    def _multiplier(self, t: TensorType) -> tuple[int, int]:
        return quantized.product_multiplier((t.scale,), 1.0, in_double=True)

    def scaling(self, call: Call) -> Scaling:
        if call.input(0).quant is None:
            return {}
        return {f"scale {k}": quantize_multiplier(float(np.float32(call.input(k).scale))) for k in (0, 1)}

    def scaling_q(self, call: Call) -> Scaling:
        if call.input(0).quant is None:
            return {}
        return {f"scale {k}": self._multiplier(call.input(k)) for k in (0, 1)}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        found = [
            _example(k, cls(kind), dtype, None)
            for k, (kind, dtype) in enumerate((kind, dtype) for kind in ("EQUAL", "LESS") * 3 for dtype in _TYPES)
        ]
        found += [_example(50 + k, cls(kind), "f32", None) for k, kind in enumerate(_KINDS)]
        scales = ((0.05, 0.04), (0.001, 0.0007), (0.3, 0.1), (0.9, 0.1), (0.3, 0.3))
        return [*found, *(_example(60 + k, cls("GREATER"), "s8", pair) for k, pair in enumerate(scales))]


def _example(k: int, op: Compare, dtype: str, scales: tuple[float, float] | None) -> Example:
    a_shape, b_shape, constant = _elementwise.SHAPES[k % 5]
    zeros = ((-128, 5), (0, 127), (3, -3))[k % 3]
    quants = [QuantParams((s,), (z,)) for s, z in zip(scales, zeros, strict=True)] if scales else [None, None]
    a, b = TensorType(a_shape, dtype, quants[0]), TensorType(b_shape, dtype, quants[1])
    y = TensorType(np.broadcast_shapes(a_shape, b_shape), "bool")
    return Example(op, (a, b), (y,), {} if constant is None else {constant: None}, k)
