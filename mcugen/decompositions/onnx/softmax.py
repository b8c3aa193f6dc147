"""Softmax along any axis."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError
from mcugen.imports import Expansion, Import, Source
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
    return [_transposed(e, e.node(Softmax(1.0), e.node(Transpose(tuple(perm)), x)), perm)]


def flattened(source: Source, e: Expansion) -> Sequence[str]:
    """Softmax over all axes from `axis` on, taken as one. Source: ONNX Softmax-11."""
    x, axis = e.inputs[0], source.attributes["axis"]
    shape = () if x is None else e.type(x).shape
    if x is None or not -len(shape) <= axis <= len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    rows = 1
    for d in shape[:axis]:
        rows *= d
    return [e.node(Reshape(shape), e.node(Softmax(1.0), e.node(Reshape((rows, -1)), x)))]


def _transposed(e: Expansion, y: str, perm: Sequence[int]) -> str:
    """Undo a permutation of axes."""
    return e.node(Transpose(tuple(perm.index(k) for k in range(len(perm)))), y)


IMPORTS = (
    Import("onnx", "Softmax", since=13, expand=expand),
    Import("onnx", "Softmax", until=12, expand=flattened),
)
