"""RESIZE_NEAREST_NEIGHBOR: resizing of images, where each pixel is a copy of the nearest input pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, RowWindow, Text, Window
from mcugen.ir.op import Example
from mcugen.ir.ranges import Range
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _strided, _tflite
from mcugen.ops._channelwise import Channelwise
from mcugen.ops._window import MAX_FIELD, Pair, image

DTYPES = {
    "s8": QuantParams((0.5,), (-3,)),
    "s16": QuantParams((0.25,), (0,)),
    "f32": None,
    "s32": None,
    "u32": None,
    "bool": None,
}
"""Element types that kernels resize -> quantization in examples. uint8 has been converted to int8."""


def from_tflite(source: Source) -> Imported:
    size, a = source.ints(1), source.attributes
    if size is None:
        raise UnsupportedError("the size (operand 1) is computed at run time", hint="make it a constant")
    if len(size) != 2:
        raise ShapeError(f"the size {list(size)} must be height and width")
    op = ResizeNearestNeighbor((size[0], size[1]), bool(a["align_corners"]), bool(a["half_pixel_centers"]))
    return Imported(op, inputs=(0,))


def _op(call: Call) -> ResizeNearestNeighbor:
    return cast(ResizeNearestNeighbor, call.op)


def row_window(call: Call) -> RowWindow:
    rows = call.input(0).shape[1]
    return RowWindow.of_firsts(1, _op(call).nearest(rows, 0).tolist(), rows)


def params(call: Call) -> Params:
    """The struct fields: for each input column used, its index and the number of output columns that copy it."""
    x = call.input(0)
    columns = _op(call).nearest(x.shape[2], 1)
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    return {
        "from": columns[starts].astype(np.uint16),
        "times": np.diff(starts, append=len(columns)).astype(np.uint16),
        "runs": len(starts),
        "pixel": x.shape[3] * x.np_dtype.itemsize,
    }


def _data_is(dtype: str) -> Rule:
    def rule(call: Call) -> bool:
        return call.output.dtype == dtype

    rule.__doc__ = f"the elements are {dtype}"
    return rule


def _kernel(dtype: str) -> Kernel:
    return Kernel(
        f"mg_resize_nearest_neighbor__{dtype}",
        Window(row_window),
        accepts=(_data_is(dtype),),
        params=params,
        text=Text(source="resize_nearest_neighbor.c"),
    )


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op = call.op
    attributes = {"align_corners": op.align_corners, "half_pixel_centers": op.half_pixel_centers}
    number = 3 if any(attributes.values()) else _tflite.version(call.input(0), s8=2)
    number = 4 if call.input(0).dtype == "s16" else number
    return _tflite.operator(
        call, sink, "RESIZE_NEAREST_NEIGHBOR", [*inputs, _tflite.vector(sink, op.size)], attributes, number
    )


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, y = call.op, call.output.shape
    if call.output.dtype == "bool":  # ONNX Runtime has no Resize of bool
        wide = replace(call, outputs=(TensorType(y, "s32"),))
        [made] = to_onnx(wide, sink, [_onnx.cast(sink, str(inputs[0]), "s32")])
        return [_onnx.cast(sink, made, "bool")]
    places = "align_corners" if op.align_corners else "half_pixel" if op.half_pixel_centers else "asymmetric"
    near = {"nearest_mode": "round_prefer_ceil" if op.align_corners or op.half_pixel_centers else "floor"}
    stated = {"mode": "nearest", "coordinate_transformation_mode": places, "sizes": (y[0], y[3], y[1], y[2]), **near}
    return _onnx.on_images(call, sink, "Resize", inputs, stated)


@dataclass(frozen=True)
class ResizeNearestNeighbor(Channelwise):
    """y[n, i, j, c] = x[n, near(i), near(j), c], near(i) = floor((i + offset) * scale), or rounded with align_corners.

    x: s8, u8, s16, s32, u32, f32 or bool [N, H, W, C]   y: as x, [N, size[0], size[1], C]
    scale: in / out, or (in - 1) / (out - 1) with align_corners   offset: 1/2 with half_pixel_centers
    Source: TFLite RESIZE_NEAREST_NEIGHBOR; reference/resize_nearest_neighbor.h, GetNearestNeighbor.
    """

    size: Pair
    align_corners: bool = False
    half_pixel_centers: bool = False

    only_moves = True
    takes_images = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 s32 u32 f16 f32 bool")
    imports = (Import("tflite", "RESIZE_NEAREST_NEIGHBOR", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = tuple(_kernel(dtype) for dtype in DTYPES)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = image(x)
        if min(self.size) < 1:
            raise ShapeError(f"the size {list(self.size)} must be positive")
        if x.dtype not in self.litert_types:
            raise UnsupportedError(f"resizing images of {x.dtype} is not supported: no runtime has a kernel")
        if max(*self.size, *x.shape[1:3]) > MAX_FIELD:
            raise UnsupportedError(f"resizing {list(x.shape)} to {list(self.size)}: sides are limited to {MAX_FIELD}")
        if self.align_corners and self.half_pixel_centers:
            raise UnsupportedError("align_corners and half_pixel_centers cannot both be set")
        return (TensorType((x.shape[0], *self.size, x.shape[3]), x.dtype),)

    def nearest(self, size: int, d: int) -> np.ndarray:
        """The input row (d = 0) or column (d = 1) that each output row or column copies.

        The position is computed in float32, as in the runtimes.
        """
        out = self.size[d]
        aligned = self.align_corners and out > 1
        scale = np.float32(size - 1) / np.float32(out - 1) if aligned else np.float32(size) / np.float32(out)
        at = (np.arange(out, dtype=np.float32) + np.float32(0.5 if self.half_pixel_centers else 0.0)) * scale
        index = np.floor(at.astype(np.float64) + (0.5 if self.align_corners else 0.0)).astype(np.int64)
        return np.clip(index, 0, size - 1)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x[:, self.nearest(x.shape[1], 0)][:, :, self.nearest(x.shape[2], 1)]

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _strided.moved_bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (cls((6, 8)), (1, 3, 4, 2)),
            (cls((5, 7)), (2, 3, 4, 3)),
            (cls((2, 3), align_corners=True), (1, 5, 7, 1)),
            (cls((7, 5), half_pixel_centers=True), (1, 3, 4, 5)),
            (cls((1, 9), align_corners=True), (1, 4, 1, 2)),
        )
        return [
            Example(op, (x,), (TensorType(op.infer(x)[0].shape, dtype, quant),), {}, k)
            for k, (op, shape) in enumerate(cases)
            for dtype, quant in DTYPES.items()
            for x in [TensorType(shape, dtype, quant)]
        ]
