"""RESIZE_BILINEAR of stored integers: bilinear resizing of images, with positions in units of 1/1024 pixel.

For uint8, the runtime computes positions and means in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import SHARED_BYTES, Scales
from mcugen.ir.ranges import Range
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _strided, _tflite
from mcugen.ops._window import image

_ONE = 1 << 10
_MOST = 1 << 14
_TYPES = ("s8", "u8", "s16")


def _is_integer(source: Source) -> bool:
    x = source.inputs[0] if source.inputs else None
    return x is not None and x.dtype in _TYPES


def from_tflite(source: Source) -> Imported:
    size, a = source.ints(1), source.attributes
    if size is None or len(size) != 2:
        raise UnsupportedError("the size (operand 1) must be constant: height and width", hint="make it a constant")
    op = ResizeBilinear((size[0], size[1]), bool(a["align_corners"]), bool(a["half_pixel_centers"]))
    return Imported(op, inputs=(0,))


def tables(size: int, made: int, align: bool, half: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lower pixel, upper pixel, weight of the upper pixel in units of 1/1024) for each output index along an axis."""
    scale = (_ONE * size + made // 2) // made
    if align and made > 1:
        scale = (_ONE * (size - 1) + (made - 1) // 2) // (made - 1)
    at = np.arange(made, dtype=np.int64) * scale + (scale // 2 - _ONE // 2 if half else 0)
    low = np.maximum(np.trunc(at / _ONE).astype(np.int64), 0)
    high = np.minimum(np.trunc((at + _ONE - 1) / _ONE).astype(np.int64), size - 1)
    return low, high, at - _ONE * low


def params(call: Call) -> Params:
    op, x, y = call.op, call.input(0).shape, call.output.shape
    assert isinstance(op, ResizeBilinear)
    axes = [tables(x[k], y[k], op.align_corners, op.half_pixel_centers) for k in (1, 2)]
    found: dict[str, Any] = {"images": x[0], "in_h": x[1], "in_w": x[2], "out_h": y[1], "out_w": y[2], "depth": x[3]}
    for name, (low, high, part) in zip("yx", axes, strict=True):
        found |= {f"{name}_low": low.astype(np.uint16), f"{name}_high": high.astype(np.uint16)}
        found[f"{name}_part"] = part.astype(np.int16)
    return found


def float_tables(size: int, made: int, align: bool, half: bool) -> tuple[np.ndarray, ...]:
    """(lower pixel, upper pixel, weights of both) for each output index of an axis, in the runtime's float32 roundings.


    Source: reference_ops::ResizeBilinear, ComputeInterpolationValues.
    """
    one = np.float32(1)
    scale = np.float32(size - 1) / np.float32(made - 1) if align and made > 1 else np.float32(size) / np.float32(made)
    places = np.arange(made, dtype=np.float32)
    at = (places + np.float32(0.5)) * scale - np.float32(0.5) if half else places * scale
    low = np.maximum(np.floor(at), 0)
    high = np.minimum(np.ceil(at), size - 1)
    part = at - low.astype(np.float32)
    return low.astype(np.uint16), high.astype(np.uint16), one - part, part


def float_params(call: Call) -> Params:
    op, x, y = call.op, call.input(0).shape, call.output.shape
    assert isinstance(op, ResizeBilinear)
    axes = [float_tables(x[k], y[k], op.align_corners, op.half_pixel_centers) for k in (1, 2)]
    found: dict[str, Any] = {"images": x[0], "in_h": x[1], "in_w": x[2], "out_h": y[1], "out_w": y[2], "depth": x[3]}
    for name, (low, high, first, part) in zip("yx", axes, strict=True):
        found |= {f"{name}_low": low, f"{name}_high": high, f"{name}_first": first, f"{name}_part": part}
    return found


def _data_is(dtype: str) -> Any:
    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype and not call.op.flipped_u8

    rule.__doc__ = f"the image is {dtype}"
    return rule


def was_unsigned(call: Call) -> bool:
    "the model's image is uint8"
    return bool(call.op.flipped_u8)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op = call.op
    attributes = {"align_corners": op.align_corners, "half_pixel_centers": op.half_pixel_centers}
    number = 3 if op.half_pixel_centers else _tflite.version(call.input(0), s8=2)
    number = 4 if call.input(0).dtype == "s16" else number
    return _tflite.operator(call, sink, "RESIZE_BILINEAR", [*inputs, _tflite.vector(sink, op.size)], attributes, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, y = call.op, call.output.shape
    places = "align_corners" if op.align_corners else "half_pixel" if op.half_pixel_centers else "asymmetric"
    stated = {"mode": "linear", "coordinate_transformation_mode": places, "sizes": (y[0], y[3], y[1], y[2])}
    return _onnx.on_images(call, sink, "Resize", inputs, stated)


@dataclass(frozen=True)
class ResizeBilinear(Op):
    """y = the weighted mean of the four pixels around each position, rounded to nearest, halves away from zero.

    x: s8, u8 or s16 [N, H, W, C]   y: as x, [N, size, C]
    Positions have a resolution of 1/1024 pixel; for u8 they are float32.
    f32 data occur only before a model is quantized. Their means are exact; there is no kernel for them.
    flipped_u8: whether the model's data is uint8, so that means are rounded in float32
    Source: TFLite RESIZE_BILINEAR; reference_ops::ResizeBilinearInteger, ResizeBilinear.
    """

    size: tuple[int, int]
    align_corners: bool = False
    half_pixel_centers: bool = False
    flipped_u8: bool = False

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "RESIZE_BILINEAR", from_tflite, when=_is_integer),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        *(Kernel(f"mg_resize_bilinear_{dtype}", Whole(), (_data_is(dtype),), params) for dtype in ("s8", "s16")),
        Kernel("mg_resize_bilinear_u8", Whole(), (was_unsigned,), float_params),
    )

    def quantized(self, call: Call) -> Scales:
        return SHARED_BYTES

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = image(x)
        if x.dtype not in (*_TYPES, "f32"):
            raise UnsupportedError(f"resizing {x.dtype} is not supported")
        if self.align_corners and self.half_pixel_centers:
            raise UnsupportedError("align_corners and half_pixel_centers cannot both be set")
        if min(self.size) < 1 or max(*self.size, *x.shape[1:3]) > _MOST:
            raise ShapeError(f"resizing {list(x.shape)} to {list(self.size)}: sides must have 1 to {_MOST} pixels")
        return (TensorType((x.shape[0], *self.size, x.shape[3]), x.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The means at exact positions, first along rows, then along columns."""
        for axis in (1, 2):
            low, high, part = self._between(x.shape[axis], self.size[axis - 1])
            weight = part.reshape([-1 if k == axis else 1 for k in range(4)])
            x = np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
        return x

    def _between(self, size: int, made: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower pixel, upper pixel, distance from the lower pixel) for each output index along an axis."""
        at = np.arange(made) * (size / made)
        if self.align_corners and made > 1:
            at = np.arange(made) * ((size - 1) / (made - 1))
        if self.half_pixel_centers:
            at = (np.arange(made) + 0.5) * (size / made) - 0.5
        at = np.clip(at, 0, size - 1)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, size - 1), at - low

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if x.dtype == np.float32:
            return self.reference(x).astype(np.float32)
        if self.flipped_u8 or x.dtype == np.uint8:
            return self._in_floats(x.astype(np.int64) + 128) - 128 if self.flipped_u8 else self._in_floats(x)
        rows = [self._places(x.shape[1], self.size[0], i) for i in range(self.size[0])]
        columns = [self._places(x.shape[2], self.size[1], j) for j in range(self.size[1])]
        made = np.zeros((x.shape[0], *self.size, x.shape[3]), np.int64)
        wide = x.astype(np.int64)
        for i, (y0, y1, dy) in enumerate(rows):
            for j, (x0, x1, dx) in enumerate(columns):
                above = wide[:, y0, x0] * (_ONE - dx) + wide[:, y0, x1] * dx
                below = wide[:, y1, x0] * (_ONE - dx) + wide[:, y1, x1] * dx
                made[:, i, j] = above * (_ONE - dy) + below * dy
        half = _ONE * _ONE // 2
        return np.where(made > 0, (made + half) // _ONE**2, -((half - made) // _ONE**2))

    def _in_floats(self, x: np.ndarray) -> np.ndarray:
        """The means of uint8 values x, with every product and sum rounded to float32."""
        single = np.float32
        made = np.zeros((x.shape[0], *self.size, x.shape[3]), np.int64)
        wide = x.astype(single)
        for i, j in np.ndindex(*self.size):
            (y0, y1, y), (x0, x1, at) = (self._place(x.shape[k + 1], self.size[k], n) for k, n in enumerate((i, j)))
            dy, dx = y - single(y0), at - single(x0)
            total = wide[:, y0, x0] * (single(1) - dy) * (single(1) - dx)
            total += wide[:, y1, x0] * dy * (single(1) - dx)
            total += wide[:, y0, x1] * (single(1) - dy) * dx
            total += wide[:, y1, x1] * dy * dx
            made[:, i, j] = np.trunc(total + single(0.5))
        return made

    def _place(self, size: int, made: int, k: int) -> tuple[int, int, np.float32]:
        """(lower pixel, upper pixel, position in input pixels as float32) for output index k along an axis."""
        scale = np.float32(size) / np.float32(made)
        if self.align_corners and made > 1:
            scale = np.float32(size - 1) / np.float32(made - 1)
        at = np.float32(k) * scale
        if self.half_pixel_centers:
            at = (np.float32(k) + np.float32(0.5)) * scale - np.float32(0.5)
        return max(int(np.floor(at)), 0), min(int(np.ceil(at)), size - 1), at

    def _places(self, size: int, made: int, k: int) -> tuple[int, int, int]:
        """(lower pixel, upper pixel, distance from the lower in 1/1024 pixel) for output index k of an axis."""
        scale = (1024 * size + made // 2) // made
        if self.align_corners and made > 1:
            scale = (1024 * (size - 1) + (made - 1) // 2) // (made - 1)
        at = k * scale + (scale // 2 - 512 if self.half_pixel_centers else 0)
        low = max(int(at / 1024), 0)
        return low, min(int((at + 1023) / 1024), size - 1), at - 1024 * low

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """The bounds of the pixels, since weighted means stay within them.

        With half_pixel_centers, positions before the first pixel extrapolate: results may have any value of the type.
        """
        return super().bounds(call) if self.half_pixel_centers else _strided.moved_bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[tuple[int, int], dict[str, bool]], ...] = (
            ((3, 5), {}),
            ((7, 2), {"align_corners": True}),
            ((6, 9), {"half_pixel_centers": True}),
            ((1, 1), {}),
        )
        return [
            Example(op, (x,), (TensorType(op.infer(x)[0].shape, dtype, quant),), {}, k)
            for k, (size, fields) in enumerate(cases)
            for dtype, quant in (("s8", QuantParams((0.1,), (-3,))), ("s16", QuantParams((0.01,), (0,))))
            for op, x in [(cls(size, **fields), TensorType((1 + k % 2, 3, 4, 5), dtype, quant))]
        ] + cls._flipped_examples()

    @classmethod
    def _flipped_examples(cls) -> list[Example]:
        x = TensorType((1, 3, 4, 5), "s8", QuantParams((0.1,), (-3,)))
        ops = (cls((4, 5), flipped_u8=True), cls((7, 9), half_pixel_centers=True, flipped_u8=True))
        return [
            Example(op, (x,), (TensorType((1, *op.size, 5), "s8", x.quant),), {}, 8 + k) for k, op in enumerate(ops)
        ]
