"""Conversion of stored samples to inputs of a model: order of axes, shape, and checks of the values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape, TensorType
from mcugen.samples import preprocess
from mcugen.samples.column import Column
from mcugen.samples.preprocess import Plan

_F32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class SampleFit:
    """The conversion of a column to samples of an input. order: the axes of a stored sample, in the input's order."""

    column: Column
    wanted: TensorType
    plan: Plan
    order: tuple[int, ...]
    note: str = ""

    def read(self, n: int) -> np.ndarray:
        """The first n samples, [n, *shape of the input]. Raises UsageError."""
        t = self.wanted
        found = np.empty((n, *t.shape), np.float32 if t.is_float else t.np_dtype)
        start = 0
        for block in self.column.blocks(n):
            values = preprocess.numbers(self.plan, block, self._channels)
            values = values.transpose(0, *(axis + 1 for axis in self.order)).reshape(-1, *t.shape)
            stop = start + len(values)
            found[start:stop] = _checked(values, found.dtype, t, start, self.column)
            start = stop
        return found

    @property
    def _channels(self) -> int | None:
        """The axis of a block that holds the channels; None if it is unknown."""
        last = len(self.column.shape) - 1
        known = {"nchw": last, "nhwc": 0}.get(self.plan.axes, self.column.channels)
        return None if known is None else known + 1


def fit(column: Column, wanted: TensorType, plan: Plan) -> SampleFit:
    """The conversion of a column to samples of an input. Raises UsageError, with a remedy, if they do not fit."""
    shape = column.shape
    order = _moved(len(shape), plan.axes, column)
    turned = tuple(shape[axis] for axis in order)
    if (
        plan.axes
        and order != tuple(range(len(shape)))
        and not _fits(turned, wanted.shape)
        and _fits(shape, wanted.shape)
    ):
        message = f"samples are {list(shape)}, as the model takes them, but {plan.axes!r} moves their channels"
        raise UsageError(message, where=column.where, hint=f"leave out {plan.axes!r}")
    if _fits(turned, wanted.shape):
        return SampleFit(column, wanted, plan, order)
    if column.channels is not None and not plan.axes:
        order = _moved(len(shape), "nchw", column)
        if _fits(tuple(shape[axis] for axis in order), wanted.shape):
            return SampleFit(
                column, wanted, plan, order, f"{column.where}: channels are put first, as the model takes them"
            )
    if _without_ones(turned) == _without_ones(wanted.shape):
        note = f"{column.where}: samples are {list(turned)}, taken as {list(wanted.shape)}: no number changes its place"
        return SampleFit(column, wanted, plan, order, note)
    raise _misfit(column, turned, wanted.shape)


def moved(column: Column, plan: Plan) -> Shape:
    """The shape of a column's samples after `nchw` or `nhwc`. Raises UsageError."""
    return tuple(column.shape[axis] for axis in _moved(len(column.shape), plan.axes, column))


def _moved(rank: int, axes: str, column: Column) -> tuple[int, ...]:
    """The order of a sample's axes after `nchw` or `nhwc`."""
    first, last = tuple(range(rank)), rank - 1
    if not axes or (axes == "nhwc" and column.channels == last):
        return first
    if rank < 2:
        message = f"{axes!r} does not apply to samples of shape {list(column.shape)}"
        raise UsageError(message, where=column.where, hint=f"leave out {axes!r}")
    return (last, *first[:-1]) if axes == "nchw" else (*first[1:], 0)


def _fits(shape: Shape, wanted: Shape) -> bool:
    return shape == wanted or (wanted[:1] == (1,) and shape == wanted[1:])


def _without_ones(shape: Shape) -> Shape:
    return tuple(d for d in shape if d != 1)


def _misfit(column: Column, shape: Shape, wanted: Shape) -> UsageError:
    inner = wanted[1:] if wanted[:1] == (1,) else wanted
    message = f"expected samples of shape {list(inner)}, found {list(shape)}"
    hint = f"the first axis counts samples: give an array of shape [n, {', '.join(map(str, inner))}]"
    bare = shape[1:] if shape[:1] == (1,) and len(shape) > len(inner) else shape
    if (column.count, *column.shape) in (inner, wanted):
        message = f"expected [n, {', '.join(map(str, inner))}], found a single sample of shape {list(inner)}"
        hint = "give it an axis of samples: x[None]"
    elif len(bare) > 1 and (bare[-1], *bare[:-1]) == inner:
        hint = (
            f"channels are last, but the model takes them first: --preprocess nchw, or save {_transposed(bare, True)}"
        )
    elif len(bare) > 1 and (*bare[1:], bare[0]) == inner:
        hint = (
            f"channels are first, but the model takes them last: --preprocess nhwc, or save {_transposed(bare, False)}"
        )
    elif column.channels is not None and len(shape) == 3:
        hint = _image_hint(shape, inner)
    elif sorted(shape) == sorted(inner):
        hint = "the axes are in another order: save x.transpose(...)"
    elif math.prod(shape) == math.prod(inner):
        hint = f"the number of values fits: if their order does, save x.reshape(len(x), {', '.join(map(str, inner))})"
    return UsageError(message, where=column.where, hint=hint)


def _transposed(shape: Shape, first: bool) -> str:
    rest = range(1, len(shape)) if first else range(2, len(shape) + 1)
    axes = (0, len(shape), *rest) if first else (0, *rest, 1)
    return f"x.transpose{axes}"


def _image_hint(shape: Shape, inner: Shape) -> str:
    """The option that makes an image [height, width, channels] fit."""
    if len(inner) != 3:
        return "the model takes no images: give its inputs as arrays"
    sides = inner[1:] if inner[0] in (1, 3) and inner[2] not in (1, 3) else inner[:2]
    channels = inner[0] if sides == inner[1:] else inner[2]
    words = [] if shape[2] == channels else ["rgb" if channels == 3 else "gray"]
    words += [] if shape[:2] == sides else [f"resize={sides[1]}x{sides[0]}"]
    return f"--preprocess {','.join(words)}" if channels in (1, 3) and words else "give the inputs as arrays"


def _checked(values: np.ndarray, dtype: np.dtype, t: TensorType, start: int, column: Column) -> np.ndarray:
    """The values as the stored type. Raises UsageError for the first value that does not fit it."""

    def refuse(bad: np.ndarray, what: str, hint: str) -> None:
        if bad.any():
            k, *place = (int(axis[0]) for axis in np.nonzero(bad))
            message = f"sample {start + k}: {values[(k, *place)]} at {place} {what}"
            raise UsageError(message, where=column.place(start + k), hint=hint)

    if t.is_float:
        refuse(~np.isfinite(values), "is not a finite number", "clean or leave out this sample")
        if values.dtype.kind == "f" and values.dtype.itemsize > 4:
            refuse(np.abs(values) > _F32_MAX, "is too large for float32", "give numbers that float32 can hold")
        return values.astype(dtype, copy=False)
    low, high = t.limits
    hint = f"the input takes whole numbers {low}..{high}"
    if values.dtype.kind == "f":
        refuse(values != np.rint(values), "is not a whole number", hint)
    refuse((values < low) | (values > high), f"is not in {low}..{high}", hint)
    return values.astype(dtype)
