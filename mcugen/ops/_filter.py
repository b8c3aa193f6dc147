"""Shared recipe of operators with weights: multipliers, folded biases, accumulator bounds, packing."""

from __future__ import annotations

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.numeric import activation_range, quantize_multiplier
from mcugen.op import Call
from mcugen.types import TensorType

WEIGHT_TYPES = {"s8": "s8", "s16": "s8", "u8": "u8", "f32": "f32"}
BIAS_TYPES = {"s8": ("s32",), "s16": ("s64", "s32"), "u8": ("s32",), "f32": ("f32",)}


def check_types(x: TensorType, w: TensorType, b: TensorType | None, channels: int) -> None:
    """Raise UnsupportedError or QuantizationError on operand types that no runtime computes together."""
    if x.dtype == "f32" and w.dtype == "s8":
        raise UnsupportedError("float input with int8 weights (dynamic-range quantization) is not supported")
    allowed = (WEIGHT_TYPES.get(x.dtype), "s16" if x.dtype == "s8" else None)
    if w.dtype not in allowed:
        raise UnsupportedError(f"{x.dtype} input with {w.dtype} weights is not supported")
    if b is not None and (b.dtype not in BIAS_TYPES[x.dtype] or b.size != channels):
        raise UnsupportedError(f"bias {b} does not fit {channels} outputs of {x.dtype} input")
    for name, t in (("input", x), ("weights", w)):
        if not t.is_float and t.quant is None:
            raise QuantizationError(f"the {name} {t} has no scale")
    if w.quant and len(w.quant.scale) not in (1, channels):
        raise QuantizationError(f"the weights {w} have {len(w.quant.scale)} scales for {channels} outputs")


def scales(w: TensorType, channels: int) -> np.ndarray:
    """The weight scale of each output channel, in float64."""
    if w.quant is None:
        raise QuantizationError(f"the weights {w} have no scale")
    return np.broadcast_to(np.asarray(w.quant.scale, np.float32).astype(np.float64), (channels,))


def multipliers(call: Call, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """(mult s32, shift s8) of each output channel: scale_x * scale_w / scale_y.

    Source: kernel_util.cc, PopulateConvolutionQuantizationParams (float scales, double arithmetic).
    """
    x, y = np.float64(np.float32(call.input(0).scale)), np.float64(np.float32(call.output.scale))
    pairs = [quantize_multiplier(float(x * w / y)) for w in scales(call.input(1), channels)]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)


def centred(call: Call, w: np.ndarray, axis: int = 0) -> np.ndarray:
    """The stored weights less their zero points, in int64; zero points run along `axis`."""
    quant = call.input(1).quant
    zero = np.asarray(quant.zero_point if quant else (0,), np.int64)
    shape = [1] * w.ndim
    shape[axis] = zero.size
    return w.astype(np.int64) - zero.reshape(shape)


def bias_of(call: Call, k: int, channels: int) -> np.ndarray:
    """The constant bias operand in int64, zeros where there is none."""
    return call.constant(k).reshape(-1).astype(np.int64) if call.has(k) else np.zeros(channels, np.int64)


def folded_bias(call: Call, k: int, sums: np.ndarray) -> np.ndarray:
    """bias - zero_point(x) * sum of weights, per output channel, in int64. sums: weight sums per channel."""
    return bias_of(call, k, sums.size) - call.input(0).zero_point * sums


def accumulators_fit(call: Call, k: int, w: np.ndarray) -> bool:
    """Whether |folded bias| + sum |w| * max |x| stays in 32 bits. w: int64 [channels, taps], zero points removed."""
    most = 128 * np.abs(w).sum(axis=1) + np.abs(folded_bias(call, k, w.sum(axis=1)))
    return bool(most.max(initial=0) < 2**31)


def interleave(w: np.ndarray, block: int) -> np.ndarray:
    """[channels, taps] packed in the order blocked kernels read: blocks of `block` channels tap by tap, then the rest."""
    full = w.shape[0] // block * block
    blocks = w[:full].reshape(-1, block, w.shape[1]).transpose(0, 2, 1)
    return np.concatenate([blocks.reshape(-1), w[full:].reshape(-1)])


def clamp_fields(activation: str, y: TensorType) -> dict[str, int]:
    """out_zero_point, out_min and out_max of the C parameter structs."""
    low, high = activation_range(activation, y)
    return {"out_zero_point": y.zero_point, "out_min": low, "out_max": high}


def constant_weights(call: Call) -> bool:
    "weights and bias are constants"
    return all(c is not None for t, c in zip(call.inputs[1:], call.constants[1:], strict=True) if t is not None)


def int8_data(call: Call) -> bool:
    "input, weights and output are int8"
    return (call.input(0).dtype, call.input(1).dtype, call.output.dtype) == ("s8", "s8", "s8")
