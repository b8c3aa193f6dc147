"""Sample: values of images at given positions between pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops import _strided

SCALES = ("pixels", "middles", "edges")
TAPS = {"nearest": 1, "linear": 2, "cubic": 4}
BEYOND = ("zeros", "border", "reflection", "near")
_MOST = 1 << 19
"""The most pixels along an axis."""

_BOUND = np.float32(1 << 20)


def params(call: Call) -> Params:
    op, x, places = call.op, call.input(0).shape, call.input(1).shape
    assert isinstance(op, Sample)
    axes = places[-1]
    return {
        "batches": places[0],
        "image": prod(x[1:]) if x[0] > 1 else 0,
        "points": prod(places[1:-1]),
        "channels": x[-1],
        "axes": axes,
        **{f"size[{k}]": x[1 + k] if k < axes else 1 for k in range(3)},
        "scale": SCALES.index(op.scale),
        "taps": TAPS[op.mode],
        "beyond": BEYOND.index(op.beyond),
        "largest": int(op.combine == "max"),
    }


@dataclass(frozen=True)
class Sample(Op):
    """y[n, ..., c] = sum, or maximum, over the pixels near places[n, ...] of weight * x[n, pixel, c].

    x: f32 [N, S, C], S of one to three axes   places: f32 [M, ..., axes]   y: f32 [M, ..., C]; M = N, or N = 1
    mode: "nearest" (halves to even), "linear" or "cubic" (coefficient -3/4)
    scale: unit of places: "pixels"; or -1 to 1, last axis first, from centre to centre of the outer pixels ("middles")
    or between their outer "edges"
    beyond: value outside x: "zeros", "border" (the outer pixel), "reflection", or "near": as border, but zero more than
    a pixel away from x. Cubic weights near the border use the original position, as in ONNX Runtime.
    combine: "sum", or "max" of the products as in RoiAlign's mode max; 0 if there are no pixels
    Positions are computed in float32.
    Source: ONNX GridSample-22, RoiAlign-22, DeformConv-22.
    """

    mode: str = "linear"
    scale: str = "pixels"
    beyond: str = "zeros"
    combine: str = "sum"

    kernels = (Kernel("mg_sample_f32", Whole(), (), params, operands=(0, 1)),)

    def infer(self, x: TensorType | None, places: TensorType | None) -> tuple[TensorType, ...]:
        x, places = _strided.operand(x), _strided.operand(places)
        if self.mode not in TAPS or self.scale not in SCALES or self.beyond not in BEYOND:
            raise UnsupportedError(f"{self}: this mode, scale or beyond does not exist")
        if self.combine != "sum" and (self.combine, self.beyond) != ("max", "near"):
            raise UnsupportedError(f"{self}: combine must be sum, or max with beyond=near")
        if {x.dtype, places.dtype} != {"f32"}:
            raise UnsupportedError(f"data {x} and places {places} must be float32")
        axes = places.shape[-1] if len(places.shape) > 1 else 0
        if not 1 <= axes <= 3 or len(x.shape) != axes + 2 or x.shape[0] not in (1, places.shape[0]):
            raise ShapeError(f"places {list(places.shape)} need a coordinate for each image axis of {list(x.shape)}")
        if max(x.shape[1:-1]) > _MOST:
            raise UnsupportedError(f"images {list(x.shape)}: at most {_MOST} pixels along an axis are supported")
        return (TensorType((*places.shape[:-1], x.shape[-1]), "f32"),)

    def reference(self, x: np.ndarray, places: np.ndarray) -> np.ndarray:
        axes = places.shape[-1]
        at = (places if self.scale == "pixels" else places[..., ::-1]).astype(np.float32).reshape(len(places), -1, axes)
        found = [self._taps(at[..., k], x.shape[1 + k]) for k in range(axes)]
        images = x.reshape(len(x), -1, x.shape[-1])
        batch = np.broadcast_to(np.arange(len(x)), len(places))[:, None]
        y = np.zeros((*at.shape[:2], x.shape[-1]))
        best = np.full_like(y, -np.inf)
        for chosen in product(range(TAPS[self.mode]), repeat=axes):
            flat, weight = np.zeros(at.shape[:2], np.int64), np.ones(at.shape[:2])
            for (index, weights), tap, size in zip(found, chosen, x.shape[1:-1], strict=True):
                flat = flat * size + np.maximum(index[tap], 0)
                weight = np.where(index[tap] < 0, 0.0, weight * weights[tap])
            term = np.where(weight[..., None] == 0.0, 0.0, weight[..., None] * images[batch, flat])
            y, best = y + term, np.maximum(best, term)
        y = y if self.combine == "sum" else best
        return y.reshape(*places.shape[:-1], x.shape[-1])

    def _taps(self, places: np.ndarray, size: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """(pixel indices along an axis, weights), each with one array per tap; index -1 means no pixel."""
        stated = self._in_pixels(places, size)
        at = self._moved(np.rint(stated) if self.mode == "nearest" else stated, size)
        low = np.trunc(at) if self.mode == "nearest" else np.floor(at)
        first = low.astype(np.int64) - (1 if self.mode == "cubic" else 0)
        index = [self._pixel(first + k, size) for k in range(TAPS[self.mode])]
        if self.beyond == "near":
            index = [np.where((stated < -1) | (stated > size), -1, i) for i in index]
        return index, _weights(self.mode, (at - low).astype(np.float64))

    def _in_pixels(self, places: np.ndarray, size: int) -> np.ndarray:
        one, two = np.float32(1), np.float32(2)
        x = places
        if self.scale == "middles":
            x = (places + one) / two * np.float32(size - 1)
        elif self.scale == "edges":
            x = ((places + one) * np.float32(size) - one) / two
        return np.asarray(np.clip(np.where(np.isnan(x), -_BOUND, x), -_BOUND, _BOUND), np.float32)

    def _moved(self, x: np.ndarray, size: int) -> np.ndarray:
        half, last = np.float32(0 if self.scale == "middles" else 0.5), np.float32(size - 1)
        low, high = -half, last + half
        outside = (x < low) | (x > high)
        if self.beyond == "near" or (self.beyond == "border" and self.mode != "cubic"):
            return np.asarray(np.where(outside | (self.beyond == "near"), np.clip(x, np.float32(0), last), x))
        if self.beyond == "reflection":
            return np.asarray(np.where(outside, _mirrored(x, low, high), x))
        return x

    def _pixel(self, i: np.ndarray, size: int) -> np.ndarray:
        """The pixel for indices that may be outside the axis; -1 for none."""
        if self.beyond == "zeros":
            return np.asarray(np.where((i < 0) | (i >= size), -1, i))
        if self.beyond != "reflection":
            return np.asarray(np.clip(i, 0, size - 1))
        middles = self.scale == "middles"
        line = np.arange(size)
        there_and_back = np.concatenate([line, line[::-1][1:-1] if middles else line[::-1]])
        return np.asarray(there_and_back[i % len(there_and_back)])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (cls(), (2, 4, 5, 3), (2, 7, 2)),
            (cls("linear", "edges", "border"), (1, 4, 3, 2), (3, 2, 2, 2)),
            (cls("nearest", "middles"), (1, 3, 4, 5), (1, 9, 2)),
            (cls("cubic", "edges", "reflection"), (1, 4, 5, 2), (1, 3, 3, 2)),
            (cls("linear", "middles", "reflection"), (2, 2, 3, 4, 2), (2, 2, 2, 3)),
            (cls("cubic", "middles", "border"), (1, 6, 3), (1, 5, 1)),
            (cls(beyond="near"), (1, 3, 3, 4), (1, 8, 2)),
            (cls(beyond="near", combine="max"), (1, 3, 4, 3), (1, 9, 2)),
            (cls("cubic", "middles", "reflection"), (1, 1, 2, 1), (1, 6, 2)),
        )
        types = [(op, (TensorType(x, "f32"), TensorType(places, "f32"))) for op, x, places in cases]
        found = [Example(op, inputs, op.infer(*inputs), {}, seed) for seed, (op, inputs) in enumerate(types)]
        return [*found, replace(found[0], constants={1: None}), replace(found[2], constants={0: None})]


def _mirrored(x: np.ndarray, low: np.float32, high: np.float32) -> np.ndarray:
    """Positions outside [low, high], reflected at its ends, in float32."""
    width = high - low
    if width == 0:
        return np.full_like(x, low)
    apart = np.where(x < low, low - x, x - high)
    times = np.trunc(apart / width)
    rest = apart - times * width
    return np.where((times % 2 == 0) == (x < low), low + rest, high - rest)


def _weights(mode: str, part: np.ndarray) -> list[np.ndarray]:
    if mode == "nearest":
        return [np.ones_like(part)]
    if mode == "linear":
        return [1.0 - part, part]
    return [_cubic(part + 1.0), _cubic(part), _cubic(1.0 - part), _cubic(2.0 - part)]


def _cubic(x: np.ndarray, a: float = -0.75) -> np.ndarray:
    near = (a + 2.0) * x**3 - (a + 3.0) * x**2 + 1.0
    return np.where(x <= 1.0, near, a * x**3 - 5.0 * a * x**2 + 8.0 * a * x - 4.0 * a)
