"""STRIDED_SLICE and SLICE: a range of indices with a step along each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Alias
from mcugen.ir.op import Example, Reordered
from mcugen.ir.types import MOVABLE, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _join, _onnx, _strided, _tflite, _view

Range = tuple[int, int, int]  # first index, number of elements, step


def from_slice(source: Source) -> Imported:
    x, begin, size, _ = _operands(source, 2)
    if len(begin) != len(x.shape) or len(size) != len(x.shape):
        raise ShapeError(f"begin {list(begin)} and size {list(size)} need one number for each axis of {list(x.shape)}")
    ranges = tuple((b, d - b if n == -1 else n, 1) for b, n, d in zip(begin, size, x.shape, strict=True))
    refusing = {"tflm": "no kernel for more than 5 axes"} if len(x.shape) > 5 else {}
    return Imported(StridedSlice(ranges, tuple(n for _, n, _ in ranges)), inputs=(0,), refused_by=refusing)


def from_strided_slice(source: Source) -> Imported:
    x, begin, end, strides = _operands(source, 3)
    if not len(begin) == len(end) == len(strides) <= 32:
        raise ShapeError(f"begin {list(begin)}, end {list(end)} and strides {list(strides)} differ in length")
    a = source.attributes
    masks = _Masks(a["begin_mask"], a["end_mask"], a["ellipsis_mask"], a["new_axis_mask"], a["shrink_axis_mask"])
    ranges, shape = [], []
    for entry, size in _entries(masks, len(begin), x.shape):
        if size is None:
            shape.append(1)
            continue
        found = (0, size, 1) if entry is None else _range(masks, entry, begin, end, strides, size)
        ranges.append(found)
        if entry is None or not masks.shrink >> entry & 1:
            shape.append(found[1])
    # TFLM supports at most four axes, and no new axes: it compares the result's shape without them.
    is_lacking = masks.ellipsis or masks.new_axis or len(x.shape) > 4
    refusing = {"tflm": "no kernel for new axes, an ellipsis or more than 4 axes"} if is_lacking else {}
    if any(t is not None and t.dtype != "s32" for t in source.inputs[1:]):
        raise UnsupportedError("begin, end and strides must be int32: runtimes refuse or misread other types")
    return Imported(StridedSlice(tuple(ranges), tuple(shape)), inputs=(0,), refused_by=refusing)


@dataclass(frozen=True)
class _Masks:
    """Bit masks of STRIDED_SLICE: bit k belongs to entry k of begin, end and strides."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink: int


def _operands(source: Source, count: int) -> tuple[TensorType, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """(type of operand 0, constant operands 1, 2 and 3). count: 3, or 2 without operand 3, which then is ()."""
    x = _strided.operand(source.inputs[0] if source.inputs else None)
    vectors = [source.ints(k) for k in range(1, count + 1)]
    known = [v for v in vectors if v is not None]
    if len(known) != count:
        raise UnsupportedError(f"operands 1 to {count} are computed at run time", hint="make them constants")
    return x, known[0], known[1], known[2] if count == 3 else ()


def _entries(masks: _Masks, count: int, shape: Shape) -> Iterator[tuple[int | None, int | None]]:
    """(entry, size of its axis) for each axis of the result. Entry None: a whole axis. Size None: a new axis."""
    if bin(masks.ellipsis & ((1 << count) - 1)).count("1") > 1:
        raise ShapeError("ellipsis_mask has more than one bit")
    new = [k for k in range(count) if masks.new_axis >> k & 1 and not masks.ellipsis >> k & 1]
    dots = [k for k in range(count) if masks.ellipsis >> k & 1]
    skipped = len(shape) - (count - len(new) - len(dots))
    if skipped < 0:
        raise ShapeError(f"begin, end and strides have {count} entries, too many for a tensor {list(shape)}")
    axis = 0
    for entry in range(count):
        if entry in dots:
            yield from ((None, d) for d in shape[axis : axis + skipped])
            axis += skipped
        elif entry in new:
            yield entry, None
        else:
            yield entry, shape[axis]
            axis += 1
    yield from ((None, d) for d in shape[axis:])


def _range(masks: _Masks, k: int, begin: Sequence[int], end: Sequence[int], strides: Sequence[int], size: int) -> Range:
    """The range that entry k selects on an axis of that size.

    Source: kernels/internal/strided_slice_logic.h, StartForAxis and StopForAxis.
    """
    step = strides[k]
    if step == 0:
        raise ShapeError(f"the stride of entry {k} is 0")
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def bound(at: int) -> int:
        return min(max(at + size if at < 0 else at, low), high)

    first = (low if step > 0 else high) if masks.begin >> k & 1 else bound(begin[k])
    if masks.shrink >> k & 1:
        if step < 0:
            raise ShapeError(f"entry {k} of shrink_axis_mask needs a positive stride, not {step}")
        return first, 1, step
    stop = (high if step > 0 else low) if masks.end >> k & 1 else bound(end[k])
    return first, max(-(-(stop - first) // step), 0), step


def _starts(call: Call) -> list[int]:
    assert isinstance(call.op, StridedSlice)
    base = _strided.blank(call.input(0).shape)
    return [_strided.view_offset(base, call.op.view(base)) * call.output.np_dtype.itemsize]


_PARTED = replace(_join.PARTED, form=Alias(_starts))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """SLICE if all steps are 1 and no axis is dropped, else STRIDED_SLICE. A RESHAPE follows if the shape differs."""
    x, ranges, y = call.input(0), call.op.ranges, call.output
    counts = tuple(count for _, count, _ in ranges)
    first = _tflite.vector(sink, [begin for begin, _, _ in ranges])
    gone = _dropped(counts, y.shape)
    if any(step != 1 for *_, step in ranges) or gone:
        found = _with_steps(call, sink, [*inputs, first], gone or ())
    else:
        number = 5 if len(ranges) > 4 else _tflite.version(x, s8=2, s16=4, u32=6)
        operands = [*inputs, first, _tflite.vector(sink, counts)]
        found = sink.operator("SLICE", operands, [y.with_shape(counts)], {}, number)
    return found if gone is not None else _tflite.reshape(sink, found[0], y)


def _dropped(counts: Shape, shape: Shape) -> tuple[int, ...] | None:
    """The axes of size 1 that the result drops; None if dropping axes does not give its shape."""
    gone, rest = [], list(shape)
    for axis, count in enumerate(counts):
        if rest[:1] == [count]:
            rest.pop(0)
        elif count == 1:
            gone.append(axis)
        else:
            return None
    return None if rest else tuple(gone)


def _with_steps(call: Call, sink: Sink, operands: Sequence[str | None], gone: Sequence[int]) -> Sequence[str]:
    """STRIDED_SLICE.

    A range that ends before the first element gets end_mask, because an end of -1 means the last element.
    """
    ranges = [(first, count, 1 if k in gone else step) for k, (first, count, step) in enumerate(call.op.ranges)]
    ends = [first + count * step for first, count, step in ranges]
    operands = [*operands, *(_tflite.vector(sink, v) for v in ([max(e, 0) for e in ends], [s for *_, s in ranges]))]
    masks = {"end_mask": sum(1 << k for k, end in enumerate(ends) if end < 0)}
    masks["shrink_axis_mask"] = sum(1 << k for k in gone)
    number = 4 if len(ranges) > 4 else _tflite.version(call.input(0), s8=2, bool=3)
    shape = tuple(count for k, (_, count, _) in enumerate(ranges) if k not in gone)
    return sink.operator("STRIDED_SLICE", operands, [call.output.with_shape(shape)], masks, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    shape = call.input(0).shape
    cut = {k: entry for k, entry in enumerate(call.op.ranges) if entry != (0, shape[k], 1)}
    x, sizes = str(inputs[0]), tuple(count for _, count, _ in call.op.ranges)
    if cut:
        ends = [first + count * step for first, count, step in cut.values()]
        bounds = {
            "starts": tuple(first for first, _, _ in cut.values()),
            "ends": tuple(end if end >= 0 else _onnx.BEFORE_FIRST for end in ends),
            "axes": tuple(cut),
            "steps": tuple(step for _, _, step in cut.values()),
        }
        x = sink.operator("Slice", [x], [call.output.with_shape(sizes)], bounds)[0]
    return [_onnx.reshaped(sink, x, call.output)]


@dataclass(frozen=True)
class StridedSlice(_view.View):
    """y[i, ...] = x[first + i * step, ...] along each axis, reshaped to `shape`.

    x: any type and shape   y: as x; `ranges` has (first index, number of elements, step) for each axis of x
    in_place: whether the result is stored inside the operand
    Source: TFLite STRIDED_SLICE, SLICE.
    """

    ranges: tuple[Range, ...]
    shape: Shape
    in_place: bool = False

    tflm_types = dtypes("s8 s16 s32 f32 bool")
    litert_types = MOVABLE
    imports = (Import("tflite", "STRIDED_SLICE", from_strided_slice), Import("tflite", "SLICE", from_slice))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (_PARTED, *_view.WITH_ROWS)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if len(self.ranges) != len(x.shape):
            raise ShapeError(f"{len(self.ranges)} ranges must be one for each axis of {list(x.shape)}")
        for (first, count, step), size in zip(self.ranges, x.shape, strict=True):
            last = first + (count - 1) * step
            if count < 1:
                raise ShapeError(f"the slice of an axis of {size} is empty", hint="check begin, end and strides")
            if not (0 <= first < size and 0 <= last < size):
                raise ShapeError(f"the slice {first}..{last} reaches beyond an axis of {size}")
        if int(np.prod(self.shape)) != int(np.prod([count for _, count, _ in self.ranges])):
            raise ShapeError(f"the slice of {list(x.shape)} cannot have the shape {list(self.shape)}")
        return (TensorType(self.shape, x.dtype),)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This slice of the stored axes, reshaped if the result has other axes."""
        shape = call.input(0).shape
        axes = [k for k, (_, count, step) in enumerate(self.ranges) if (count, step) != (shape[k], 1)]
        order = orders[0]
        stored = [] if order is None else [order.stored_axis(axis) for axis in axes]
        sliced = None if order is None else order.resized({k: self.ranges[k][1] for k in axes})
        result = None if sliced is None else sliced.reshaped(call.output.shape)
        if order is None or sliced is None or result is None or None in stored:
            return None
        ranges = [(0, size, 1) for size in order.stored_shape]
        for axis, k in zip(axes, stored, strict=True):
            ranges[k or 0] = self.ranges[axis]
        op = replace(self, ranges=tuple(ranges), shape=sliced.stored_shape)
        return Reordered(op, (order,), (result,))

    def view(self, x: np.ndarray) -> np.ndarray:
        index = tuple(
            slice(first, end if end >= 0 else None, step)
            for first, count, step in self.ranges
            for end in [first + count * step]
        )
        return x[index]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[tuple[Range, ...], Shape], ...] = (
            (((0, 1, 1), (1, 3, 1), (0, 6, 1), (0, 3, 1)), (1, 5, 6, 3)),
            (((0, 2, 1), (4, 2, -3), (5, 3, -2), (0, 3, 1)), (2, 5, 6, 3)),
            (((1, 1, 1), (0, 3, 2)), (3, 6)),
            (((6, 7, -1), (0, 4, 1)), (7, 4)),
            (((0, 2, 1), (1, 2, 1), (0, 2, 1), (1, 2, 1), (0, 2, 1), (0, 2, 2)), (2, 3, 3, 3, 3, 4)),
        )
        found = [(cls(ranges, tuple(n for _, n, _ in ranges)), shape) for ranges, shape in cases]
        found.append((cls(((2, 1, 1), (0, 5, 1)), (5,)), (4, 5)))
        found.append((cls(((0, 4, 1),), (1, 4, 1)), (4,)))
        found.append((cls(((0, 1, 1), (2, 3, 1), (0, 4, 1)), (3, 4), in_place=True), (1, 6, 4)))
        crops = (((0, 1, 1), (1, 3, 1), (2, 3, 1), (0, 2, 1)), ((0, 1, 1), (0, 3, 2), (5, 3, -2), (1, 1, 1)))
        pixels = ((cls(ranges, tuple(n for _, n, _ in ranges)), (1, 5, 6, 2)) for ranges in crops)
        return [*_view.examples(found), *_view.pixel_examples(pixels)]
