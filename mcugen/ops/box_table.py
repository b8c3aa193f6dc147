"""BoxTable: the boxes that a selection chose, with their scores and classes, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType

ORDERS = ("xywh", "xyxy", "yxyx")
"""Numbers of a box: centre and size, or two corners."""


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, BoxTable)
    return {
        "rows": call.input(0).shape[0],
        "boxes": call.input(1).shape[1],
        "classes": call.input(2).shape[1],
        "most": op.most,
        "centred": int(op.order == "xywh"),
        "x": int(op.order == "yxyx"),
    }


@dataclass(frozen=True)
class BoxTable(Op):
    """y = rows (left, top, right, bottom, score, class) of the chosen boxes, best score first, then rows of zeros.

    rows: s64 [R, 3], (image, class, box) of the chosen boxes of one image, then rows of -1
    boxes: f32 [1, B, 4], as `order` states   scores: f32 [1, classes, B]
    y: f32 [1, most, 6]; boxes with equal scores keep the order of their rows
    Source: none, the word `nms` of `--decide`.
    """

    most: int
    order: str = "xywh"

    litert_types = frozenset()
    kernels = (Kernel("mg_box_table", Whole(), params=params, operands=(0, 1, 2)),)

    def infer(
        self, rows: TensorType | None, boxes: TensorType | None, scores: TensorType | None
    ) -> tuple[TensorType, ...]:
        given = (rows, boxes, scores)
        if rows is None or boxes is None or scores is None or [t and t.dtype for t in given] != ["s64", "f32", "f32"]:
            raise UnsupportedError(f"rows, boxes and scores must be s64, f32 and f32, not {rows}, {boxes}, {scores}")
        shapes = rows.shape[1:] == (3,) and len(scores.shape) == 3 and boxes.shape == (1, scores.shape[2], 4)
        if not shapes or scores.shape[0] != 1 or self.most < 1 or self.order not in ORDERS:
            raise ShapeError(f"rows {rows}, boxes {boxes} and scores {scores} do not fit each other")
        return (TensorType((1, self.most, 6), "f32"),)

    def reference_q(self, call: Call, rows: np.ndarray, boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
        y = np.zeros(call.output.shape, np.float32)
        used = rows[: np.argmax(rows[:, 2] < 0)] if (rows[:, 2] < 0).any() else rows
        classes, chosen = used[:, 1].astype(int), used[:, 2].astype(int)
        reached = scores[0, classes, chosen]
        for k, row in enumerate(np.argsort(-reached, kind="stable")[: self.most]):
            a, b, c, d = boxes[0, chosen[row]]
            half = c / np.float32(2), d / np.float32(2)
            corners = (a - half[0], b - half[1], a + half[0], b + half[1])
            corners = {"xywh": corners, "xyxy": (a, b, c, d), "yxyx": (b, a, d, c)}[self.order]
            y[0, k] = (*corners, reached[row], classes[row])
        return y

    @classmethod
    def examples(cls) -> Sequence[Example]:
        found = []
        for k, (order, most, used) in enumerate((("xywh", 4, 5), ("xyxy", 3, 2), ("yxyx", 2, 0), ("xywh", 6, 6))):
            rng = np.random.default_rng(k)
            rows = np.full((6, 3), -1)
            rows[:used] = np.stack([rng.integers(0, n, used) for n in (1, 3, 9)], axis=1)
            types = [TensorType(shape, dtype) for shape, dtype in (((6, 3), "s64"), ((1, 9, 4), "f32"))]
            types.append(TensorType((1, 3, 9), "f32"))
            found.append(Example(cls(most, order), tuple(types), cls(most, order).infer(*types), {0: rows}, k))
        return found
