"""GATHER: the slices of a tensor with the given indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op, Reordered
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _ordered, _strided, _tflite


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    return Imported(Gather(a["axis"], a["batch_dims"]))


def indices_are(dtype: str, name: str) -> Rule:
    """A rule: the indices have this element type. name: the type's name in the rule's text."""

    def rule(call: Call) -> bool:
        return call.input(1).dtype == dtype

    rule.__doc__ = f"the indices are {name}"
    return rule


def params(call: Call) -> Params:
    op, x, index = call.op, call.input(0), call.input(1)
    assert isinstance(op, Gather)
    axis, batch = op.places(x, index)
    return {
        "batches": _product(x.shape[:batch]),
        "outer": _product(x.shape[batch:axis]),
        "count": _product(index.shape[batch:]),
        "size": x.shape[axis],
        "run": _product(x.shape[axis + 1 :]) * x.np_dtype.itemsize,
    }


def work(call: Call) -> dict[str, float]:
    x, axis = call.input(0), call.op.places(call.input(0), call.input(1))[0]
    run = _product(x.shape[axis + 1 :]) * x.np_dtype.itemsize
    return _strided.moved([run], call.output.nbytes // run)


def _product(shape: Shape) -> int:
    return int(np.prod(shape, dtype=np.int64))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    attributes = {"axis": call.op.axis, "batch_dims": call.op.batch_dims}
    number = 5 if call.op.batch_dims else _tflite.version(call.input(0), s8=2, bool=3, s16=4)
    return _tflite.operator(call, sink, "GATHER", inputs, attributes, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, axis, batches = str(inputs[0]), call.op.axis % len(call.input(0).shape), call.op.batch_dims
    index = _onnx.bounded(sink, str(inputs[1]), (call.input(0).shape[axis],))
    if not batches:
        return sink.operator("Gather", [x, index], call.outputs, {"axis": axis})
    if axis != batches:
        raise UnsupportedError(f"in .onnx, the axis {axis} must equal batch_dims {batches}")
    t = sink.type(index)
    index = _onnx.cast(sink, _onnx.reshaped(sink, index, t.with_shape((*t.shape, 1))), "s64")
    return sink.operator("GatherND", [x, index], call.outputs, {"batch_dims": batches})


@dataclass(frozen=True)
class Gather(Op):
    """y[b..., o..., k..., i...] = x[b..., o..., index[b..., k...], i...], with the index at `axis`.

    x: any type and shape   index: s32 or s64, any shape; the first `batch_dims` axes are shared with x
    y: type of x
    Indices outside the axis are clamped; runtimes abort, or read outside the tensor.
    Source: TFLite GATHER.
    """

    axis: int = 0
    batch_dims: int = 0

    only_moves = True
    tflm_types = dtypes("s8 f32")
    imports = (Import("tflite", "GATHER", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = tuple(
        Kernel(
            f"mg_gather_{dtype}",
            Whole(),
            accepts=(_strided.has_c_type, indices_are(dtype, name)),
            params=params,
            operands=(0, 1),
            cost=Cost(work, _strided.MOVED),
        )
        for dtype, name in (("s32", "int32"), ("s64", "int64"))
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and call.input(1).dtype != "s32":
            return f"no kernel for {call.input(1).dtype} indices"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None, index: TensorType | None) -> tuple[TensorType, ...]:
        x, index = _strided.operand(x), _strided.operand(index)
        if index.dtype not in ("s32", "s64"):
            raise UnsupportedError(f"indices of {index.dtype} are not supported")
        axis, batch = self.places(x, index)
        if x.shape[:batch] != index.shape[:batch]:
            raise ShapeError(f"the first {batch} axes of {list(x.shape)} and indices {list(index.shape)} differ")
        return (TensorType((*x.shape[:axis], *index.shape[batch:], *x.shape[axis + 1 :]), x.dtype),)

    def places(self, x: TensorType, index: TensorType) -> tuple[int, int]:
        """(axis, batch_dims), neither negative. Raises ShapeError."""
        axis = _strided.axis_of(self.axis, len(x.shape))
        batch = self.batch_dims + (len(index.shape) if self.batch_dims < 0 else 0)
        if not 0 <= batch <= min(len(index.shape), axis):
            raise ShapeError(f"batch_dims {self.batch_dims} must be between 0 and the axis {axis}")
        return axis, batch

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This selection along the stored axis; None unless the indices are a constant vector without batches."""
        axis, batch = self.places(call.input(0), call.input(1))
        if batch or len(call.input(1).shape) != 1 or call.constants[1] is None:
            return None
        found = _ordered.resized(call, orders, (axis,))
        return None if found is None else replace(found[1], op=replace(self, axis=found[0][axis]))

    def reference(self, x: np.ndarray, index: np.ndarray) -> np.ndarray:
        types = TensorType(x.shape, "f32"), TensorType(index.shape, "s32")
        axis, batch = self.places(*types)
        clamped = np.clip(index, 0, x.shape[axis] - 1).astype(np.int64)
        flat_x = x.reshape(_product(x.shape[:batch]), _product(x.shape[batch:axis]), x.shape[axis], -1)
        flat_index = clamped.reshape(flat_x.shape[0], -1)
        parts = [row[:, chosen] for row, chosen in zip(flat_x, flat_index, strict=True)]
        return np.stack(parts).reshape(self.infer(*types)[0].shape)

    def reference_q(self, call: Call, x: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(x, index)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            example(k, cls(axis, batch), shape, index, ids, (dtype, quant))
            for k, (axis, batch, shape, index) in enumerate(_CASES)
            for ids in ("s32", "s64")
            for dtype, quant in _strided.DTYPES
        ]


_CASES: tuple[tuple[int, int, Shape, Shape], ...] = (
    (0, 0, (5, 3), (4,)),
    (1, 0, (3, 4, 5), (2, 3)),
    (-1, 0, (3, 7), ()),
    (2, 1, (2, 3, 4, 2), (2, 5)),
    (1, 1, (3, 4), (3, 2)),
)


def example(k: int, op: Gather, shape: Shape, index: Shape, ids: str, kind: tuple[str, QuantParams | None]) -> Example:
    x, i = TensorType(shape, *kind), TensorType(index, ids)
    y = TensorType(op.infer(x, i)[0].shape, *kind)
    if k == 1:
        return Example(op, (x, i), (y,), {}, k)  # random indices, many of which are clamped
    data = np.random.default_rng(k).integers(0, shape[op.axis], index).astype(i.np_dtype)
    return Example(op, (x, i), (y,), {1: data} | ({0: None} if k == 0 else {}), k)
