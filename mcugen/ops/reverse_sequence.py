"""REVERSE_SEQUENCE: the first elements of each sequence in reverse order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ops import _strided, _tflite


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    return Imported(ReverseSequence(a["seq_dim"], a["batch_dim"]))


def lengths_are(dtype: str, name: str) -> Rule:
    """A rule: the lengths have this element type. name: the type's name in the rule's text."""

    def rule(call: Call) -> bool:
        return call.input(1).dtype == dtype

    rule.__doc__ = f"the lengths are {name}"
    return rule


def params(call: Call) -> Params:
    """The struct fields: sizes, and strides in bytes, of axes before, between and after the sequence and batch axes."""
    op, x = call.op, call.input(0)
    assert isinstance(op, ReverseSequence)
    seq, batch = op.axes(x)
    low, high = min(seq, batch), max(seq, batch)
    element = x.np_dtype.itemsize
    strides = [s * element for s in _strided.dense(x.shape)]
    return {
        "outer": int(np.prod(x.shape[:low], dtype=np.int64)),
        "outer_stride": strides[low] * x.shape[low],
        "between": int(np.prod(x.shape[low + 1 : high], dtype=np.int64)),
        "between_stride": strides[high] * x.shape[high],
        "batches": x.shape[batch],
        "batch_stride": strides[batch],
        "steps": x.shape[seq],
        "step_stride": strides[seq],
        "run": strides[high],
    }


def _attributes(call: Call) -> dict[str, object]:
    return {"seq_dim": call.op.seq_axis, "batch_dim": call.op.batch_axis}


@dataclass(frozen=True)
class ReverseSequence(Op):
    """y[..., b, ..., t, ...] = x[..., b, ..., length[b] - 1 - t, ...] for t < length[b], else x[..., b, ..., t, ...].

    x: any type and shape, b along `batch_axis`, t along `seq_axis`   length: s32 or s64 [batches]   y: as x
    Lengths are clamped to the size of `seq_axis`.
    Source: TFLite REVERSE_SEQUENCE.
    """

    seq_axis: int
    batch_axis: int = 0

    only_moves = True
    litert_types = dtypes("u8 s16 s32 s64 f32")
    imports = (Import("tflite", "REVERSE_SEQUENCE", from_tflite),)
    writes = (_tflite.same("REVERSE_SEQUENCE", _attributes),)
    kernels = tuple(
        Kernel(
            f"mg_reverse_sequence_{dtype}",
            Whole(),
            accepts=(_strided.has_c_type, lengths_are(dtype, name)),
            params=params,
            operands=(0, 1),
        )
        for dtype, name in (("s32", "int32"), ("s64", "int64"))
    )

    def infer(self, x: TensorType | None, length: TensorType | None) -> tuple[TensorType, ...]:
        x, length = _strided.operand(x), _strided.operand(length)
        _, batch = self.axes(x)
        if length.dtype not in ("s32", "s64"):
            raise UnsupportedError(f"lengths of {length.dtype} are not supported")
        if length.shape != (x.shape[batch],):
            raise ShapeError(f"lengths {list(length.shape)} do not fit {x.shape[batch]} sequences")
        return (TensorType(x.shape, x.dtype),)

    def axes(self, x: TensorType) -> tuple[int, int]:
        """(sequence, batch) axes, neither negative. Raises ShapeError."""
        rank = len(x.shape)
        seq, batch = _strided.axis_of(self.seq_axis, rank), _strided.axis_of(self.batch_axis, rank)
        if seq == batch:
            raise ShapeError(f"sequences and batches both run along axis {seq}")
        return seq, batch

    def reference(self, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        moved = np.moveaxis(x, (self.batch_axis, self.seq_axis), (0, 1))
        parts = [
            np.concatenate([row[:n][::-1], row[n:]])
            for row, n in zip(moved, np.clip(length, 0, moved.shape[1]).astype(np.int64), strict=True)
        ]
        return np.moveaxis(np.stack(parts), (0, 1), (self.batch_axis, self.seq_axis))

    def reference_q(self, call: Call, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(x, length)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        types = (("s8", QuantParams((0.5,), (-3,))), ("s16", QuantParams((0.5,), (0,))), ("f32", None), ("s64", None))
        return [
            _example(k, cls(seq, batch), TensorType(shape, dtype, quant), ids)
            for k, (seq, batch, shape) in enumerate(_CASES)
            for ids in ("s32", "s64")
            for dtype, quant in types
        ]


_CASES: tuple[tuple[int, int, Shape], ...] = (
    (1, 0, (3, 5)),
    (0, 1, (5, 3, 2)),
    (3, 1, (2, 3, 2, 4, 2)),
    (1, 2, (2, 6, 3)),
    (1, 0, (4, 3, 2)),
)


def _example(k: int, op: ReverseSequence, x: TensorType, ids: str) -> Example:
    seq, batch = op.axes(x)
    length = TensorType((x.shape[batch],), ids)
    if k == 4:
        return Example(op, (x, length), (x,), {}, k)  # random lengths, many of which are clamped
    data = np.random.default_rng(k).integers(0, x.shape[seq] + 1, length.shape).astype(length.np_dtype)
    return Example(op, (x, length), (x,), {1: data}, k)
