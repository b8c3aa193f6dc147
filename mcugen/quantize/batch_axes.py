"""The axis of the batch in operators that compute several samples at once along another axis than the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import Op, evaluate
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.gru import Gru
from mcugen.ops.lstm import Lstm
from mcugen.ops.rnn import Rnn

_ELEMENTS = 1 << 20
"""Elements of operands and results that are computed together."""


@dataclass(frozen=True)
class BatchAxes:
    """The axis of the batch in operand k and in result k; None: the operand has no batch."""

    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]


@singledispatch
def batch_axes(op: Op) -> BatchAxes | None:
    """Where an operator has its batch; None if that is not known."""
    return None


@batch_axes.register
def _of_gru(op: Gru) -> BatchAxes | None:
    return BatchAxes((1, None, None, None, None, 0), (1, 0))


@batch_axes.register
def _of_lstm(op: Lstm) -> BatchAxes | None:
    return BatchAxes((1, None, None, None, 0, 0, None), (1, 0, 0))


@batch_axes.register
def _of_rnn(op: Rnn) -> BatchAxes | None:
    return BatchAxes((1, None, None, None, 0), (1, 0))


@batch_axes.register
def _of_integers(op: IntegerRecurrent) -> BatchAxes | None:
    states = 2 if op.has_cell else 1
    return BatchAxes((1, *[None] * (op.state - 1), *[0] * states), (1, *[0] * states))


def joined(call: Call, axes: BatchAxes, operands: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...] | None:
    """The results for all samples, each [samples, *shape], computed as one batch; None if weights differ by sample."""
    arrays = list(zip(operands, call.constants, axes.inputs, strict=False))
    if any(a is not None and c is None and axis is None for a, c, axis in arrays):
        return None
    count = next(len(a) for a, c, _ in arrays if a is not None and c is None)
    size = max(1, _ELEMENTS // max(t.size for t in (*call.inputs, *call.outputs) if t is not None))
    parts = [_part(call, axes, operands, slice(k, min(k + size, count))) for k in range(0, count, size)]
    return tuple(np.concatenate(found) for found in zip(*parts, strict=True))


def _part(call: Call, axes: BatchAxes, operands: Sequence[np.ndarray | None], which: slice) -> tuple[np.ndarray, ...]:
    count, given, types = which.stop - which.start, list[np.ndarray | None](), []
    for a, c, t, axis in zip(operands, call.constants, call.inputs, axes.inputs, strict=False):
        if a is None or t is None or axis is None:
            given.append(a)
            types.append(t)
            continue
        each = np.broadcast_to(a, (count, *a.shape)) if c is not None else a[which]
        batch = along(each, axis)
        given.append(batch)
        types.append(t.with_shape(batch.shape))
    outputs = []
    for t, axis in zip(call.outputs, axes.outputs, strict=True):
        shape = list(t.shape)
        shape[axis] *= count
        outputs.append(t.with_shape(tuple(shape)))
    made = evaluate(replace(call, inputs=tuple(types), outputs=tuple(outputs)), given)
    return tuple(_apart(a, axis, count) for a, axis in zip(made, axes.outputs, strict=True))


def along(samples: np.ndarray, axis: int) -> np.ndarray:
    """Samples [samples, *shape] joined along an axis of their shape."""
    moved = np.moveaxis(samples, 0, axis)
    shape = (*moved.shape[:axis], moved.shape[axis] * moved.shape[axis + 1], *moved.shape[axis + 2 :])
    return np.ascontiguousarray(moved).reshape(shape)


def _apart(joined_samples: np.ndarray, axis: int, count: int) -> np.ndarray:
    """The inverse of `along`."""
    shape = joined_samples.shape
    split = joined_samples.reshape(*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :])
    return np.ascontiguousarray(np.moveaxis(split, axis, 0))
