"""Softmax along any axis; before opset 13, Softmax, LogSoftmax and Hardmax over `axis` and all axes after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mcugen.errors import ShapeError
from mcugen.formats.onnx.operators.axis_reductions import logarithm
from mcugen.formats.onnx.operators.masks import largest
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.integer_softmax import STEPS
from mcugen.ops.reshape import Reshape
from mcugen.ops.softmax import Softmax
from mcugen.ops.transpose import Transpose


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """exp(x) / sum of exp(x) along `axis`. Source: ONNX Softmax-13."""
    x, axis = e.inputs[0], source.attributes["axis"]
    rank = 0 if x is None else len(e.type(x).shape)
    if x is None or not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is not an axis of rank {rank}")
    perm = [*(k for k in range(rank) if k != axis % rank), axis % rank]
    op = Softmax(1.0, steps=source.attributes.get("doc_string") == STEPS)
    return [_transposed(e, e.node(op, e.node(Transpose(tuple(perm)), x)), perm)]


def flattened(function: Callable[[Expansion, str], str], source: Source, e: Expansion) -> Sequence[str]:
    """A function over `axis` and all later axes, flattened. Source: ONNX Softmax-11, LogSoftmax-11, Hardmax-11."""
    x, axis = e.inputs[0], source.attributes["axis"]
    shape = () if x is None else e.type(x).shape
    if x is None or not -len(shape) <= axis <= len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    rows = math.prod(shape[:axis])
    return [e.node(Reshape(shape), function(e, e.node(Reshape((rows, -1)), x)))]


def _transposed(e: Expansion, y: str, perm: Sequence[int]) -> str:
    """Undo a permutation of axes."""
    return e.node(Transpose(tuple(perm.index(k) for k in range(len(perm)))), y)


_FLATTENED: Mapping[str, Callable[[Expansion, str], str]] = {
    "Softmax": lambda e, x: e.node(Softmax(1.0), x),
    "LogSoftmax": lambda e, x: logarithm(e, x, 1),
    "Hardmax": lambda e, x: largest(e, x, 1),
}
IMPORTS = (
    Import("onnx", "Softmax", since=13, expand=expand),
    *(Import("onnx", name, until=12, expand=partial(flattened, f)) for name, f in _FLATTENED.items()),
)
