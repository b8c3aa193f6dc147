"""Examples of operators with weights, for each combination of the types of data, weights and bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType

KINDS = {
    "s8": ("s8", "s8", "s32"),
    "s8w4": ("s8", "s8", "s32"),
    "s8w8": ("s8", "s8", "s32"),
    "s8w9": ("s8", "s16", "s32"),
    "s8w16": ("s8", "s16", "s32"),
    "s8b4": ("s8", "s16", "s32"),
    "s16": ("s16", "s8", "s64"),
    "f32": ("f32",) * 3,
    "f16": ("f32",) * 3,
}
"""Kind of an example -> element types of data, weights and bias.

s8w4: weights of 4 bits. s8w8: weights of which many are -128. s8w9: uint8 weights minus a zero point. s8b4: weights of
4 bits times a factor for each block of 32. f16: float32 weights that float16 can hold.
"""
_BLOCK = 32


def example(
    op: Op,
    seed: int,
    shape: Sequence[int],
    weights: Sequence[int],
    axis: int,
    kind: str = "s8",
    zero: int = 0,
    gain: float = 0.01,
    bias: bool = True,
    bias_max: int = 2000,
    bias_dtype: str = "",
    per_channel: bool = True,
    out_zero: int | None = None,
) -> Example:
    """An example with data and weights of these shapes. axis: the output channels' axis of the weights.

    zero, out_zero: the input's zero point, and the output's, by default -zero // 2.
    gain: output steps per unit of the sum; high and low values test multipliers above 1 and long shifts.
    bias_max: largest magnitude of an integer bias. bias_dtype: its type, by default that of `kind`.
    """
    data_dtype, weight_dtype, usual = KINDS[kind]
    channels = weights[axis]
    bias_dtype = bias_dtype or ("s32" if getattr(op, "rounding", "") and kind not in ("f32", "f16") else usual)
    b = TensorType((channels,), bias_dtype) if bias else None
    constants: dict[int, np.ndarray | None] = {1: _weights(seed, weights, kind)}
    if b:
        constants[2] = _bias(seed, b, bias_max)
    if kind in ("f32", "f16"):
        x, w = TensorType(tuple(shape), "f32"), TensorType(tuple(weights), "f32")
        return Example(op, (x, w, b), (op.infer(x, w, b)[0],), constants, seed)
    zero = 0 if kind == "s16" and not getattr(op, "rounding", "") else zero
    count = channels if per_channel and kind not in ("s8w9", "s8w16") else 1
    x = TensorType(tuple(shape), data_dtype, QuantParams((0.5,), (zero,)))
    scale = tuple(0.5 + 0.25 * k for k in range(count))
    block = _BLOCK if kind == "s8b4" else 0
    w = TensorType(tuple(weights), weight_dtype, QuantParams(scale, (0,) * count, axis if count > 1 else 0, block))
    quant = QuantParams((0.25 / gain,), (-zero // 2 if out_zero is None else out_zero,))
    return Example(op, (x, w, b), (TensorType(op.infer(x, w, b)[0].shape, data_dtype, quant),), constants, seed)


def _weights(seed: int, shape: Sequence[int], kind: str) -> np.ndarray | None:
    """Weights for a kind of `KINDS` that limits their values, else None. In s8w4 only the first weight is -8. Those in
    blocks have the output channels first.
    """
    rng = np.random.default_rng(seed)
    if kind == "s8w4":
        narrow = rng.integers(-7, 7, shape, np.int8, endpoint=True)
        narrow.reshape(-1)[0] = -8
        return narrow
    if kind == "s8w8":
        whole = rng.integers(-128, 128, shape, np.int8)
        whole.reshape(-1)[::5] = -128
        return whole
    if kind == "s8b4":
        length = int(np.prod(shape[1:]))
        factors = np.repeat(rng.integers(1, 255, (shape[0], -(-length // _BLOCK)), np.int16, endpoint=True), _BLOCK, 1)
        narrow = rng.integers(-8, 7, (shape[0], length), np.int16, endpoint=True)
        return np.asarray(narrow * factors[:, :length]).reshape(shape)
    if kind == "f16":
        halves = rng.normal(0, 0.5, shape).astype(np.float16)
        halves.reshape(-1)[::5] *= np.float16(2**-15)  # float16 subnormals, which have fewer bits
        halves.reshape(-1)[::17] = 0
        return halves.astype(np.float32)
    if kind == "s8w9":
        legacy = np.clip(np.round(rng.normal(128, 40, shape)), 0, 255).astype(np.int16)
        legacy.reshape(-1)[:2] = 0, 255
        return legacy - rng.integers(100, 156, dtype=np.int16)
    if kind != "s8w16":
        return None
    wide = rng.integers(-128, 128, shape, np.int16)
    wide.reshape(-1)[::23] = rng.integers(128, 256, -(-wide.size // 23)) * rng.choice([-1, 1])
    return wide


def _bias(seed: int, b: TensorType, most: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if b.is_float:
        return rng.standard_normal(b.shape).astype(np.float32)
    return rng.integers(-most, most, b.shape, endpoint=True).astype(b.np_dtype)
