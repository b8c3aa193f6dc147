"""Shared recipe of the pooling operators: import, shapes, tap counts, parameters and examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.imports import Source
from mcugen.ir.kernel import RowWindow
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.ranges import Range
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink
from mcugen.ops import _tflite
from mcugen.ops._activation import Activated, float_clamp_fields
from mcugen.ops._channelwise import Channelwise
from mcugen.ops._window import Padding, Pair, SlidingWindow, image, in_words
from mcugen.oracle import quantized

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
DTYPES = ("s8", "u8", "s16", "f32")
MAX_TAPS = 1 << 16


@dataclass(frozen=True)
class Pool(Channelwise, Activated):
    """Base of the pooling operators. kernel, stride: (vertical, horizontal)."""

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    padding: Padding = "VALID"
    activation: str = "NONE"

    takes_images = True

    @property
    def window(self) -> SlidingWindow:
        return SlidingWindow(self.kernel, self.stride, (1, 1), self.padding)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = image(x)
        if x.dtype not in DTYPES:
            raise UnsupportedError(f"pooling of {x.dtype} is not supported", hint=f"use one of {', '.join(DTYPES)}")
        if self.activation not in ACTIVATIONS:
            raise UnsupportedError(f"the fused activation {self.activation} is not supported")
        h, w = self.window.output((x.shape[1], x.shape[2]))
        if self.kernel[0] * self.kernel[1] > MAX_TAPS:
            raise UnsupportedError(f"a window of {self.kernel[0]}x{self.kernel[1]} has more than {MAX_TAPS} taps")
        return (TensorType((x.shape[0], h, w, x.shape[3]), x.dtype),)

    def in_words(self, call: Call) -> str:
        return in_words(self.window, call)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float else {"bounds": activation_range(self.activation, call.output)}

    def scaling_q(self, call: Call) -> Scaling:
        return {} if call.output.is_float else {"bounds": quantized.bounds(self.activation, call.output)}

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """The operand's bounds, clamped by the activation: a rounded mean and a maximum lie within them."""
        x = call.range_of(0)
        return (None if x is None else x.clipped(*activation_range(self.activation, call.output)),)


def attributes(source: Source) -> dict[str, Any]:
    """The fields of a Pool from TFLite's Pool2DOptions."""
    a = source.attributes
    return {
        "kernel": (a["filter_height"], a["filter_width"]),
        "stride": (a["stride_h"], a["stride_w"]),
        "padding": a["padding"],
        "activation": a["fused_activation_function"],
    }


def written(call: Call, sink: Sink, name: str, operand: tuple[str, str]) -> Sequence[str]:
    """The results of a pooling operator, written to TensorFlow Lite. operand: (image, padding "SAME" or "VALID")."""
    op = pool_of(call)
    size = {"filter_height": op.kernel[0], "filter_width": op.kernel[1]}
    attributes = {**size, **_tflite.strides(op.stride), **_tflite.activation(call), "padding": operand[1]}
    number = _tflite.version(call.input(0), s8=2, s16=3)
    return _tflite.operator(call, sink, name, [operand[0]], attributes, number)


def pool_of(call: Call) -> Pool:
    assert isinstance(call.op, Pool)
    return call.op


def row_window(call: Call) -> RowWindow:
    return pool_of(call).window.rows(call.input(0))


def spans(call: Call, d: int) -> np.ndarray:
    """[first, end) of the taps inside the image for each output row (d = 0) or column (d = 1), as int64 [n, 2]."""
    x, y, window = call.input(0).shape, call.output.shape, pool_of(call).window
    start = np.arange(y[1 + d], dtype=np.int64) * window.stride[d] - window.pad((x[1], x[2]))[d]
    return np.stack([np.maximum(start, 0), np.minimum(start + window.kernel[d], x[1 + d])], axis=1)


def tap_counts(call: Call, d: int) -> np.ndarray:
    """Taps inside the image for each output row (d = 0) or column (d = 1)."""
    return np.asarray(spans(call, d) @ np.array([-1, 1]))


TERMS = ("taps",)


def work(call: Call) -> dict[str, float]:
    """The cost term: the taps of all windows."""
    return {"taps": call.output.size * pool_of(call).kernel[0] * pool_of(call).kernel[1]}


def geometry(call: Call) -> Params:
    """The geometry fields of the C structs of pooling kernels."""
    x, y, op = call.input(0).shape, call.output.shape, pool_of(call)
    pad = op.window.pad((x[1], x[2]))
    return {
        "kernel_h": op.kernel[0],
        "kernel_w": op.kernel[1],
        "stride_h": op.stride[0],
        "stride_w": op.stride[1],
        "pad_h": pad[0],
        "pad_w": pad[1],
        "in_h": x[1],
        "in_w": x[2],
        "out_w": y[2],
        "channels": x[3],
    }


def clamp(call: Call) -> Params:
    """out_min and out_max of the C structs."""
    activation = pool_of(call).activation
    if call.output.is_float:
        return float_clamp_fields(call, activation)
    low_q, high_q = activation_range(activation, call.output)
    return {"out_min": low_q, "out_max": high_q}


def data_is(dtype: str, name: str) -> Rule:
    """A rule: input and output have this element type."""

    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype and call.output.dtype == dtype

    rule.__doc__ = f"input and output are {name}"
    return rule


int8_data = data_is("s8", "int8")
int16_data = data_is("s16", "int16")
float_data = data_is("f32", "float32")

CASES: tuple[dict[str, Any], ...] = (
    {"size": (5, 7), "c": 3, "kernel": (3, 3), "padding": "SAME", "zero": -128},
    {"size": (6, 5), "c": 8, "kernel": (2, 4), "stride": (2, 1), "padding": "SAME", "zero": 0, "activation": "RELU"},
    {"size": (7, 4), "c": 5, "kernel": (2, 2), "stride": (2, 2), "zero": 127},
    {"size": (1, 6), "c": 17, "kernel": (3, 3), "padding": "SAME", "zero": 3},
    {"size": (6, 1), "c": 1, "kernel": (3, 1), "zero": -5},
    {"size": (3, 3), "c": 4, "kernel": (5, 5), "padding": "SAME", "zero": 11, "activation": "RELU_N1_TO_1"},
    {"size": (7, 7), "c": 3, "kernel": (2, 2), "stride": (3, 3), "zero": -128, "activation": "RELU6"},
    {"size": (5, 3), "c": 6, "kernel": (5, 3), "zero": 9, "batch": 2},
    {"size": (4, 6), "c": 9, "kernel": (7, 11), "stride": (4, 6), "padding": "SAME", "zero": -7},
    {"size": (5, 6), "c": 3, "kernel": (3, 3), "stride": (2, 2), "padding": ((1, 1), (1, 1)), "zero": 5},
    {"size": (4, 4), "c": 2, "kernel": (1, 1), "stride": (2, 3), "zero": 0, "batch": 3},
)


def examples(make: Callable[[Pair, Pair, Padding, str], Op], dtypes: Sequence[str]) -> Sequence[Example]:
    """One example per case and element type. make: the operator for (kernel, stride, padding, activation)."""
    return [_example(k, make, dtype, **case) for dtype in dtypes for k, case in enumerate(CASES)]


def _example(
    seed: int,
    make: Callable[[Pair, Pair, Padding, str], Op],
    dtype: str,
    size: Pair,
    c: int,
    kernel: Pair,
    zero: int,
    stride: Pair = (1, 1),
    padding: Padding = "VALID",
    activation: str = "NONE",
    batch: int = 1,
) -> Example:
    op = make(kernel, stride, padding, activation)
    quant = {
        "s8": QuantParams((0.05,), (zero,)),
        "s16": QuantParams((0.0003,), (0,)),
        "f32": None,
    }[dtype]
    x = TensorType((batch, *size, c), dtype, quant)
    y = TensorType(op.infer(x)[0].shape, dtype, quant)
    return Example(op, (x,), (y,), {}, seed)
