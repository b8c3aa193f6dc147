"""Shared recipe of data movement: strided views of tensors as nested loops."""

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
"""Most elements for which bounds are computed by moving them at build time. Larger tensors get their type's bounds."""
DTYPES: tuple[tuple[str, QuantParams | None], ...] = (
    ("s8", QuantParams((0.5,), (-3,))),
    ("s16", QuantParams((0.25,), (0,))),
    ("f32", None),
    ("s64", None),
)
MOVED = ("moves", "loose", "short")
"""Cost terms of data movement, see `moved`."""
SHORT = 16
"""Copies of fewer bytes are assumed to be made byte by byte in memcpy."""
Loops = list[tuple[int, int, int]]


def moved(runs: Sequence[int], times: int) -> dict[str, float]:
    """The cost terms of copying each run `times` times. runs: the contiguous bytes of each run.

    moves  copies
    loose  bytes of runs whose size is no multiple of 4
    short  bytes of other runs that have fewer than SHORT bytes
    """
    loose = sum(n for n in runs if n % 4)
    short = sum(n for n in runs if n % 4 == 0 and n < SHORT)
    return {"moves": len(runs) * times, "loose": times * loose, "short": times * short}


def operand(x: TensorType | None) -> TensorType:
    """x. Raises ShapeError if it is None."""
    if x is None:
        raise ShapeError("an operand is missing")
    return x


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """The axis, counted from the start. Raises ShapeError if it does not exist. what: its name in the message."""
    if not -rank <= axis < rank:
        raise ShapeError(f"{what} {axis} does not exist in a tensor with {rank} axes")
    return axis % rank


def blank(shape: Shape) -> np.ndarray:
    """An array of that shape with one byte per element, for computing views. Its bytes are never read or written."""
    return np.empty(shape, np.int8)


def moved_bounds(call: Call) -> tuple[Range | None, ...]:
    """Bounds of an operator that moves data, from moving tensors of the least and of the largest values."""
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
    """A tensor of type t with one value per channel; None if t is None."""
    return None if t is None else np.broadcast_to(bound.astype(t.np_dtype).reshape(-1 if t.shape else ()), t.shape)


def loops(dims: Sequence[int], in_stride: Sequence[int], out_stride: Sequence[int]) -> Loops:
    """(size, input stride, output stride) of nested loops, outermost first, in elements. Loops are merged if possible.
    """
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
    """Strides of a tensor without gaps, in elements."""
    return tuple(int(np.prod(shape[k + 1 :])) for k in range(len(shape)))


def fields(found: Loops, element_bytes: int) -> Params:
    """The struct fields dims, in_stride, out_stride and size, in bytes except dims; the innermost loop is last."""
    full = [(1, 0, 0)] * (MAX_LOOPS - len(found)) + found
    return {
        "dims": np.array([size for size, _, _ in full], np.uint32),
        "in_stride": np.array([a * element_bytes for _, a, _ in full], np.int32),
        "out_stride": np.array([b * element_bytes for _, _, b in full], np.int32),
        "size": element_bytes,
    }


def view_loops(view: np.ndarray) -> Loops:
    """The loops that copy a view of `blank` to a tensor without gaps."""
    return loops(view.shape, view.strides, dense(view.shape))


def view_offset(base: np.ndarray, view: np.ndarray) -> int:
    """Offset of the view's first element in `base`, in elements."""
    return int(view.__array_interface__["data"][0] - base.__array_interface__["data"][0])


def has_c_type(call: Call) -> bool:
    "elements have 1, 2, 4 or 8 bytes and are not float16"
    return call.output.dtype != "f16"
