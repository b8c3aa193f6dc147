"""Constants with a scale for each block along an axis, as they are imported."""

from __future__ import annotations

import numpy as np

from mcugen.errors import QuantizationError, ShapeError
from mcugen.ir.imports import Expansion
from mcugen.ir.types import Shape


def shape_of_blocks(shape: Shape, axis: int, block: int) -> Shape:
    """The shape of scales for blocks along an axis."""
    return tuple(-(-d // block) if k == axis else d for k, d in enumerate(shape))


def signed(
    e: Expansion, q: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None, axis: int, block: int
) -> tuple[str, str, str | None]:
    """The names of new constants: signed integers of as few bits as hold q, their scales, and their zero points unless
    all are 0.

    q: int8 or uint8. Raises ShapeError if scales or zero points do not fit blocks along the axis, and QuantizationError
    for scales that are not finite, or 0 where an integer is not its zero point.
    """
    wanted = shape_of_blocks(q.shape, axis, block)
    for what, values in (("scales", scales), ("zero points", zeros)):
        if values is not None and values.shape != wanted:
            raise ShapeError(f"{what} {list(values.shape)} of blocks of {block} must have the shape {list(wanted)}")
    if not np.isfinite(scales).all():
        raise QuantizationError("a scale of a block is infinite or NaN", hint="export the model again")
    points = np.zeros(wanted, np.int64) if zeros is None else zeros.astype(np.int64)
    place = np.arange(q.shape[axis]) // block
    lost = np.argwhere(np.take(scales == 0, place, axis) & (q != np.take(points, place, axis)))
    if lost.size:
        at = [int(k) // (block if a == axis else 1) for a, k in enumerate(lost[0])]
        raise QuantizationError(
            f"the scale of block {at} is 0, but its weights are not",
            hint="quantize the float weights again: a block whose scale is 0 has lost them",
        )
    bits = _bits(q, points, block if block < q.shape[axis] else 8)
    less = 0 if q.dtype == np.int8 else 1 << (bits - 1)
    points = points - less
    return (
        e.packed((q.astype(np.int64) - less).astype(np.int8), f"s{bits}"),
        e.constant(scales.astype(np.float32)),
        e.constant(points.astype(np.int8)) if points.any() else None,
    )


def _bits(q: np.ndarray, zeros: np.ndarray, block: int) -> int:
    """The fewest bits that hold integers and zero points and let each block fill whole bytes."""
    low, high = min(int(q.min()), int(zeros.min())), max(int(q.max()), int(zeros.max()))
    for bits in (2, 4):
        ends = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if q.dtype == np.int8 else (0, (1 << bits) - 1)
        if ends[0] <= low and high <= ends[1] and block % (8 // bits) == 0:
            return bits
    return 8
