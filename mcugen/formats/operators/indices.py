"""GatherND, GatherElements and the scatters of ONNX: indices become flat ones, which then select elements or rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import cast, operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.element_index import ElementIndex
from mcugen.ops.flat_index import FlatIndex
from mcugen.ops.gather import Gather
from mcugen.ops.reshape import Reshape
from mcugen.ops.scatter import Scatter

_HOW = {"none": "", "add": "sum", "mul": "prod", "max": "max", "min": "min"}


def gather_nd(source: Source, e: Expansion) -> Sequence[str]:
    """The slices that lists of indices select. Source: ONNX GatherND-13, TFLite GATHER_ND."""
    x, index = operands(e, 2)
    batch = source.attributes.get("batch_dims", 0)
    shape, at = e.type(x).shape, e.type(index).shape
    depth = at[-1] if at else 0
    if not 0 <= batch < max(len(at), 1) or not 1 <= depth <= len(shape) - batch or shape[:batch] != at[:batch]:
        raise ShapeError(f"indices {list(at)} do not fit {list(shape)} with {batch} batch axes")
    sizes, rest = shape[batch : batch + depth], shape[batch + depth :]
    rows = e.node(Reshape((prod(shape[: batch + depth]), *rest)), x)
    places = e.node(FlatIndex(sizes, prod(shape[:batch])), narrow(e, index))
    return [e.node(Gather(0), rows, places)]


def gather_nd_of_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """GATHER_ND; TensorFlow Lite Micro supports two types. Source: TFLite GATHER_ND."""
    x = source.inputs[0] if source.inputs else None
    if x is not None and x.dtype not in ("s8", "f32"):
        e.refuse("tflm", f"no kernel for {x.dtype}")
    return gather_nd(source, e)


def gather_elements(source: Source, e: Expansion) -> Sequence[str]:
    """Single elements; with axis 1, y[i, j] = x[i, index[i, j]]. Source: ONNX GatherElements-13."""
    x, index = operands(e, 2)
    places = _elements(source, e, x, index)
    return [e.node(Gather(0), e.node(Reshape((-1,)), x), places)]


def scatter_elements(source: Source, e: Expansion) -> Sequence[str]:
    """Single elements replaced by updates, or combined with them. Source: ONNX ScatterElements-18."""
    x, index, update = operands(e, 3)
    if e.type(index).shape != e.type(update).shape:
        raise ShapeError(f"indices {list(e.type(index).shape)} and updates {list(e.type(update).shape)} differ")
    places = e.node(Reshape((-1,)), _elements(source, e, x, index))
    rows, new = (e.node(Reshape((-1,)), name) for name in (x, update))
    return [e.node(Reshape(e.type(x).shape), e.node(Scatter(_how(source)), rows, places, new))]


def scatter_nd(source: Source, e: Expansion) -> Sequence[str]:
    """Slices replaced by updates, or combined with them. Source: ONNX ScatterND-18."""
    x, index, update = operands(e, 3)
    shape, at = e.type(x).shape, e.type(index).shape
    depth = at[-1] if at else 0
    if not 1 <= depth <= len(shape) or e.type(update).shape != (*at[:-1], *shape[depth:]):
        raise ShapeError(f"updates {list(e.type(update).shape)} at indices {list(at)} do not fit {list(shape)}")
    rest = shape[depth:]
    places = e.node(Reshape((-1,)), e.node(FlatIndex(shape[:depth]), narrow(e, index)))
    rows, new = (e.node(Reshape((-1, *rest)), name) for name in (x, update))
    return [e.node(Reshape(shape), e.node(Scatter(_how(source)), rows, places, new))]


def narrow(e: Expansion, index: str) -> str:
    """Indices as int32, which is enough for any tensor."""
    data = e.data(index)
    if data is not None and data.dtype == np.int64:
        return e.constant(np.clip(data, -(2**31), 2**31 - 1).astype(np.int32))
    return cast(e, index, "s32")


def _elements(source: Source, e: Expansion, x: str, index: str) -> str:
    shape, axis = e.type(x).shape, source.attributes["axis"]
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    return e.node(ElementIndex(shape, axis % len(shape)), narrow(e, index))


def _how(source: Source) -> str:
    stated = source.attributes.get("reduction", "none")
    if stated not in _HOW:
        raise UnsupportedError(f"the reduction {stated!r} is not supported; {', '.join(_HOW)} are")
    return _HOW[stated]


IMPORTS = (
    Import("onnx", "GatherND", expand=gather_nd),
    Import("tflite", "GATHER_ND", expand=gather_nd_of_tflite, halves=True),
    Import("onnx", "GatherElements", expand=gather_elements),
    Import("onnx", "ScatterElements", expand=scatter_elements),
    Import("onnx", "Scatter", expand=scatter_elements),
    Import("onnx", "ScatterND", expand=scatter_nd),
)
