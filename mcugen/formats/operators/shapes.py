"""Operators that only change a tensor's shape, and constants that only depend on a shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.reshape import Reshape

MAX_ELEMENTS = 1 << 25
"""Largest constant that an import may create, in elements: small files must not allocate much. See also Op.fold."""


def reshape(source: Source, e: Expansion) -> Sequence[str]:
    """x in the stated shape; 0 keeps the size of an axis, -1 is inferred. Source: ONNX Reshape-14."""
    x, wanted = _operand(e), source.ints(1)
    if wanted is None:
        raise UnsupportedError("the shape is computed at run time", hint="make it a constant")
    old = e.type(x).shape
    if not source.attributes.get("allowzero"):
        if any(d == 0 and k >= len(old) for k, d in enumerate(wanted)):
            raise ShapeError(f"a 0 in shape {list(wanted)} keeps an axis that {list(old)} does not have")
        wanted = tuple(old[k] if d == 0 else d for k, d in enumerate(wanted))
    return [e.node(Reshape(wanted), x)]


def flatten(source: Source, e: Expansion) -> Sequence[str]:
    """Two axes: all before `axis`, and the rest. Source: ONNX Flatten-13."""
    x, axis = _operand(e), source.attributes["axis"]
    shape = e.type(x).shape
    if not -len(shape) <= axis <= len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    axis = axis + len(shape) if axis < 0 else axis
    return [e.node(Reshape((math.prod(shape[:axis]), math.prod(shape[axis:]))), x)]


def squeeze(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor without the stated axes of size 1, or all of them. Source: ONNX Squeeze-13."""
    x = _operand(e)
    shape = e.type(x).shape
    every_one = tuple(k for k, d in enumerate(shape) if d == 1)
    given = _axes(source, len(shape)) if len(e.inputs) > 1 else every_one
    if any(shape[k] != 1 for k in given):
        raise ShapeError(f"axes {list(given)} of {list(shape)} are not all of size 1")
    return [e.node(Reshape(tuple(d for k, d in enumerate(shape) if k not in given)), x)]


def unsqueeze(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor with axes of size 1 inserted; the stated axes count axes of the result. Source: ONNX Unsqueeze-13."""
    x = _operand(e)
    shape, stated = list(e.type(x).shape), source.ints(1) or ()
    places = sorted(_axes(source, len(shape) + len(stated)))
    if len(set(places)) != len(places):
        raise ShapeError(f"axes {places} are not all different")
    for place in places:
        shape.insert(place, 1)
    return [e.node(Reshape(tuple(shape)), x)]


def same(source: Source, e: Expansion) -> Sequence[str]:
    """The operand itself. Source: ONNX Identity-21, OptionalGetElement-18."""
    return [_operand(e)]


def dropout(source: Source, e: Expansion) -> Sequence[str]:
    """The operand itself, and a mask that keeps all elements, as in inference. Source: ONNX Dropout-13."""
    x, training, ratio = _operand(e), source.constant(2), source.constant(1)
    source.attributes.ignore("seed")
    drops = ratio is None or bool(ratio.any())
    if drops and len(source.inputs) > 2 and source.inputs[2] is not None and (training is None or training.any()):
        raise UnsupportedError("dropout in training mode is not supported")
    return [x, e.constant(np.ones(e.type(x).shape, np.bool_))] if source.results > 1 else [x]


def has_element(source: Source, e: Expansion) -> Sequence[str]:
    """A constant that is true if the operator has an operand. Source: ONNX OptionalHasElement-18."""
    return [e.constant(np.array(bool(e.inputs and e.inputs[0] is not None)))]


def constant(source: Source, e: Expansion) -> Sequence[str]:
    """The value of an attribute. Source: ONNX Constant-13."""
    kinds = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    if source.attributes["value"] is not None:
        return [e.constant(source.attributes["value"])]
    for name, kind in kinds.items():
        if source.attributes[name] is not None:
            return [e.constant(np.array(source.attributes[name], kind))]
    raise UnsupportedError("sparse and string constants are not supported")


def constant_of_shape(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor of the stated shape filled with one value. Source: ONNX ConstantOfShape-9."""
    shape, value = source.ints(0), source.attributes["value"]
    if shape is None:
        raise UnsupportedError("the shape is computed at run time", hint="make it a constant")
    if any(d < 0 for d in shape) or math.prod(shape) > MAX_ELEMENTS:
        raise ShapeError(f"a constant of shape {list(shape)} is negative or has more than {MAX_ELEMENTS:,} elements")
    filler = np.zeros(1, np.float32) if value is None else value
    return [e.constant(np.full(shape, filler.reshape(-1)[0], filler.dtype))]


def _axes(source: Source, rank: int) -> tuple[int, ...]:
    axes = source.ints(1)
    if axes is None:
        raise UnsupportedError("the axes are computed at run time", hint="make them a constant")
    if any(not -rank <= axis < rank for axis in axes):
        raise ShapeError(f"axes {list(axes)} are not axes of rank {rank}")
    return tuple(axis % rank for axis in axes)


def _operand(e: Expansion) -> str:
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    return e.inputs[0]


def shape_of(source: Source, e: Expansion) -> Sequence[str]:
    """The sizes of axes start to end, as a constant. Source: ONNX Shape-15."""
    shape, a = e.type(_operand(e)).shape, source.attributes
    return [e.constant(np.array(shape[slice(a.get("start"), a.get("end"))], np.int64))]


def size_of(source: Source, e: Expansion) -> Sequence[str]:
    """The number of elements, as a constant. Source: ONNX Size-13."""
    return [e.constant(np.array(math.prod(e.type(_operand(e)).shape), np.int64))]


IMPORTS = (
    Import("onnx", "Shape", expand=shape_of),
    Import("onnx", "Size", expand=size_of),
    Import("onnx", "Reshape", expand=reshape),
    Import("onnx", "Flatten", expand=flatten),
    Import("onnx", "Squeeze", expand=squeeze),
    Import("onnx", "Unsqueeze", expand=unsqueeze),
    Import("onnx", "Identity", expand=same),
    Import("onnx", "OptionalGetElement", expand=same),
    Import("onnx", "OptionalHasElement", expand=has_element),
    Import("onnx", "Dropout", expand=dropout),
    Import("onnx", "Constant", expand=constant),
    Import("onnx", "ConstantOfShape", expand=constant_of_shape),
)
