"""Shared recipe of reductions: axes, shapes, and the loops of C over kept and reduced axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Source
from mcugen.ir.op import Example, Op, Reordered
from mcugen.ir.ranges import Range, Removal, channels_of
from mcugen.ir.types import QuantParams, Shape, TensorType, images_of, rows_of
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _tflite
from mcugen.ops._channelwise import Channelwise, alike

GROUPS = 3  # most groups of adjacent axes that are kept, and most that are reduced, up to rank 6
DTYPES = ("s8", "u8", "s16", "f32")


@dataclass(frozen=True)
class Reduction(Channelwise):
    """Base of reductions. axes: as in the file; negative axes count from the end."""

    axes: tuple[int, ...]
    keep_dims: bool = False

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to reduce is missing")
        if x.dtype not in DTYPES:
            raise UnsupportedError(f"reduction of {x.dtype} is not supported", hint=f"use one of {', '.join(DTYPES)}")
        rank = len(x.shape)
        if not self.axes or any(not -rank <= a < rank for a in self.axes):
            raise ShapeError(f"axes {list(self.axes)} do not exist in the operand {list(x.shape)}")
        chosen = self.chosen(rank)
        shape = tuple(1 if k in chosen else d for k, d in enumerate(x.shape) if self.keep_dims or k not in chosen)
        return (TensorType(shape, x.dtype),)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """The reduction of the stored axes, which stay in the stored result with size 1."""
        order, chosen = orders[0], self.chosen(len(call.input(0).shape))
        stored = [] if order is None else [order.stored_axis(axis) for axis in chosen]
        result = None if order is None else order.resized(dict.fromkeys(chosen, 1))
        if order is None or result is None or None in stored:
            return None
        kept = result if self.keep_dims else result.dropped(chosen)
        axes = tuple(axis for axis in stored if axis is not None)
        return Reordered(replace(self, axes=axes, keep_dims=True), (order,), (kept,))

    def removable(self, call: Call, asked: Removal) -> Removal:
        """Operand and result drop the same channels; no channel can be dropped if the channels' axis is reduced."""
        rank = len(call.input(0).shape)
        return asked.none if rank - 1 in self.chosen(rank) else alike(call, asked)

    def chosen(self, rank: int) -> tuple[int, ...]:
        """The reduced axes: non-negative, each once, in order. rank: the operand's."""
        return tuple(sorted({a % rank for a in self.axes}))


def operand_range(call: Call) -> Range | None:
    """Bounds of the elements that are reduced, per channel of the result."""
    x, rank = call.range_of(0), len(call.input(0).shape)
    if x is None or rank - 1 not in reduction_of(call).chosen(rank):
        return x
    return x.joined(channels_of(call.output))


def attributes(source: Source) -> dict[str, Any]:
    """The fields of a Reduction from TFLite's ReducerOptions and its axis operand."""
    axes = source.ints(1)
    if axes is None:
        raise UnsupportedError("the axes (operand 1) are computed at run time", hint="make them a constant")
    return {"axes": axes, "keep_dims": bool(source.attributes["keep_dims"])}


def written(name: str, **versions: int) -> Write:
    """How a reduction is written to TensorFlow Lite. versions: element type -> operator version, if not 1."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        operands = [*inputs, _tflite.vector(sink, call.op.axes)]
        number = _tflite.version(call.input(0), **versions)
        return _tflite.operator(call, sink, name, operands, {"keep_dims": call.op.keep_dims}, number)

    return Write("tflite", write)


def reduction_of(call: Call) -> Reduction:
    assert isinstance(call.op, Reduction)
    return call.op


def elements(call: Call) -> int:
    """The number of elements reduced to one result."""
    return call.input(0).size // call.output.size


def _groups(call: Call) -> list[tuple[bool, int]]:
    """(whether reduced, size) of each group of adjacent axes, without axes of size 1."""
    shape = call.input(0).shape
    chosen = reduction_of(call).chosen(len(shape))
    marked = [(k in chosen, d) for k, d in enumerate(shape) if d != 1]
    return [(key, int(np.prod([d for _, d in run]))) for key, run in groupby(marked, lambda item: item[0])]


def walk(call: Call) -> Params:
    """The struct fields kept, kept_stride, reduced and reduced_stride, in elements, outermost loop first."""
    sizes: dict[bool, list[int]] = {False: [], True: []}
    strides: dict[bool, list[int]] = {False: [], True: []}
    stride = 1
    for reduced, size in reversed(_groups(call)):
        sizes[reduced].insert(0, size)
        strides[reduced].insert(0, stride)
        stride *= size
    fill = {key: [1] * (GROUPS - len(found)) for key, found in sizes.items()}
    return {
        "kept": np.array(fill[False] + sizes[False], np.uint32),
        "kept_stride": np.array([0] * len(fill[False]) + strides[False], np.uint32),
        "reduced": np.array(fill[True] + sizes[True], np.uint32),
        "reduced_stride": np.array([0] * len(fill[True]) + strides[True], np.uint32),
    }


def leaves_channels(call: Call) -> bool:
    "only the last axis of an image is kept, and all others are reduced"
    x, y = call.input(0), call.output
    chosen = reduction_of(call).chosen(len(x.shape))
    if len(x.shape) == 4:
        return chosen == (1, 2) and images_of(x.shape) == images_of(y.shape) * (
            1 if len(y.shape) == 4 else x.shape[0] == 1
        )
    return [key for key, _ in _groups(call)] in ([True, False], [True]) and images_of(y.shape) == 1


def channels(call: Call) -> int:
    """The number of results per image."""
    return call.output.size // images_of(call.output.shape)


def row_pixels(call: Call) -> int:
    """The number of pixels per input row."""
    x = call.input(0)
    return x.size // (images_of(x.shape) * rows_of(x.shape) * channels(call))


CASES: tuple[tuple[Shape, tuple[int, ...], bool], ...] = (
    ((1, 5, 7, 3), (1, 2), False),
    ((2, 3, 4, 8), (1, 2), True),
    ((1, 1, 6, 5), (2, 1), True),
    ((2, 3, 4, 5), (0, 2), False),
    ((3, 4, 5), (-1,), True),
    ((3, 4, 5), (0, 1, 2), False),
    ((1, 9, 17), (1,), False),
    ((2, 3, 2, 3, 2), (0, 2, 4), True),
    ((2, 3, 2, 3, 2, 2), (1, 3, 5), False),
    ((7,), (0,), True),
    ((2, 1, 3), (1, -2), False),
)


def examples(make: Callable[[tuple[int, ...], bool], Op], *, rescaled: bool) -> Sequence[Example]:
    """One example per case and element type. make: the operator for (axes, keep_dims). rescaled: whether input and
    output may differ in scale.
    """
    return [
        _example(k, make(axes, keep), shape, dtype, rescaled)
        for dtype in ("s8", "s16", "f32")
        for k, (shape, axes, keep) in enumerate(CASES)
    ]


def _example(k: int, op: Op, shape: Shape, dtype: str, rescaled: bool) -> Example:
    zero = (-128, 0, 127, -9)[k % 4] if dtype == "s8" else 0
    other = zero // 3 if rescaled and dtype == "s8" else zero
    gain = (0.3, 1.0, 7.0, 1e-4, 40.0)[k % 5] if rescaled else 1.0
    quants = (None, None) if dtype == "f32" else (QuantParams((0.05,), (zero,)), QuantParams((0.05 / gain,), (other,)))
    x = TensorType(shape, dtype, quants[0])
    y = TensorType(op.infer(x)[0].shape, dtype, quants[1])
    return Example(op, (x,), (y,), {}, k)
