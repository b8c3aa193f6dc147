"""SCATTER_ND: a tensor of zeros to which slices are added at given indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _strided, _tflite


def from_tflite(source: Source) -> Imported:
    shape = source.ints(2)
    shape = source.outputs[0].shape if shape is None else shape
    return Imported(ScatterNd(shape), inputs=(0, 1))


def updates_are(dtype: str, name: str) -> Rule:
    """A rule: the updates have this element type. name: the type's name in the rule's text."""

    def rule(call: Call) -> bool:
        return call.input(1).dtype == dtype

    rule.__doc__ = f"the updates are {name}"
    return rule


def params(call: Call) -> Params:
    index, y = call.input(0).shape, call.output
    depth = index[-1]
    return {
        "sizes": np.array(y.shape[:depth], np.int32),
        "strides": np.array(_strided.dense(y.shape)[:depth], np.uint32),
        "depth": depth,
        "count": int(np.prod(index[:-1], dtype=np.int64)),
        "run": int(np.prod(y.shape[depth:], dtype=np.int64)),
        "elements": y.size,
    }


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return _tflite.operator(call, sink, "SCATTER_ND", [*inputs, _tflite.vector(sink, call.op.shape)])


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    shape = call.output.shape
    index = _onnx.cast(sink, _onnx.bounded(sink, str(inputs[0]), shape[: call.input(0).shape[-1]]), "s64")
    zeros = sink.constant(np.zeros(shape, call.output.np_dtype))
    plain = TensorType(shape, call.output.dtype)
    update = _onnx.stored(sink, str(inputs[1]), TensorType(call.input(1).shape, call.input(1).dtype))
    made = sink.operator("ScatterND", [zeros, index, update], [plain], {"reduction": "add"})[0]
    return [_onnx.stored(sink, made, call.output)]


@dataclass(frozen=True)
class ScatterNd(Op):
    """y = 0, then y[index[k...]] += update[k...] for each k. Updates at equal indices add up.

    index: s32 [..., depth]   update: f32, s32, s64 or s8 [..., rest of shape]   y: as update, `shape`
    Stored integers are added and wrap. Indices outside an axis are clamped.
    Source: TFLite SCATTER_ND.
    """

    shape: Shape

    only_moves = True
    litert_types = dtypes("s8 s32 s64 f32")
    imports = (Import("tflite", "SCATTER_ND", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = tuple(
        Kernel(f"mg_scatter_nd_{dtype}", Whole(), accepts=(updates_are(dtype, name),), params=params, operands=(0, 1))
        for dtype, name in (("s8", "int8"), ("s32", "int32"), ("s64", "int64"), ("f32", "float32"))
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm":
            return "no kernel for SCATTER_ND"
        dtype = call.input(1).dtype
        return "" if dtype in self.litert_types else f"no kernel for {dtype}"

    def keeps_values(self, call: Call) -> bool:
        return False

    def infer(self, index: TensorType | None, update: TensorType | None) -> tuple[TensorType, ...]:
        index, update = _strided.operand(index), _strided.operand(update)
        if index.dtype != "s32" or update.dtype not in self.litert_types:
            raise UnsupportedError(f"{update.dtype} updates with {index.dtype} indices are not supported")
        if min(self.shape, default=0) < 1 or not index.shape or not 1 <= index.shape[-1] <= len(self.shape):
            raise ShapeError(f"indices {list(index.shape)} do not fit the shape {list(self.shape)}")
        expected = (*index.shape[:-1], *self.shape[index.shape[-1] :])
        if update.shape != expected:
            raise ShapeError(f"updates must have the shape {list(expected)}, not {list(update.shape)}")
        return (TensorType(self.shape, update.dtype),)

    def reference(self, index: np.ndarray, update: np.ndarray) -> np.ndarray:
        depth = index.shape[-1]
        y = np.zeros(self.shape, update.dtype)
        places = np.clip(index.reshape(-1, depth), 0, np.array(self.shape[:depth]) - 1).T
        np.add.at(y, tuple(places), update.reshape(-1, *self.shape[depth:]))
        return y

    def reference_q(self, call: Call, index: np.ndarray, update: np.ndarray) -> np.ndarray:
        """Stored integers are added, and wrap."""
        return self.reference(index, update)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            _example(k, cls(shape), index, dtype)
            for k, (shape, index) in enumerate(_CASES)
            for dtype in ("s8", "s32", "s64", "f32")
        ]


_CASES: tuple[tuple[Shape, Shape], ...] = (
    ((7,), (4, 1)),
    ((4, 3), (9, 2)),
    ((4, 3, 2), (3, 1)),
    ((3, 2, 4), (2, 3, 2)),
    ((5, 2), (1, 1)),
)


def _example(k: int, op: ScatterNd, shape: Shape, dtype: str) -> Example:
    index = TensorType(shape, "s32")
    update = TensorType((*shape[:-1], *op.shape[shape[-1] :]), dtype)
    if k == 4:
        return Example(op, (index, update), (TensorType(op.shape, dtype),), {}, k)  # random indices are clamped
    data = np.random.default_rng(k).integers(0, op.shape[: shape[-1]], shape).astype(np.int32)
    return Example(op, (index, update), (TensorType(op.shape, dtype),), {0: data}, k)
