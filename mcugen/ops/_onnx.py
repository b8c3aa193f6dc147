"""Shared recipe of writing operators to ONNX, opset 21.

Operators are written on real numbers: the writer adds QuantizeLinear and DequantizeLinear around values with a scale.
Axes, shapes and bounds are passed as attributes, even if ONNX has them as operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import activation_bounds
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops._window import SlidingWindow

Attributes = Callable[[Call], Mapping[str, object]]
_FIRST, _LAST = (0, 3, 1, 2), (0, 2, 3, 1)
NARROW = ("bool", "s8", "u8", "s16")
"""Element types for which runtimes lack arithmetic operators."""
BEFORE_FIRST = -(1 << 31)
"""The end of a slice with a negative step that includes the first element."""
_NONE: Mapping[str, Any] = MappingProxyType({})


def _none(call: Call) -> Mapping[str, object]:
    return {}


def same(name: str, attributes: Attributes = _none) -> Write:
    """A Write to the ONNX operator `name` with the same operands and results, then to the fused activation, if any."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        if len(call.outputs) > 1:
            return sink.operator(name, inputs, call.outputs, attributes(call))
        return [activated(call, sink, name, inputs, attributes(call))]

    return Write("onnx", write)


def real(t: TensorType) -> TensorType:
    """float32 in place of a quantized type; other types unchanged."""
    return t if t.quant is None else TensorType(t.shape, "f32")


def activated(
    call: Call, sink: Sink, name: str, inputs: Sequence[str | None], attributes: Mapping[str, Any] = _NONE
) -> str:
    """The result of the ONNX operator `name`, followed by the call's activation."""
    return clamped(call, sink, call.output, lambda t: sink.operator(name, inputs, [t], attributes)[0])


def clamped(call: Call, sink: Sink, y: TensorType, make: Callable[[TensorType], str]) -> str:
    """The name of the call's result, after its activation. make: appends the operators before the activation.

    y: type of the result. make: takes the type that the activation reads, and returns the name of that value.
    """
    activation = getattr(call.op, "activation", "NONE")
    if activation == "NONE":
        return make(y)
    return clip(sink, make(real(y)), y, *activation_bounds(activation))


def clip(sink: Sink, x: str, y: TensorType, low: float, high: float) -> str:
    """x clamped to [low, high], as a value of type y. Either bound may be infinite."""
    if not real(y).is_float:
        raise UnsupportedError(f"a clamp of {y}: only float and quantized values can be clamped in .onnx")
    if (low, high) == (0.0, math.inf):
        return sink.operator("Relu", [x], [y])[0]
    bounds = {"min": low, "max": high}
    return sink.operator("Clip", [x], [y], {k: v for k, v in bounds.items() if not math.isinf(v)})[0]


def constant(sink: Sink, value: float) -> str:
    """A float32 constant without axes."""
    return sink.constant(np.array(value, np.float32))


def transposed(sink: Sink, x: str, perm: Sequence[int]) -> str:
    return sink.operator("Transpose", [x], [permuted(sink.type(x), perm)], {"perm": tuple(perm)})[0]


def permuted(t: TensorType, perm: Sequence[int]) -> TensorType:
    """The type of a transposed tensor, whose axis k is axis perm[k] of t."""
    quant = t.quant
    if quant is not None and quant.per_channel:
        quant = replace(quant, axis=tuple(perm).index(quant.axis))
    return TensorType(tuple(t.shape[k] for k in perm), t.dtype, quant)


def reshaped(sink: Sink, x: str, y: TensorType) -> str:
    return x if sink.type(x) == y else sink.operator("Reshape", [x], [y], {"shape": y.shape})[0]


def channels_first_type(t: TensorType) -> TensorType:
    return permuted(t, _FIRST)


def channels_first(sink: Sink, x: str) -> str:
    """An image [N, H, W, C], transposed to [N, C, H, W]."""
    return transposed(sink, x, _FIRST)


def channels_last(sink: Sink, x: str) -> str:
    """An image [N, C, H, W], transposed to [N, H, W, C]."""
    return transposed(sink, x, _LAST)


def on_images(
    call: Call, sink: Sink, name: str, inputs: Sequence[str | None], attributes: Mapping[str, Any] = _NONE
) -> Sequence[str]:
    """The result [N, H, W, C] of an operator that ONNX has on images [N, C, H, W].

    inputs: the image [N, H, W, C], then further operands in ONNX's layout.
    """
    operands = [channels_first(sink, str(inputs[0])), *inputs[1:]]
    first = channels_first_type(call.output)
    y = clamped(call, sink, first, lambda t: sink.operator(name, operands, [t], attributes)[0])
    return [channels_last(sink, y)]


def geometry(window: SlidingWindow, shape: Sequence[int]) -> dict[str, Any]:
    """The ONNX attributes of a window over images of that shape, [N, H, W, C]."""
    size = (shape[1], shape[2])
    out, before = window.output(size), window.pad(size)
    after = [(out[d] - 1) * window.stride[d] + window.extent(d) - size[d] - before[d] for d in (0, 1)]
    found = {"strides": window.stride, "dilations": window.dilation}
    stated = {key: value for key, value in found.items() if value != (1, 1)}
    pads = (*before, *(max(n, 0) for n in after))
    return {"kernel_shape": window.kernel, **stated, **({"pads": pads} if any(pads) else {})}


def weighted(
    call: Call, sink: Sink, y: TensorType, name: str, operands: Sequence[str], attributes: Mapping[str, Any], axis: int
) -> str:
    """The result, of type y, of a product such as Conv with the call's bias and activation. axis: y's axis of channels.

    The bias is an operand of the product. An integer bias beyond 32 bits is written as a float Add after it, because
    runtimes would convert it to int32.
    """

    def made(t: TensorType) -> str:
        data, quant, last = _bias(call)
        if data is None or not last:
            added = [] if data is None else [sink.constant(data, quant)]
            return sink.operator(name, [*operands, *added], [t], attributes)[0]
        along = (-1, *(1 for _ in t.shape[axis + 1 :]))
        total = sink.operator(name, operands, [real(t)], attributes)[0]
        return sink.operator("Add", [total, sink.constant(data.reshape(along))], [t])[0]

    return clamped(call, sink, y, made)


def _bias(call: Call) -> tuple[np.ndarray | None, QuantParams | None, bool]:
    """(bias, its scales, whether an Add after the product adds it); (None, None, False) without a bias."""
    if not call.has(2):
        return None, None, False
    stated = call.constants[2]
    if stated is None:
        raise UnsupportedError("the bias is computed at run time: .onnx files need a constant bias")
    data, x, w = stated.reshape(-1), call.input(0).quant, call.input(1).quant
    if data.dtype.kind == "f" or x is None or w is None:
        return data, None, False
    scales = np.float32(x.scale[0]) * np.array(w.scale, np.float32)
    if np.abs(data).max(initial=0) > np.iinfo(np.int32).max:
        return (data * scales.astype(np.float64)).astype(np.float32), None, True
    return data.astype(np.int32), QuantParams(tuple(float(s) for s in scales), (0,) * scales.size), False


def stored(sink: Sink, x: str, t: TensorType) -> str:
    """The stored integers of x as a value of type t, which has another scale or none."""
    return x if sink.type(x) == t else sink.operator("Stored", [x], [t])[0]


def _plain_weights(call: Call, sink: Sink, name: str, perm: Sequence[int]) -> str:
    return transposed(sink, name, perm)


def convolution(
    perm: Sequence[int], form: Callable[[Call, Sink, str, Sequence[int]], str] = _plain_weights
) -> Write:
    """A Write to Conv. perm: transposes the weights to [outputs, inputs of a group, height, width]. form: returns the
    weights, transposed, as the file holds them.
    """

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        x, w = call.input(0).shape, call.input(1).shape
        weights = form(call, sink, str(inputs[1]), perm)
        attributes = {**geometry(call.op.window(w), x), "group": x[3] // sink.type(weights).shape[1]}
        operands = [channels_first(sink, str(inputs[0])), weights]
        return [
            channels_last(sink, weighted(call, sink, channels_first_type(call.output), "Conv", operands, attributes, 1))
        ]

    return Write("onnx", write)


def pool(name: str) -> Write:
    """A Write to a pooling operator."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        return on_images(call, sink, name, inputs, geometry(call.op.window, call.input(0).shape))

    return Write("onnx", write)


def reduced(name: str) -> Write:
    """A Write to a reduction."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        axes = call.op.chosen(len(call.input(0).shape))
        return sink.operator(name, inputs[:1], call.outputs, {"axes": axes, "keepdims": int(call.op.keep_dims)})

    return Write("onnx", write)


def cast(sink: Sink, x: str, dtype: str) -> str:
    """x, which has no scale, cast to another element type."""
    t = sink.type(x)
    return x if t.dtype == dtype else sink.operator("Cast", [x], [TensorType(t.shape, dtype)], {"to": dtype})[0]


def in_wide(
    call: Call, sink: Sink, name: str, inputs: Sequence[str | None], attributes: Mapping[str, Any] = _NONE
) -> str:
    """The result of an operator. Integers of `NARROW` types without scales are cast to int32 and back."""
    if call.output.dtype not in NARROW or call.output.quant is not None:
        return sink.operator(name, inputs, call.outputs, attributes)[0]
    operands = [None if x is None else cast(sink, x, "s32") for x in inputs]
    wide = sink.operator(name, operands, [TensorType(call.output.shape, "s32")], attributes)[0]
    return cast(sink, wide, call.output.dtype)


def bounded(sink: Sink, index: str, sizes: Sequence[int]) -> str:
    """Indices clamped to [0, size - 1]. sizes: one size, or one for each index along the last axis."""
    t, data = sink.type(index), sink.data(index)
    most = np.array([size - 1 for size in sizes], t.np_dtype)
    if data is not None:
        return sink.constant(np.clip(data, 0, most if most.size > 1 else most[0]).astype(t.np_dtype))
    above = sink.operator("Max", [index, sink.constant(np.zeros((), t.np_dtype))], [t])[0]
    bound = sink.constant(most if most.size > 1 else most.reshape(()))
    return sink.operator("Min", [above, bound], [t])[0]


def looked_up(call: Call, sink: Sink, x: str, place: tuple[str, str], values: np.ndarray) -> str:
    """The result of a table of stored integers, written as Gather.

    place: operator and constant operand that turn a stored integer into an index. values: the table.
    """
    t = TensorType(call.output.shape, "s32")
    plain = cast(sink, stored(sink, x, TensorType(t.shape, call.input(0).dtype)), "s32")
    at = sink.operator(place[0], [plain, place[1]], [t])[0]
    data = sink.constant(values.astype(call.output.np_dtype))
    found = sink.operator("Gather", [data, at], [TensorType(t.shape, call.output.dtype)], {"axis": 0})[0]
    return stored(sink, found, call.output)
