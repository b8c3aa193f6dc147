"""NonMaxSuppression: the boxes with the best scores, without boxes that overlap better ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.oracle import overlaps

_MOST = 1 << 20
_LEAST = float(np.finfo(np.float32).min)


def from_onnx(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of NonMaxSuppression, whose limits, operands 2 to 4, must be constant. Source: ONNX, version 11."""
    boxes, scores, *limits = (*e.inputs, None, None, None)[:5]
    if boxes is None or scores is None:
        raise ShapeError("boxes (operand 0) or scores (operand 1) are missing")
    if any(name is not None and source.constant(k) is None for k, name in enumerate(limits, 2)):
        raise UnsupportedError("the limits (operands 2 to 4) are computed at run time", hint="make them constants")
    each, overlap, score = (source.constant(k) for k in (2, 3, 4))
    op = NonMaxSuppression(
        0 if each is None else min(int(each.reshape(-1)[0]), e.type(boxes).shape[1]),
        0.0 if overlap is None else float(np.float32(overlap.reshape(-1)[0])),
        _LEAST if score is None else float(np.float32(score.reshape(-1)[0])),
        bool(source.attributes["center_point_box"]),
    )
    return [e.node(op, boxes, scores)]


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, NonMaxSuppression)
    batches, classes, count = call.input(1).shape
    return {
        "batches": batches,
        "classes": classes,
        "count": count,
        "each": op.each,
        "most_overlap": op.most_overlap,
        "least_score": op.least_score,
        "centred": int(op.centred),
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: scores, and comparisons of boxes with selected boxes."""
    scores = call.input(1).size
    return {"scores": scores, "compared": scores * call.op.each}


@dataclass(frozen=True)
class NonMaxSuppression(Op):
    """y = rows (image, class, box) of the selected boxes: per image and class, best score first.

    A box is dropped if its intersection over union with a selected box is above `most_overlap`, computed in float32.
    boxes: f32 [N, B, 4], two corners (y, x), or with `centred` centre x, y, width, height   scores: f32 [N, classes, B]
    y: s64 [N * classes * each, 3]; the number of rows is fixed, so unused rows at the end are -1
    each: the most boxes per image and class   least_score: scores must be above it
    Boxes with equal scores keep their order.
    Source: ONNX NonMaxSuppression-11; onnxruntime non_max_suppression.cc, SuppressByIOU.
    """

    each: int
    most_overlap: float
    least_score: float
    centred: bool = False

    imports = (Import("onnx", "NonMaxSuppression", expand=from_onnx),)
    kernels = (
        Kernel(
            "mg_non_max_suppression",
            Whole(),
            params=params,
            operands=(0, 1),
            scratch=lambda call: call.input(1).shape[2],
            cost=Cost(work, ("scores", "compared")),
            short="nms",
        ),
    )

    def infer(self, boxes: TensorType | None, scores: TensorType | None) -> tuple[TensorType, ...]:
        if boxes is None or scores is None or {boxes.dtype, scores.dtype} != {"f32"}:
            raise UnsupportedError(f"boxes and scores must be float32, but are {boxes} and {scores}")
        if len(scores.shape) != 3 or boxes.shape != (scores.shape[0], scores.shape[2], 4):
            raise ShapeError(f"boxes {boxes} and scores {scores} must be [N, B, 4] and [N, classes, B]")
        if self.each < 1 or not 0.0 <= self.most_overlap <= 1.0:
            raise UnsupportedError(
                f"max_output_boxes_per_class {self.each} must be at least 1, iou_threshold {self.most_overlap} 0 to 1"
            )
        rows = scores.shape[0] * scores.shape[1] * self.each
        if rows > _MOST:
            raise UnsupportedError(f"{rows} result rows are not supported; at most {_MOST} are")
        return (TensorType((rows, 3), "s64"),)

    def reference_q(self, call: Call, boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
        corners = overlaps.corners(boxes, centred=self.centred)
        limits = (self.least_score, self.most_overlap)
        found = [
            (n, c, i)
            for n, of_class in enumerate(scores)
            for c, values in enumerate(of_class)
            for i in overlaps.suppressed(corners[n], values, limits, self.each)
        ]
        y = np.full(call.output.shape, -1, np.int64)
        y[: len(found)] = np.array(found, np.int64).reshape(-1, 3)
        return y

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((cls(3, 0.1, 0.0), (1, 2, 12)), (cls(2, 0.0, -0.5, True), (2, 1, 7)), (cls(1, 0.6, 0.9), (1, 3, 5)))
        found = []
        for seed, (op, shape) in enumerate(cases):
            types = (TensorType((shape[0], shape[2], 4), "f32"), TensorType(shape, "f32"))
            found.append(Example(op, types, op.infer(*types), {}, seed))
        boxes = np.random.default_rng(5).uniform(0, 1, (1, 12, 4)).astype(np.float32)
        return [*found, Example(found[0].op, found[0].inputs, found[0].outputs, {0: boxes}, 4)]
