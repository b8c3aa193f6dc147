"""FULLY_CONNECTED: a matrix times each vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.numeric import (
    activation_bounds,
    activation_range,
    multiply_double_rounding,
    multiply_single_rounding,
    multiply_wide,
    wrap32,
)
from mcugen.op import Call, Example, Form, Import, Imported, Kernel, Op, Params, Source
from mcugen.ops import _filter
from mcugen.types import QuantParams, TensorType


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    if a["weights_format"] != "DEFAULT":
        raise UnsupportedError(f"weights format {a['weights_format']} is not supported")
    a["asymmetric_quantize_inputs"]  # only matters for float input with int8 weights, which is refused
    return Imported(FullyConnected(a["fused_activation_function"], bool(a["keep_num_dims"])))


def rounds_once(call: Call) -> bool:
    """LiteRT's int8 fully connected rounds once, TFLM's twice."""
    return call.reference == "litert" and call.input(0).dtype == "s8"


def _matrix(call: Call) -> np.ndarray:
    return _filter.centred(call, call.constant(1))


def accumulators_fit(call: Call) -> bool:
    "no sum of products can leave 32 bits"
    return _filter.accumulators_fit(call, 2, _matrix(call))


def params_s8(call: Call) -> Params:
    w = _matrix(call)
    scales = call.input(1).quant
    per_channel = scales is not None and scales.per_channel
    mult, shift = _filter.multipliers(call, w.shape[0] if per_channel else 1)
    return {
        "weights": _filter.interleave(w, 4).astype(np.int8),
        "bias": _filter.folded_bias(call, 2, w.sum(axis=1)).astype(np.int32),
        "mult": mult,
        "shift": shift,
        "in_len": w.shape[1],
        "out_len": w.shape[0],
        **_filter.clamp_fields(call.op.activation, call.output),  # type: ignore[attr-defined]
        "scale_stride": int(per_channel),
        "rounds_once": int(rounds_once(call)),
    }


def vectors(call: Call) -> int:
    """Vectors of the output."""
    return call.output.size // call.input(1).shape[0]


@dataclass(frozen=True)
class FullyConnected(Op):
    """y[n, o] = activation(b[o] + sum over k of w[o, k] * x[n, k]).

    x: s8, s16, u8 or f32, any shape with a multiple of K elements   w: [O, K], s8 (u8 with u8, f32 with f32)
    b: s32 (s64 with s16 data, f32 with f32) [O] or absent   y: as x, [N, O], or [..., O] with keep_dims
    Source: TFLite FULLY_CONNECTED; quantization specification, section FULLY_CONNECTED.
    """

    activation: str = "NONE"
    keep_dims: bool = False

    imports = (Import("tflite", "FULLY_CONNECTED", from_tflite),)
    weight_operands = (1,)
    kernels = (
        Kernel(
            "mg_fully_connected_s8",
            Form.POINTWISE,
            accepts=(_filter.int8_data, _filter.constant_weights, accumulators_fit),
            params=params_s8,
            count=vectors,
        ),
    )

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:  # type: ignore[override]
        if x is None or w is None or len(w.shape) != 2:
            raise ShapeError(f"weights must have the shape [outputs, inputs], not {w}")
        outputs, inputs = w.shape
        if x.size % inputs or (self.keep_dims and x.shape[-1] != inputs):
            raise ShapeError(f"an input {list(x.shape)} cannot be split into vectors of {inputs}")
        _filter.check_types(x, w, b, outputs)
        shape = (*x.shape[:-1], outputs) if self.keep_dims else (x.size // inputs, outputs)
        return (TensorType(shape, x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:  # type: ignore[override]
        y = x.reshape(-1, w.shape[1]) @ w.T + (0.0 if b is None else b)
        return np.clip(y, *activation_bounds(self.activation))

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:  # type: ignore[override]
        """Bit-exact integer matrix product; 8 bit sums wrap to int32.

        Source: reference_integer_ops/fully_connected.h; LiteRT's int8 form rounds once, all others as convolutions.
        """
        y = call.output
        centred = (x.astype(np.int64) - call.input(0).zero_point).reshape(-1, w.shape[1])
        sums = centred.astype(np.float64) @ _filter.centred(call, w).astype(np.float64).T
        acc = sums.astype(np.int64) + (0 if b is None else b.astype(np.int64))
        mult, shift = _filter.multipliers(call, w.shape[0])
        if x.dtype == np.int16:
            scaled = multiply_wide(acc, mult, shift)
        elif rounds_once(call):
            scaled = multiply_single_rounding(wrap32(acc), mult, shift)
        else:
            scaled = multiply_double_rounding(wrap32(acc), mult, shift)
        return np.clip(scaled + y.zero_point, *activation_range(self.activation, y))

    def macs(self, call: Call) -> int:
        return call.output.size * call.input(1).shape[1]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"shape": (1, 5), "outputs": 3, "zero": -128},
    {"shape": (1, 17), "outputs": 9, "zero": 127, "activation": "RELU"},
    {"shape": (3, 8), "outputs": 4, "zero": 0, "gain": 3.0},
    {"shape": (2, 3, 6), "outputs": 5, "zero": 7, "keep_dims": True, "bias": False},
    {"shape": (1, 2, 2, 4), "outputs": 8, "zero": -9, "per_channel": True, "activation": "RELU6"},
    {"shape": (1, 1), "outputs": 16, "zero": -128, "gain": 1e-8},
    {"shape": (1, 64), "outputs": 6, "zero": 11, "bias_max": 2**30, "gain": 1e-6},
)


def _example(
    seed: int,
    shape: tuple[int, ...],
    outputs: int,
    zero: int,
    activation: str = "NONE",
    gain: float = 0.02,
    keep_dims: bool = False,
    per_channel: bool = False,
    bias: bool = True,
    bias_max: int = 3000,
) -> Example:
    op = FullyConnected(activation, keep_dims)
    rng = np.random.default_rng(seed)
    inputs = shape[-1] if keep_dims or len(shape) == 2 else int(np.prod(shape))
    count = outputs if per_channel else 1
    x = TensorType(shape, "s8", QuantParams((0.5,), (zero,)))
    w = TensorType((outputs, inputs), "s8", QuantParams(tuple(0.5 + 0.1 * k for k in range(count)), (0,) * count))
    b = TensorType((outputs,), "s32") if bias else None
    y = TensorType(op.infer(x, w, b)[0].shape, "s8", QuantParams((0.25 / gain,), (zero // 3,)))
    constants = {1: None} | ({2: rng.integers(-bias_max, bias_max, outputs).astype(np.int32)} if bias else {})
    return Example(op, (x, w, b), (y,), constants, seed)
