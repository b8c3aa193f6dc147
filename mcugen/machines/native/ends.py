"""Inputs and outputs of a model: NumPy arrays as users have them, and arrays as the C takes them."""

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
    """An input or output. scale, zero_point: real = scale * (stored - zero_point); scale is None without
    quantization."""

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
        """Stored values as real numbers; those without a scale as they are."""
        if self.scale is None:
            return stored
        return self.scale * (stored.astype(np.float64) - self.zero_point)


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument as the C takes it.

    count: how many sets of inputs; None for one, without an axis for them
    real: whether the C is to quantize it
    stored: whether it holds integers of a quantized input
    stacked: whether its first axis was put before all of the input's own
    """

    array: np.ndarray
    count: int | None
    real: bool
    stored: bool
    stacked: bool


def ends_of(graph: Graph, view: ModelView) -> tuple[tuple[End, ...], tuple[End, ...]]:
    """The inputs and the outputs of a model, in its order."""
    return (
        tuple(_end(graph, name, bool(end.scale)) for name, end in zip(graph.inputs, view.inputs, strict=True)),
        tuple(_end(graph, name, bool(end.scale)) for name, end in zip(graph.outputs, view.outputs, strict=True)),
    )


def _end(graph: Graph, name: str, has_scale: bool) -> End:
    t: TensorType = graph.type(name)
    scale, zero = (t.scale, t.zero_point) if has_scale else (None, 0)
    return End(graph.tensors[name].label or name, t.shape, t.np_dtype, scale, zero)


def taken(end: End, value: object) -> Argument:
    """An argument for an input. Raises UsageError where shape, type or values do not fit."""
    array = np.asarray(value)
    count, stacked = _count(end, array.shape)
    fitting, real = as_element(end, array)
    stored = end.is_quantized and not real
    return Argument(np.ascontiguousarray(fitting), count, real, stored, stacked)


def as_element(end: End, array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The values as the C takes them, and whether the C must quantize them. Raises UsageError."""
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{array.dtype} are no numbers", where=end.name, hint=f"the input is {end}")
    if end.dtype.kind == "f":
        return array.astype(end.dtype, copy=False), False
    if array.dtype.kind == "f":
        if not end.is_quantized or end.dtype.itemsize > 2:
            raise UsageError("takes whole numbers", where=end.name, hint=f"the input is {end}")
        return _singles(end, array), True
    low, high = (0, 1) if end.dtype.kind == "b" else (np.iinfo(end.dtype).min, np.iinfo(end.dtype).max)
    if array.dtype != end.dtype and array.size and not (low <= array.min() and array.max() <= high):
        found = f"{array.min()}..{array.max()}"
        hint = f"stored values are {low}..{high}"
        hint += "; give real numbers as floats" if end.is_quantized else ""
        raise UsageError(f"values {found} do not fit {end.dtype}", where=end.name, hint=hint)
    return array.astype(end.dtype, copy=False), False


def _singles(end: End, array: np.ndarray) -> np.ndarray:
    """Real numbers as float32 for the C to quantize. Raises UsageError for numbers that are no finite float32."""
    with np.errstate(over="ignore"):
        singles = array.astype(np.float32, copy=False)
    if np.isfinite(singles).all():
        return singles
    first = array[~np.isfinite(singles)][0]
    what = "beyond float32" if np.isfinite(first) else "no finite number"
    hint = "the runtime does not define what these become as stored integers: clean or leave out this sample"
    raise UsageError(f"a value is {first}, {what}", where=end.name, hint=hint)


def _count(end: End, shape: Shape) -> tuple[int | None, bool]:
    """The number of samples in an array of that shape, None for a single one, and whether they are stacked."""
    wanted = end.shape
    inner = wanted[1:] if wanted[:1] == (1,) else None
    if shape in (wanted, inner):
        return None, False
    if inner is not None and shape and shape[1:] == inner:
        return shape[0], False
    if shape and shape[1:] == wanted:
        return shape[0], True
    many = ["n", *map(str, wanted if inner is None else inner)]
    hint = f"give {list(wanted)}, or [{', '.join(many)}] for n of them"
    raise UsageError(f"an array of shape {list(shape)} does not fit", where=end.name, hint=hint)


def together(given: Sequence[Argument], ends: Sequence[End]) -> int | None:
    """The number of input sets in the arguments, None for one. Raises UsageError where they disagree."""
    counts = {item.count for item in given}
    if len(counts) > 1:
        listed = ", ".join(f"{end.name!r} {item.count or 'one'}" for end, item in zip(ends, given, strict=True))
        raise UsageError(f"the inputs hold different numbers of samples: {listed}", hint="give as many of each")
    return next(iter(counts), None)


def room(end: End, count: int, *, real: bool) -> np.ndarray:
    """An array for `count` values of an output."""
    return np.empty((count, *end.shape), np.float32 if real and end.is_quantized else end.dtype)


def shaped(array: np.ndarray, count: int | None, *, stacked: bool) -> np.ndarray:
    """The values of an output as the user gets them: without an axis for samples if there is one sample, else with
    one."""
    if count is None:
        return array.reshape(array.shape[1:])
    own = array.shape[1:]
    return array.reshape(count, *own[1:]) if own[:1] == (1,) and not stacked else array
