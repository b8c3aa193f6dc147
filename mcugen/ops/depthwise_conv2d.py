"""DEPTHWISE_CONV_2D: two-dimensional convolution of each channel by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from mcugen.errors import ShapeError
from mcugen.numeric import activation_bounds, activation_range, multiply_double_rounding, multiply_wide, wrap32
from mcugen.op import Call, Example, Form, Import, Imported, Kernel, Op, Params, RowWindow, Source
from mcugen.ops import _filter
from mcugen.ops._window import Pair, Window, fields, image
from mcugen.types import QuantParams, TensorType

BLOCK = 4


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    a["depth_multiplier"]  # follows from the shapes; the schema calls it redundant
    return Imported(
        DepthwiseConv2D(
            stride=(a["stride_h"], a["stride_w"]),
            dilation=(a["dilation_h_factor"], a["dilation_w_factor"]),
            padding=a["padding"],
            activation=a["fused_activation_function"],
        )
    )


def window_of(call: Call) -> Window:
    op, w = cast(DepthwiseConv2D, call.op), call.input(1)
    return Window((w.shape[1], w.shape[2]), op.stride, op.dilation, op.padding)


def row_window(call: Call) -> RowWindow:
    return window_of(call).rows(call.input(0))


def multiplier_of(call: Call) -> int:
    """Output channels per input channel."""
    return call.output.shape[3] // call.input(0).shape[3]


def _matrix(call: Call) -> np.ndarray:
    """The weights as int64 [output channels, taps], zero points removed."""
    w = call.constant(1)
    return _filter.centred(call, w, 3).reshape(-1, w.shape[3]).T


def accumulators_fit(call: Call) -> bool:
    "no sum of products can leave 32 bits"
    return _filter.accumulators_fit(call, 2, _matrix(call))


def params_s8(call: Call) -> Params:
    x, y, w = call.input(0), call.output, _matrix(call)
    multiplier = multiplier_of(call)
    mult, shift = _filter.multipliers(call, w.shape[0])
    return {
        "weights": _filter.interleave(w, BLOCK if multiplier == 1 else 1).astype(np.int8),
        "bias": _filter.folded_bias(call, 2, w.sum(axis=1)).astype(np.int32),
        "mult": mult,
        "shift": shift,
        **fields(window_of(call), x, y, adjacent=False),
        "depth_multiplier": multiplier,
        "in_zero_point": x.zero_point,
        **_filter.clamp_fields(call.op.activation, y),  # type: ignore[attr-defined]
    }


@dataclass(frozen=True)
class DepthwiseConv2D(Op):
    """y[n, i, j, o] = activation(b[o] + sum over taps of w[0, kh, kw, o] * x[n, i*s+kh*d-p, ..., o / multiplier]).

    x: s8, s16, u8 or f32 [N, H, W, C]   w: [1, KH, KW, O], O a multiple of C, s8 per channel (u8 with u8, f32 with f32)
    b: s32 (s64 with s16 data, f32 with f32) [O] or absent   y: as x, [N, OH, OW, O]
    Source: TFLite DEPTHWISE_CONV_2D; quantization specification, section DEPTHWISE_CONV_2D.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: str = "SAME"
    activation: str = "NONE"

    imports = (Import("tflite", "DEPTHWISE_CONV_2D", from_tflite),)
    weight_operands = (1,)
    kernels = (
        Kernel(
            "mg_depthwise_conv2d_s8",
            Form.WINDOW,
            accepts=(_filter.int8_data, _filter.constant_weights, accumulators_fit),
            params=params_s8,
            window=row_window,
            outside=lambda call: call.input(0).zero_point,
        ),
    )

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:  # type: ignore[override]
        x, w = image(x), image(w, "weights")
        if w.shape[0] != 1 or w.shape[3] % x.shape[3]:
            raise ShapeError(f"weights {list(w.shape)} must be [1, KH, KW, a multiple of {x.shape[3]} channels]")
        _filter.check_types(x, w, b, w.shape[3])
        h, width = self._window(w.shape).output((x.shape[1], x.shape[2]))
        return (TensorType((x.shape[0], h, width, w.shape[3]), x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:  # type: ignore[override]
        y = self._sums(x, w) + (0.0 if b is None else b)
        return np.clip(y, *activation_bounds(self.activation))

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:  # type: ignore[override]
        """Bit-exact integer convolution; sums are exact and wrap to int32 for 8 bit data.

        Source: reference_integer_ops/depthwise_conv.h, reference_ops::DepthwiseConv (uint8).
        """
        y = call.output
        centred = (x.astype(np.int64) - call.input(0).zero_point).astype(np.float64)
        sums = self._sums(centred, _filter.centred(call, w, 3).astype(np.float64))
        acc = sums.astype(np.int64) + (0 if b is None else b.astype(np.int64))
        mult, shift = _filter.multipliers(call, w.shape[3])
        scaled = multiply_wide(acc, mult, shift) if x.dtype == np.int16 else multiply_double_rounding(wrap32(acc), mult, shift)
        return np.clip(scaled + y.zero_point, *activation_range(self.activation, y))

    def macs(self, call: Call) -> int:
        return call.output.size * int(np.prod(call.input(1).shape[1:3]))

    def _window(self, w: Sequence[int]) -> Window:
        return Window((w[1], w[2]), self.stride, self.dilation, self.padding)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The plain convolution in float64, exact for integers: sums stay below 2**53."""
        spread = np.repeat(x, w.shape[3] // x.shape[3], axis=3)
        parts = (tap * w[0, i, j] for i, j, tap in self._window(w.shape).taps(spread, 0.0))
        return sum(parts)  # type: ignore[return-value]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (5, 7), "c": 3, "kernel": (3, 3), "zero": -128},
    {"size": (6, 5), "c": 8, "kernel": (2, 4), "stride": (2, 1), "zero": 0},
    {"size": (9, 9), "c": 5, "kernel": (3, 3), "dilation": (2, 2), "zero": 127},
    {"size": (1, 6), "c": 1, "multiplier": 3, "kernel": (3, 3), "zero": 3},
    {"size": (6, 1), "c": 17, "kernel": (3, 1), "padding": "VALID", "zero": -5},
    {"size": (3, 3), "c": 4, "kernel": (5, 5), "zero": 11},
    {"size": (7, 7), "c": 8, "kernel": (2, 2), "stride": (3, 3), "zero": -128, "activation": "RELU6"},
    {"size": (4, 8), "c": 3, "multiplier": 2, "kernel": (3, 3), "zero": 127, "activation": "RELU"},
    {"size": (5, 5), "c": 4, "kernel": (1, 1), "stride": (2, 2), "zero": 0},
    {"size": (3, 4), "c": 4, "kernel": (1, 1), "zero": 0, "gain": 4.0, "batch": 2},
    {"size": (4, 3), "c": 9, "kernel": (3, 2), "zero": 0, "gain": 1e-7, "batch": 3, "bias": False},
    {"size": (4, 4), "c": 6, "kernel": (3, 3), "zero": -128, "gain": 2.0, "bias_max": 2**30},
)


def _example(
    seed: int,
    size: Pair,
    c: int,
    kernel: Pair,
    zero: int,
    multiplier: int = 1,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    gain: float = 0.03,
    batch: int = 1,
    bias: bool = True,
    bias_max: int = 2000,
) -> Example:
    """gain: output steps per accumulator count, so that multipliers above 1 and long shifts occur."""
    op = DepthwiseConv2D(stride, dilation, padding, activation)
    rng = np.random.default_rng(seed)
    o = c * multiplier
    x = TensorType((batch, *size, c), "s8", QuantParams((0.5,), (zero,)))
    w = TensorType((1, *kernel, o), "s8", QuantParams(tuple(0.5 + 0.25 * k for k in range(o)), (0,) * o, 3))
    b = TensorType((o,), "s32") if bias else None
    y = TensorType(op.infer(x, w, b)[0].shape, "s8", QuantParams((0.25 / gain,), (-zero // 2,)))
    constants = {1: None} | ({2: rng.integers(-bias_max, bias_max, o).astype(np.int32)} if bias else {})
    return Example(op, (x, w, b), (y,), constants, seed)
