"""Shared recipe of data movement: views of tensors as nested loops with byte strides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir import ranges
from mcugen.ir.call import Call, Params
from mcugen.ir.op import evaluate
from mcugen.ir.ranges import Range, measured
from mcugen.ir.types import QuantParams, Shape, TensorType

MAX_LOOPS = 6
MAX_MOVED = 1 << 22
"""Most elements that are moved at build time to find their bounds; larger tensors have their type's bounds."""
DTYPES: tuple[tuple[str, QuantParams | None], ...] = (
    ("s8", QuantParams((0.5,), (-3,))),
    ("s16", QuantParams((0.25,), (0,))),
    ("f32", None),
    ("s64", None),
)
MOVED = ("moves", "loose", "short")
"""Cost terms of data movement, see `moved`."""
SHORT = 16
"""Bytes below which memcpy may copy byte by byte."""
Loops = list[tuple[int, int, int]]


def moved(runs: Sequence[int], times: int) -> dict[str, float]:
    """The cost terms: copies of all runs, their bytes beyond whole words, and the bytes of short runs, each times
    `times`.

    runs: their bytes
    """
    loose = sum(n for n in runs if n % 4)
    short = sum(n for n in runs if n % 4 == 0 and n < SHORT)
    return {"moves": len(runs) * times, "loose": times * loose, "short": times * short}


def operand(x: TensorType | None) -> TensorType:
    """x, which must be present."""
    if x is None:
        raise ShapeError("there is no operand")
    return x


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """A non-negative axis. Raises ShapeError where there is none."""
    if not -rank <= axis < rank:
        raise ShapeError(f"{what} {axis} is not an axis of rank {rank}")
    return axis % rank


def blank(shape: Shape) -> np.ndarray:
    """An array of that shape to take views of; its bytes are never touched."""
    return np.empty(shape, np.int8)


def moved_bounds(call: Call) -> tuple[Range | None, ...]:
    """Bounds of moved data: the operands' bounds are moved the same way."""
    known = [call.range_of(k) for k in range(len(call.inputs))]
    found = [x for x in known if x is not None]
    if len(found) != len(known):
        return tuple(None for _ in call.outputs)
    if sum(t.size for t in (*call.inputs, *call.outputs) if t is not None) > MAX_MOVED:
        return tuple(ranges.whole(t) for t in call.outputs)
    least, most = (
        evaluate(call, [_spread(v, t) for v, t in zip(ends, call.inputs, strict=True)])
        for ends in ([x.low for x in found], [x.high for x in found])
    )
    pairs = [(measured(a), measured(b)) for a, b in zip(least, most, strict=True)]
    return tuple(None if a is None or b is None else Range(a.low, b.high) for a, b in pairs)


def _spread(bound: np.ndarray, t: TensorType | None) -> np.ndarray | None:
    """A tensor with these values in its channels."""
    return None if t is None else np.broadcast_to(bound.astype(t.np_dtype).reshape(-1 if t.shape else ()), t.shape)


def loops(dims: Sequence[int], in_stride: Sequence[int], out_stride: Sequence[int]) -> Loops:
    """(size, input stride, output stride) of the fewest nested loops, outermost first, strides in elements."""
    merged: Loops = []
    for size, a, b in zip(dims, in_stride, out_stride, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1:] == (a * size, b * size):
            merged[-1] = (merged[-1][0] * size, a, b)
        else:
            merged.append((size, a, b))
    return merged


def dense(shape: Shape) -> tuple[int, ...]:
    """Strides in elements of a tensor without gaps."""
    return tuple(int(np.prod(shape[k + 1 :])) for k in range(len(shape)))


def fields(found: Loops, element_bytes: int) -> Params:
    """dims, in_stride, out_stride (bytes) and size of the C structs. Innermost loop last, padded with ones in front."""
    full = [(1, 0, 0)] * (MAX_LOOPS - len(found)) + found
    return {
        "dims": np.array([size for size, _, _ in full], np.uint32),
        "in_stride": np.array([a * element_bytes for _, a, _ in full], np.int32),
        "out_stride": np.array([b * element_bytes for _, _, b in full], np.int32),
        "size": element_bytes,
    }


def view_loops(view: np.ndarray) -> Loops:
    """The loops that write a view of `blank` densely."""
    return loops(view.shape, view.strides, dense(view.shape))


def view_offset(base: np.ndarray, view: np.ndarray) -> int:
    """Offset of the view's first element in its base, in elements."""
    return int(view.__array_interface__["data"][0] - base.__array_interface__["data"][0])


def has_c_type(call: Call) -> bool:
    "the elements are of 1, 2, 4 or 8 bytes and not float16"
    return call.output.dtype != "f16"
