"""NewestRows: the newest rows of a sequence, as a window that each new row moves by its length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes


def params(call: Call) -> Params:
    row, window = call.input(1).nbytes, call.output.nbytes
    return {"kept": window - row, "row": row}


@dataclass(frozen=True)
class NewestRows(Op):
    """The window without its oldest elements, followed by the new row.

    rows: any type and shape, the window so far   x: the same type, at most as many elements
    y: as rows
    divides: whether nodes that depend on y run once per several rows, if samples are streamed
    """

    divides: bool = False

    litert_types = dtypes("s8 u8 s16 s32 f32")
    tflm_types = dtypes("s8 u8 s16 s32 f32")
    takes_unsigned = True
    only_moves = True
    kernels = (Kernel("mg_newest_rows", Whole(), params=params, operands=(0, 1), in_place=(0,)),)

    def infer(self, rows: TensorType | None, x: TensorType | None) -> tuple[TensorType, ...]:
        if rows is None or x is None or rows.dtype != x.dtype or rows.dtype not in self.litert_types:
            raise UnsupportedError(f"rows {rows} and new row {x} must have one type")
        if not 0 < x.size <= rows.size:
            raise ShapeError(f"a new row of {x.size} elements does not fit a window of {rows.size}")
        return (TensorType(rows.shape, rows.dtype),)

    @property
    def collects(self) -> bool:
        return self.divides

    def reference(self, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.concatenate([rows.reshape(-1)[x.size :], x.reshape(-1)]).reshape(rows.shape)

    def reference_q(self, call: Call, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.reference(rows, x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        shapes = (((1, 3, 4), (1, 4), "s8"), ((6,), (6,), "s16"), ((2, 5), (1, 3), "f32"), ((1, 7), (7,), "u8"))
        return [
            Example(cls(), (t, x), cls().infer(t, x), {}, k)
            for k, (rows, row, dtype) in enumerate(shapes)
            for t, x in [(TensorType(rows, dtype), TensorType(row, dtype))]
        ]
