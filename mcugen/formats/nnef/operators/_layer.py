"""Parts of imports of NNEF operations: quantization by graph.quant, operands of lower rank, and axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, Shape
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.ops.reshape import Reshape

Expand = Callable[[Source, Expansion], Sequence[str]]
Names = list[str]
Quant = QuantParams | None
Layer = Callable[[Source, Expansion, Names, Quant], str]
"""The function that appends an NNEF operation: on integers with the result's quantization, on floats with None."""


def layer(function: Layer, *, integers: int = 0) -> Expand:
    """The import of an operation with one result.

    The operation is done on integers if `integers` is not 0 and all of these are quantized: the result, the first
    `integers` operands, and all operands that are not constant. Otherwise it is done on floats: quantized operands are
    dequantized before it, and the result is quantized after it if the file states its quantization.
    """

    def expand(source: Source, e: Expansion) -> Sequence[str]:
        wanted = source.outputs[0].quant if source.outputs else None
        names = given(e)
        needed = [name for k, name in enumerate(names) if k < integers or e.data(name) is None]
        if integers and wanted is not None and all(e.type(name).quant is not None for name in needed):
            return [quantized(e, function(source, e, names, wanted), source)]
        y = function(source, e, [real(e, name) for name in names], None)
        return [quantized(e, y, source)]

    return expand


def mover(function: Callable[[Source, Expansion, str], Op]) -> Expand:
    """The import of an operation that only moves the elements of its first operand."""

    def expand(source: Source, e: Expansion) -> Sequence[str]:
        x = given(e)[0]
        return [quantized(e, moved(e, function(source, e, x), x), source)]

    return expand


def moved(e: Expansion, op: Op, *names: str) -> str:
    """Append an operator that moves elements, so that the result keeps the quantization of operand 0."""
    return e.node(op, *names, quant=e.type(names[0]).quant)


def given(e: Expansion) -> list[str]:
    """The operands. Raises ShapeError if one is missing."""
    if not e.inputs or None in e.inputs:
        raise ShapeError("an operand is missing")
    return [name for name in e.inputs if name is not None]


def real(e: Expansion, name: str) -> str:
    """A tensor in floats: the tensor itself, or dequantized."""
    t, data = e.type(name), e.data(name)
    if t.quant is None:
        return name
    if data is None:
        return e.node(Dequantize(), name)
    along = tuple(-1 if k == t.quant.axis else 1 for k in range(len(t.shape))) if t.quant.per_channel else ()
    scale, zero = (np.array(v).reshape(along) for v in (t.quant.scale, t.quant.zero_point))
    return e.constant((np.float32(scale) * (data.astype(np.int64) - zero)).astype(np.float32))


def quantized(e: Expansion, y: str, source: Source, k: int = 0) -> str:
    """Result k with the quantization that graph.quant states for it."""
    if k >= len(source.outputs):
        return y
    wanted, t = source.outputs[k], e.type(y)
    if wanted.quant == t.quant:
        return y
    if wanted.quant is None:
        return real(e, y)
    if t.dtype not in ("f32", "s8", "s16", "s32"):
        raise UnsupportedError(f"quantizing {t.dtype} data is not supported")
    return e.node(Quantize(wanted.dtype), y, quant=wanted.quant)


def of_rank(e: Expansion, name: str, rank: int) -> str:
    """A tensor with axes of size 1 appended: NNEF aligns operands of lower rank at the first axis."""
    shape = e.type(name).shape
    return moved(e, Reshape((*shape, *(1,) * (rank - len(shape)))), name) if shape and len(shape) < rank else name


def met(e: Expansion, names: Sequence[str]) -> list[str]:
    """The operands of an element-wise operation, brought to the same rank."""
    rank = max((len(e.type(name).shape) for name in names), default=0)
    return [of_rank(e, name, rank) for name in names]


def axis_of(source: Source, shape: Shape, name: str = "axis") -> int:
    """Attribute `name`, an axis of a tensor. Raises ShapeError if the tensor has no such axis."""
    axis = source.attributes[name]
    if not isinstance(axis, int) or not 0 <= axis < len(shape):
        raise ShapeError(f"{name} {axis} is not an axis of {list(shape)}")
    return axis


def axes_of(source: Source, shape: Shape, name: str = "axes") -> tuple[int, ...]:
    """Attribute `name`, axes of a tensor, in ascending order. Raises ShapeError if the tensor has no such axes."""
    axes = source.attributes[name]
    known = isinstance(axes, list) and all(isinstance(a, int) and 0 <= a < len(shape) for a in axes)
    if not known or len(set(axes)) != len(axes):
        raise ShapeError(f"{name} {axes} are not axes of {list(shape)}")
    return tuple(sorted(axes))


def imported(name: str, expand: Expand) -> Import:
    return Import("nnef", name, expand=expand)
