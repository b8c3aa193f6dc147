"""Inputs and outputs of a loaded model: converts between the user's NumPy arrays and the arrays that the C expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.emit.view import ModelView
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.types import Shape, TensorType


@dataclass(frozen=True)
class End:
    """An input or output. real = scale * (stored - zero_point); scale is None if it is not quantized."""

    name: str
    shape: Shape
    dtype: np.dtype
    scale: float | None
    zero_point: int

    def __str__(self) -> str:
        quantized = f", scale {self.scale:.6g}, zero point {self.zero_point}" if self.scale is not None else ""
        return f"{self.name!r} {self.dtype} {list(self.shape)}{quantized}"

    @property
    def is_quantized(self) -> bool:
        return self.scale is not None

    def real(self, stored: np.ndarray) -> np.ndarray:
        """Stored values as real numbers. Values without a scale are returned unchanged."""
        if self.scale is None:
            return stored
        return self.scale * (stored.astype(np.float64) - self.zero_point)


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument in the form that the C expects.

    count: number of samples; None for a single sample without an axis for samples
    real: whether the C must quantize it
    stored: whether it holds the integers of a quantized input
    stacked: whether its first axis comes in addition to all of the input's own axes
    """

    array: np.ndarray
    count: int | None
    real: bool
    stored: bool
    stacked: bool


def ends_of(graph: Graph, view: ModelView) -> tuple[tuple[End, ...], tuple[End, ...]]:
    """The inputs and the outputs of a model, in the model's order."""
    return (
        tuple(_end(graph, name, bool(end.scale)) for name, end in zip(graph.inputs, view.inputs, strict=True)),
        tuple(_end(graph, name, bool(end.scale)) for name, end in zip(graph.outputs, view.outputs, strict=True)),
    )


def _end(graph: Graph, name: str, has_scale: bool) -> End:
    t: TensorType = graph.type(name)
    scale, zero = (t.scale, t.zero_point) if has_scale else (None, 0)
    return End(graph.tensors[name].label or name, t.shape, t.np_dtype, scale, zero)


def taken(end: End, value: object) -> Argument:
    """The argument for an input. Raises UsageError if its shape, type or values do not fit."""
    array = np.asarray(value)
    count, stacked = _count(end, array.shape)
    fitting, real = as_element(end, array)
    stored = end.is_quantized and not real
    return Argument(np.ascontiguousarray(fitting), count, real, stored, stacked)


def as_element(end: End, array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The values in the C's element type, and whether the C must quantize them. Raises UsageError."""
    if array.dtype.kind not in "biuf":
        raise UsageError(f"an array of {array.dtype} is not numeric", where=end.name, hint=f"the input is {end}")
    if end.dtype.kind == "f":
        return array.astype(end.dtype, copy=False), False
    if array.dtype.kind == "f":
        if not end.is_quantized or end.dtype.itemsize > 2:
            raise UsageError("the input takes integers, not floats", where=end.name, hint=f"the input is {end}")
        return _singles(end, array), True
    low, high = (0, 1) if end.dtype.kind == "b" else (np.iinfo(end.dtype).min, np.iinfo(end.dtype).max)
    if array.dtype != end.dtype and array.size and not (low <= array.min() and array.max() <= high):
        found = f"{array.min()}..{array.max()}"
        hint = f"stored values are {low}..{high}"
        hint += "; give real numbers as floats" if end.is_quantized else ""
        raise UsageError(f"values {found} do not fit {end.dtype}", where=end.name, hint=hint)
    return array.astype(end.dtype, copy=False), False


def _singles(end: End, array: np.ndarray) -> np.ndarray:
    """Real numbers as float32, for the C to quantize. Raises UsageError for values that are not finite in float32."""
    with np.errstate(over="ignore"):
        singles = array.astype(np.float32, copy=False)
    if np.isfinite(singles).all():
        return singles
    first = array[~np.isfinite(singles)][0]
    what = "beyond float32" if np.isfinite(first) else "no finite number"
    hint = "the runtime does not define how to quantize it: correct or leave out this sample"
    raise UsageError(f"a value is {first}, {what}", where=end.name, hint=hint)


def _count(end: End, shape: Shape) -> tuple[int | None, bool]:
    """The number of samples in an array of this shape (None for a single one), and whether they are stacked."""
    wanted = end.shape
    inner = wanted[1:] if wanted[:1] == (1,) else None
    if shape in (wanted, inner):
        return None, False
    if inner is not None and shape and shape[1:] == inner:
        return shape[0], False
    if shape and shape[1:] == wanted:
        return shape[0], True
    many = ["n", *map(str, wanted if inner is None else inner)]
    hint = f"give {list(wanted)}, or [{', '.join(many)}] for n samples"
    raise UsageError(f"an array of shape {list(shape)} does not fit", where=end.name, hint=hint)


def together(given: Sequence[Argument], ends: Sequence[End]) -> int | None:
    """The number of samples in the arguments, None for a single one. Raises UsageError if the arguments disagree."""
    counts = {item.count for item in given}
    if len(counts) > 1:
        listed = ", ".join(f"{end.name!r} {item.count or 'one'}" for end, item in zip(ends, given, strict=True))
        raise UsageError(
            f"the inputs hold different numbers of samples: {listed}", hint="give equally many of each input"
        )
    return next(iter(counts), None)


def room(end: End, count: int, *, real: bool) -> np.ndarray:
    """An uninitialised array for `count` samples of an output. real: whether it will hold real numbers."""
    return np.empty((count, *end.shape), np.float32 if real and end.is_quantized else end.dtype)


def shaped(array: np.ndarray, count: int | None, *, stacked: bool) -> np.ndarray:
    """An output in the form that the user gets. It has an axis for samples unless count is None."""
    if count is None:
        return array.reshape(array.shape[1:])
    own = array.shape[1:]
    return array.reshape(count, *own[1:]) if own[:1] == (1,) and not stacked else array
