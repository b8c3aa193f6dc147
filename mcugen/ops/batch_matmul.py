"""BATCH_MATMUL: products of two computed matrices, one for each batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.call import Call, Params
from mcugen.errors import ShapeError, UnsupportedError
from mcugen.imports import Import, Imported, Source
from mcugen.kernel import Form, Kernel
from mcugen.op import Example, Op
from mcugen.ops import _strided, _tflite
from mcugen.types import Shape, TensorType, dtypes

MAX_BATCHES = 1 << 12
"""Each batch takes eight bytes of flash."""


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    a["asymmetric_quantize_inputs"]  # only for int8 matrices with float data, which are refused
    return Imported(BatchMatmul(bool(a["adj_x"]), bool(a["adj_y"])))


def float_data(call: Call) -> bool:
    "the matrices are float32"
    return {call.input(0).dtype, call.input(1).dtype, call.output.dtype} == {"f32"}


def params(call: Call) -> Params:
    op, a, b, y = call.op, call.input(0).shape, call.input(1).shape, call.output.shape
    assert isinstance(op, BatchMatmul)
    a_cols, b_cols = a[-1], b[-1]
    a_row, a_col = (1, a_cols) if op.transpose_a else (a_cols, 1)
    b_row, b_col = (1, b_cols) if op.transpose_b else (b_cols, 1)
    first = np.stack([_starts(shape, y[:-2]) for shape in (a, b)], axis=-1)
    return {
        "first": first.reshape(-1).astype(np.uint32),
        "batches": first.shape[0],
        "rows": y[-2],
        "depth": a[-2] if op.transpose_a else a[-1],
        "cols": y[-1],
        "a_row": a_row,
        "a_col": a_col,
        "b_row": b_row,
        "b_col": b_col,
    }


def _starts(shape: Shape, batches: Shape) -> np.ndarray:
    """The first element of an operand's matrix in each batch."""
    own = shape[:-2]
    starts = np.arange(int(np.prod(own, dtype=np.int64))).reshape(own) * shape[-2] * shape[-1]
    return np.broadcast_to(starts, batches).reshape(-1)


def _attributes(call: Call) -> dict[str, object]:
    return {"adj_x": call.op.transpose_a, "adj_y": call.op.transpose_b}


@dataclass(frozen=True)
class BatchMatmul(Op):
    """y[..., i, j] = sum over k of a[..., i, k] * b[..., k, j]; the axes before are batches, broadcasting.

    a, b: f32 [..., I, K], [..., K, J]; with transpose_a [..., K, I], with transpose_b [..., J, K]   y: f32 [..., I, J]
    Source: TFLite BATCH_MATMUL, ONNX MatMul-13.
    """

    transpose_a: bool = False
    transpose_b: bool = False

    tflm_types = dtypes("f32")
    litert_types = dtypes("f32")
    imports = (Import("tflite", "BATCH_MATMUL", from_tflite),)
    writes = (_tflite.same("BATCH_MATMUL", _attributes),)
    kernels = (Kernel("mg_batch_matmul_f32", Form.WHOLE, (float_data,), params, operands=(0, 1)),)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        a, b = _strided.operand(a), _strided.operand(b)
        if a.dtype != "f32" or b.dtype != "f32":
            raise UnsupportedError(f"products of {a.dtype} and {b.dtype} matrices are not supported")
        if len(a.shape) < 2 or len(b.shape) < 2:
            raise ShapeError(f"{list(a.shape)} and {list(b.shape)} are not both matrices")
        rows, depth = a.shape[:-3:-1] if self.transpose_a else a.shape[-2:]
        inner, cols = b.shape[:-3:-1] if self.transpose_b else b.shape[-2:]
        try:
            batches = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        except ValueError as error:
            raise ShapeError(f"batches {list(a.shape)} and {list(b.shape)} cannot be broadcast together") from error
        if depth != inner:
            raise ShapeError(f"{list(a.shape)} and {list(b.shape)} cannot be multiplied")
        if np.prod(batches, dtype=np.int64) > MAX_BATCHES:
            raise UnsupportedError(f"products in {np.prod(batches)} batches are not supported, {MAX_BATCHES} are")
        return (TensorType((*batches, rows, cols), "f32"),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        left = np.swapaxes(a, -1, -2) if self.transpose_a else a
        return np.asarray(left @ (np.swapaxes(b, -1, -2) if self.transpose_b else b))

    def macs(self, call: Call) -> int:
        a = call.input(0).shape
        return call.output.size * (a[-2] if self.transpose_a else a[-1])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (cls(), (2, 3), (3, 4)),
            (cls(True, True), (5, 2), (3, 5)),
            (cls(), (2, 1, 3, 4), (3, 4, 1)),
            (cls(transpose_b=True), (1, 3, 1, 7), (1, 1, 5, 7)),
            (cls(transpose_a=True), (4, 17, 2), (4, 17, 3)),
        )
        found = []
        for k, (op, left, right) in enumerate(cases):
            a, b = TensorType(left, "f32"), TensorType(right, "f32")
            found.append(Example(op, (a, b), op.infer(a, b), {}, k))
        return found
