"""ONNX operators that compare indices (Trilu, OneHot, Hardmax), and operators whose result is a constant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import cast, operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import NUMPY_DTYPES, Shape
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.broadcast_to import BroadcastTo
from mcugen.ops.cast import ONNX_DTYPES
from mcugen.ops.compare import Compare
from mcugen.ops.reshape import Reshape
from mcugen.ops.select import Select
from mcugen.ops.strided_slice import StridedSlice

MAX_ELEMENTS = 1 << 20
"""Largest constant that an import may create, in elements: small files must not allocate much memory."""


def trilu(source: Source, e: Expansion) -> Sequence[str]:
    """The upper or lower triangle of matrices, zero elsewhere. Source: ONNX Trilu-14."""
    x, shift = operands(e, 1)[0], source.ints(1) or (0,)
    shape = e.type(x).shape
    if len(e.inputs) > 1 and e.inputs[1] is not None and source.constant(1) is None:
        raise UnsupportedError("the diagonal is computed at run time", hint="make it a constant")
    if len(shape) < 2:
        raise ShapeError(f"Trilu needs a matrix, not a tensor of shape {list(shape)}")
    k = max(min(shift[0], shape[-1]), -shape[-2])
    mask = (np.triu if source.attributes["upper"] else np.tril)(np.ones(shape[-2:], np.bool_), k)
    data = e.data(x)
    if data is not None:
        return [e.constant(np.where(mask, data, 0).astype(data.dtype))]
    zero = e.constant(np.zeros((), e.type(x).np_dtype))
    return [e.node(Select(), e.constant(np.broadcast_to(mask, shape).copy()), x, zero)]


def one_hot(source: Source, e: Expansion) -> Sequence[str]:
    """values[1] where the position along a new axis equals the index, values[0] elsewhere. Source: ONNX OneHot-11."""
    index, _, values = operands(e, 3)
    depth, axis, rank = source.ints(1), source.attributes["axis"], len(e.type(index).shape)
    if depth is None or len(depth) != 1:
        raise UnsupportedError("the number of classes is computed at run time", hint="make it a constant")
    if not -rank - 1 <= axis <= rank or e.type(values).shape != (2,) or not 1 <= depth[0] <= MAX_ELEMENTS:
        raise ShapeError(f"{depth[0]} classes on axis {axis} do not fit indices of rank {rank}")
    size = e.constant(np.array(depth[0], np.int64))
    wrapped = e.node(Arithmetic("wrap"), cast(e, index, "s64"), size)
    off, on = (e.node(StridedSlice(((k, 1, 1),), (1,)), values) for k in (0, 1))
    return [hot(e, wrapped, axis % (rank + 1), depth[0], on, off)]


def hot(e: Expansion, index: str, axis: int, size: int, on: str, off: str) -> str:
    """`on` where int64 indices equal the position along a new axis of that size, `off` elsewhere."""
    shape = e.type(index).shape
    spread = e.node(Reshape((*shape[:axis], 1, *shape[axis:])), index)
    positions = np.arange(size, dtype=np.int64).reshape((-1, *(1,) * (len(shape) - axis)))
    mask = e.node(Compare("EQUAL"), spread, e.constant(positions))
    full = e.type(mask).shape
    return e.node(Select(), mask, *(_whole(e, name, full) for name in (on, off)))


def _whole(e: Expansion, name: str, shape: Shape) -> str:
    return name if e.data(name) is not None else e.node(BroadcastTo(shape), name)


def hardmax(source: Source, e: Expansion) -> Sequence[str]:
    """1 at the first largest element along an axis, 0 elsewhere. Source: ONNX Hardmax-13."""
    (x,), axis = operands(e, 1), source.attributes["axis"]
    rank = len(e.type(x).shape)
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is not an axis of {list(e.type(x).shape)}")
    return [largest(e, x, axis % rank)]


def largest(e: Expansion, x: str, axis: int) -> str:
    """1 at the first largest element along an axis, 0 elsewhere."""
    at = e.node(ArgMax(axis, "s64"), x)
    one, zero = (e.constant(np.array(v, np.float32)) for v in (1.0, 0.0))
    return hot(e, at, axis, e.type(x).shape[axis], one, zero)


def nonzero(source: Source, e: Expansion) -> Sequence[str]:
    """The indices of nonzero elements, with a row for each axis, as a constant. Source: ONNX NonZero-13."""
    data = source.constant(0)
    if data is None:
        what = "the operand is computed at run time, so the result has no fixed size"
        raise UnsupportedError(what, hint="make it a constant")
    return [e.constant(np.array(np.nonzero(np.atleast_1d(data)), np.int64))]


def positions(source: Source, e: Expansion) -> Sequence[str]:
    """start, start + delta, ... before limit, as a constant. Source: ONNX Range-11."""
    ends = [source.constant(k) for k in range(3)]
    known = [end.item() for end in ends if end is not None and end.size == 1]
    if len(known) != 3 or ends[0] is None:
        raise UnsupportedError("a bound is computed at run time", hint="make it a constant")
    start, limit, delta = known
    if delta == 0 or not all(map(math.isfinite, known)) or (limit - start) / delta > MAX_ELEMENTS:
        raise ShapeError(f"no range of at most {MAX_ELEMENTS} elements leads from {start} to {limit} by {delta}")
    count = max(math.ceil((limit - start) / delta), 0)
    return [e.constant((start + np.arange(count) * delta).astype(ends[0].dtype))]


def eye_like(source: Source, e: Expansion) -> Sequence[str]:
    """1 on a diagonal, 0 elsewhere, as a constant. Source: ONNX EyeLike-9."""
    (x,), number = operands(e, 1), source.attributes["dtype"]
    t = e.type(x)
    if len(t.shape) != 2 or (number is not None and number not in ONNX_DTYPES):
        raise UnsupportedError(f"a diagonal of {t} in element type {number} is not supported")
    dtype = t.dtype if number is None else ONNX_DTYPES[number]
    k = max(min(source.attributes["k"], t.shape[1]), -t.shape[0])
    return [e.constant(np.eye(*t.shape, k=k, dtype=NUMPY_DTYPES[dtype]))]


_WINDOWS = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}


def window(terms: tuple[float, float, float], source: Source, e: Expansion) -> Sequence[str]:
    """A window of cosines, as a constant. Source: ONNX HannWindow-17, HammingWindow-17, BlackmanWindow-17."""
    size, a = source.ints(0), source.attributes
    if size is None or len(size) != 1 or not 1 <= size[0] <= MAX_ELEMENTS:
        raise UnsupportedError(f"the size must be a constant from 1 to {MAX_ELEMENTS}", hint="make it a constant")
    period = size[0] if a["periodic"] else max(size[0] - 1, 1)
    angle = 2 * np.pi * np.arange(size[0]) / period
    dtype = NUMPY_DTYPES.get(ONNX_DTYPES.get(a["output_datatype"], ""), np.dtype(np.float32))
    values = terms[0] - terms[1] * np.cos(angle) + terms[2] * np.cos(2 * angle)
    return [e.constant(values.astype(np.float32 if dtype.kind == "f" else dtype))]


IMPORTS = (
    Import("onnx", "Trilu", expand=trilu),
    Import("onnx", "OneHot", expand=one_hot),
    Import("onnx", "Hardmax", since=13, expand=hardmax),
    Import("onnx", "NonZero", expand=nonzero),
    Import("onnx", "Range", expand=positions),
    Import("onnx", "EyeLike", expand=eye_like),
    *(Import("onnx", name, expand=partial(window, terms)) for name, terms in _WINDOWS.items()),
)
