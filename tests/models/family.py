# SPDX-License-Identifier: Apache-2.0
"""A family: one small model with many independent nodes of one operator; every result is a graph output.

Scales and zero points are chosen to be awkward (zero points at both ends of the range and inside), yet so that
random full-range inputs neither vanish nor saturate everywhere.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.tflite_writer import DTYPES, ModelWriter

# Zero points that an activation tensor may take, picked by `k` in the calls below.
ZERO_POINTS: Mapping[str, tuple[int, ...]] = {"s8": (-128, 0, 127, -3), "u8": (0, 128, 255, 133), "s16": (0,)}
# Scales: 6 / scale lies inside the range, so that RELU6 clamps.
SCALES: Mapping[str, tuple[float, ...]] = {
    "s8": (0.05, 0.041, 0.0235, 0.07),
    "u8": (0.05, 0.041, 0.0235, 0.07),
    "s16": (0.0003, 0.00041, 0.00023, 0.00061),
}
_WEIGHT_DTYPE: Mapping[str, str] = {"s8": "s8", "s16": "s8", "u8": "u8", "f32": "f32"}
_BIAS_DTYPE: Mapping[str, str] = {"s8": "s32", "s16": "s64", "u8": "s32", "f32": "f32"}
_WEIGHT_ZERO_POINT: Mapping[str, int] = {"s8": 0, "s16": 0, "u8": 119}


@dataclass(frozen=True)
class TensorInfo:
    """The facts about a tensor that its case needs."""

    shape: tuple[int, ...]
    dtype: str
    scale: float | None
    zero_point: int


@dataclass
class Family:
    """Builds one model; `dtype` is the dtype of its activations (s8, u8, s16 or f32)."""

    name: str
    dtype: str
    writer: ModelWriter = field(default_factory=ModelWriter)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    info: dict[int, TensorInfo] = field(default_factory=dict)
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(zlib.crc32(self.name.encode()))

    def build(self) -> bytes:
        """The .tflite file."""
        return self.writer.build(self.inputs, self.outputs, description=self.name)

    def x(
        self,
        *shape: int,
        k: int = 0,
        scale: float | None = None,
        zero_point: int | None = None,
        dtype: str | None = None,
        name: str | None = None,
    ) -> int:
        """Adds a graph input with the k-th scale and zero point."""
        t = self.tensor(
            shape, k=k, scale=scale, zero_point=zero_point, dtype=dtype, name=name or f"x{len(self.inputs)}"
        )
        self.inputs.append(t)
        return t

    def tensor(
        self,
        shape: Sequence[int],
        *,
        k: int = 0,
        like: int | None = None,
        scale: float | None = None,
        zero_point: int | None = None,
        dtype: str | None = None,
        name: str | None = None,
        data: Any = None,
    ) -> int:
        """Adds a tensor; its quantization is given, copied from tensor `like`, or the k-th of the tables."""
        dtype = dtype or (self.info[like].dtype if like is not None else self.dtype)
        if like is not None:
            scale, zero_point = self.info[like].scale, self.info[like].zero_point
        elif dtype in ZERO_POINTS:
            scale = scale if scale is not None else SCALES[dtype][k % len(SCALES[dtype])]
            zero_point = zero_point if zero_point is not None else ZERO_POINTS[dtype][k % len(ZERO_POINTS[dtype])]
        info = TensorInfo(tuple(shape), dtype, scale, zero_point or 0)
        t = self.writer.tensor(
            name or f"t{len(self.info)}", info.shape, dtype, scale=info.scale, zero_point=info.zero_point, data=data
        )
        self.info[t] = info
        return t

    def const(self, values: Any, dtype: str = "s32") -> int:
        """Adds an unquantized constant (axes, paddings, shapes, indices)."""
        array = np.asarray(values, dtype=DTYPES[dtype][0])
        t = self.writer.tensor(f"c{len(self.info)}", array.shape, dtype, data=array)
        self.info[t] = TensorInfo(array.shape, dtype, None, 0)
        return t

    def random(self, shape: Sequence[int], *, k: int = 0, like: int | None = None) -> int:
        """Adds a constant of the family's dtype with full-range (f32: normal) values."""
        return self.tensor(shape, k=k, like=like, data=self.values(shape, self.dtype))

    def values(self, shape: Sequence[int], dtype: str) -> np.ndarray[Any, Any]:
        if dtype == "f32":
            return self.rng.standard_normal(tuple(shape)).astype(np.float32)
        limits = np.iinfo(DTYPES[dtype][0])
        return self.rng.integers(limits.min, limits.max, tuple(shape), endpoint=True)

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        shapes: Sequence[int] | Sequence[Sequence[int]],
        options: Mapping[str, Any] | None = None,
        *,
        hidden: bool = False,
        **quantization: Any,
    ) -> int:
        """Appends an operator with one output per shape and returns the first; hidden ones are no graph output."""
        several = bool(shapes) and not isinstance(shapes[0], int)
        outs = [self.tensor(s, **quantization) for s in (shapes if several else [shapes])]  # type: ignore[arg-type]
        self.writer.op(name, inputs, outs, options)
        if not hidden:
            self.outputs += outs
        return outs[0]

    def weights(
        self,
        x: int,
        y: int,
        shape: Sequence[int],
        axis: int,
        fan_in: int,
        *,
        per_channel: bool = True,
        multiplier: float | None = None,
        bias: str = "normal",
    ) -> list[int]:
        """Adds weights and bias for x -> y; returns [weights, bias], or [weights] where bias is "none".

        multiplier: the effective one, scale_x * scale_w / scale_y; the weights are as large as y's range allows. By
        default they have their full range and the multiplier follows. Multipliers of 0.05 to 0.5 tell rounding once
        from rounding twice: up to a quarter of the results differ. One of exactly 0.5, not per channel, tells scales
        multiplied in single precision (every odd accumulator is a tie) from scales multiplied in double (none is).
        bias: "normal", "none" or "huge" (as large as the accumulator allows, with the multiplier to match).
        """
        n = shape[axis]
        if self.dtype == "f32":
            return self._float_weights(shape, n, fan_in, bias)
        dtype = _WEIGHT_DTYPE[self.dtype]
        zero = _WEIGHT_ZERO_POINT[self.dtype]
        raw = self._raw_weights(shape, fan_in, multiplier)
        multiplier = multiplier or self._multiplier(fan_in, bias)
        spread = self.rng.uniform(0.6, 1.4, n) if per_channel else np.ones(1)
        scale_x, scale_y = self.info[x].scale or 1.0, self.info[y].scale or 1.0
        scale = (spread * multiplier * scale_y / scale_x).astype(np.float32)
        if multiplier == 0.5 and not per_channel and self.dtype != "s16":
            scale = _half_in_single_precision(scale_x, scale_y)
        w = self.writer.tensor(
            f"w{len(self.info)}", shape, dtype, scale=scale.tolist(), zero_point=zero, axis=axis, data=raw + zero
        )
        self.info[w] = TensorInfo(tuple(shape), dtype, None, zero)
        if bias == "none":
            return [w]
        return [w, self._bias(n, self._bias_bound(bias, multiplier), (np.float32(scale_x) * scale).tolist())]

    def _bias(self, n: int, bound: int, scale: list[float]) -> int:
        """A bias of n integers within the bound."""
        dtype = _BIAS_DTYPE[self.dtype]
        values = self.rng.integers(-bound, bound, n, endpoint=True)
        b = self.writer.tensor(f"b{len(self.info)}", (n,), dtype, scale=scale, data=values)
        self.info[b] = TensorInfo((n,), dtype, None, 0)
        return b

    def _float_weights(self, shape: Sequence[int], n: int, fan_in: int, bias: str) -> list[int]:
        w = self.const(self.rng.standard_normal(tuple(shape)) / math.sqrt(fan_in), "f32")
        return [w] if bias == "none" else [w, self.const(self.rng.standard_normal(n), "f32")]

    def _raw_weights(self, shape: Sequence[int], fan_in: int, multiplier: float | None) -> np.ndarray[Any, Any]:
        """Weights without their zero point."""
        low, high = (-_WEIGHT_ZERO_POINT["u8"], 255 - _WEIGHT_ZERO_POINT["u8"]) if self.dtype == "u8" else (-127, 127)
        if multiplier is not None:
            rms_x, wanted = self._ranges()
            high = min(high, max(1, round(1.7 * wanted / (math.sqrt(fan_in) * rms_x * multiplier))))
            low = max(low, -high)
        return self.rng.integers(low, high, tuple(shape), endpoint=True)

    def _ranges(self) -> tuple[float, float]:
        """(typical input less its zero point, wanted output less its zero point), both as root mean squares."""
        return (20000.0, 9000.0) if self.dtype == "s16" else (100.0, 45.0)

    def _multiplier(self, fan_in: int, bias: str) -> float:
        if bias == "huge":
            return 2.0**-22
        rms_x, wanted = self._ranges()
        return wanted / (math.sqrt(fan_in) * 73.0 * rms_x)

    def _bias_bound(self, bias: str, multiplier: float) -> int:
        if bias == "huge":
            return 2**37 if self.dtype == "s16" else 2**29
        half_range = 15000.0 if self.dtype == "s16" else 60.0
        return max(1, int(half_range / multiplier))


def _half_in_single_precision(scale_x: float, scale_y: float) -> np.ndarray[Any, Any]:
    """A weight scale with scale_x * scale_w / scale_y = 0.5, yet only after scale_x * scale_w is rounded to f32."""
    x, y = np.float32(scale_x), np.float32(scale_y)
    scale = np.nextafter(y / x / 2, np.float32(0))
    for _ in range(4):
        if x * scale == y / 2 and float(x) * float(scale) < float(y) / 2:
            return np.array([scale], np.float32)
        scale = np.nextafter(scale, np.float32(1))
    raise ValueError(f"no such scale for {scale_x} and {scale_y}")
