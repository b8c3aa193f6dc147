"""TFLite_Detection_PostProcess: the boxes with the best scores, without boxes that overlap better ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Param, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import Scales, refused
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ops import _tflite
from mcugen.oracle import overlaps
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

_KINDS = ("f32", "s8")
_DATA = ("f32", "s8", "u8")
_MOST = 1 << 16


def from_tflite(source: Source) -> Imported:
    options = flexbuffer.options(
        source.attributes["custom_options"],
        max_detections=0,
        max_classes_per_detection=1,
        detections_per_class=100,
        num_classes=0,
        nms_score_threshold=0.0,
        nms_iou_threshold=0.0,
        y_scale=0.0,
        x_scale=0.0,
        h_scale=0.0,
        w_scale=0.0,
        use_regular_nms=0,
        _output_quantized=0,
        _support_output_type_float_in_quantized_op=0,
    )
    return Imported(
        DetectionPostprocess(
            classes=int(options["num_classes"]),
            detections=int(options["max_detections"]),
            each=int(options["max_classes_per_detection"]),
            least_score=float(np.float32(options["nms_score_threshold"])),
            most_overlap=float(np.float32(options["nms_iou_threshold"])),
            scales=tuple(float(np.float32(options[f"{axis}_scale"])) for axis in "yxhw"),
            by_class=bool(options["use_regular_nms"]),
            per_class=int(options["detections_per_class"]),
        )
    )


def _real(t: TensorType, data: np.ndarray) -> np.ndarray:
    """Stored numbers as float32: (data - zero point) * scale."""
    if t.is_float:
        return data
    return (data.astype(np.float32) - np.float32(t.zero_point)) * np.float32(t.scale)


def _quant(name: str, t: TensorType) -> dict[str, Param]:
    kind, scale, zero = (0, 1.0, 0) if t.is_float else (1, t.scale, t.zero_point)
    return {f"{name}.kind": kind, f"{name}.scale": scale, f"{name}.zero": float(zero)}


def params(call: Call) -> Params:
    op, boxes, scores = call.op, call.input(0), call.input(1)
    assert isinstance(op, DetectionPostprocess)
    return {
        "anchors": _real(call.input(2), call.constant(2)).astype(np.float32),
        **_quant("boxes", boxes),
        **_quant("scores", scores),
        "count": scores.shape[1],
        "width": boxes.shape[2],
        "given": scores.shape[2],
        "classes": op.classes,
        "detections": op.detections,
        "each": op.most_each,
        "per_class": op.per_class,
        "by_class": int(op.by_class),
        "rows": op.rows,
        "least_score": op.least_score,
        "most_overlap": op.most_overlap,
        **{f"divisors[{k}]": v for k, v in enumerate(op.scales)},
    }


def scratch(call: Call) -> int:
    """Scratch in bytes: a box, a score and a flag per anchor; a score and an index per result."""
    op = call.op
    assert isinstance(op, DetectionPostprocess)
    return 24 * call.input(1).shape[1] + 12 * op.rows


def has_kinds(call: Call) -> bool:
    "boxes and scores are f32 or s8, and the anchors are constant"
    return {call.input(0).dtype, call.input(1).dtype} <= set(_KINDS) and call.constants[2] is not None


def _options(call: Call) -> dict[str, Number]:
    return {
        "max_detections": call.op.detections,
        "max_classes_per_detection": call.op.each,
        "detections_per_class": call.op.per_class,
        "num_classes": call.op.classes,
        "nms_score_threshold": call.op.least_score,
        "nms_iou_threshold": call.op.most_overlap,
        **{f"{axis}_scale": scale for axis, scale in zip("yxhw", call.op.scales, strict=True)},
        "use_regular_nms": int(call.op.by_class),
    }


@dataclass(frozen=True)
class DetectionPostprocess(Op):
    """The boxes with the best scores, best first, without boxes that overlap a better one too much.

    A box is dropped if its intersection over union with a better box is above `most_overlap`. Equal scores are ordered
    by anchor, then by class.

    boxes: f32, s8 or u8 [1, N, 4 or more]: centre y, x, log height and width, relative to the anchor, times `scales`
    scores: type of boxes, [1, N, at least `classes`], the background and other unused columns first
    anchors: f32, s8 or u8 [N, 4], constant
    results: f32 [1, n, 4] top, left, bottom, right; [1, n] classes; [1, n] scores; [1] the number of boxes
    by_class: whether each class selects up to `per_class` boxes by itself; else a box has its `each` best classes
    Source: LiteRT detection_postprocess.cc.
    """

    classes: int
    detections: int
    each: int
    least_score: float
    most_overlap: float
    scales: tuple[float, ...]
    by_class: bool = False
    per_class: int = 100

    tflm_types = dtypes("f32")
    litert_types = dtypes("f32 u8")
    imports = (Import("tflite", "CUSTOM:TFLite_Detection_PostProcess", from_tflite),)
    writes = (_tflite.custom("TFLite_Detection_PostProcess", _options),)
    weight_operands = ()
    kernels = (
        Kernel(
            "mg_detection_postprocess",
            Whole(),
            (has_kinds,),
            params,
            operands=(0, 1),
            scratch=scratch,
            short="detections",
        ),
    )

    @property
    def most_each(self) -> int:
        """Largest number of classes that each box has in the results."""
        return 1 if self.by_class else self.each

    @property
    def rows(self) -> int:
        """Largest number of results: the number of rows of the runtime's result tables."""
        return self.detections * self.each

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and self.most_each > 1:
            return "no kernel for several classes per box: it leaves gaps in the result tables"
        return super().refused_by(call, runtime)

    def quantized(self, call: Call) -> Scales:
        return refused("it computes boxes in floats: end the network at the boxes and scores that it reads")

    def infer(
        self, boxes: TensorType | None, scores: TensorType | None, anchors: TensorType | None
    ) -> tuple[TensorType, ...]:
        given = [boxes, scores, anchors]
        for t, rank in zip(given, (3, 3, 2), strict=True):
            if t is None or t.dtype not in _DATA or len(t.shape) != rank:
                raise ShapeError(f"boxes, scores and anchors {', '.join(map(str, given))} must have 3, 3 and 2 axes")
            if not t.is_float and (t.quant is None or t.quant.per_channel):
                raise QuantizationError(f"{t} needs one scale and one zero point for the whole tensor")
        assert boxes and scores and anchors
        count = scores.shape[1]
        if boxes.shape[:2] != (1, count) or scores.shape[0] != 1 or anchors.shape != (count, 4) or boxes.shape[2] < 4:
            raise ShapeError(f"boxes {boxes} and anchors {anchors} must be [1, N, 4...], [N, 4] for scores {scores}")
        if not 1 <= self.classes <= scores.shape[2] or not 1 <= self.detections <= _MOST or count > _MOST:
            raise UnsupportedError(
                f"max_detections={self.detections}, num_classes={self.classes} and {count} boxes are not supported: "
                f"at most {_MOST} detections, {scores.shape[2]} classes and {_MOST} boxes are"
            )
        if not 1 <= self.each <= self.classes or self.per_class < 1 or not all(s > 0 for s in self.scales):
            raise UnsupportedError(
                f"scales {self.scales} must be above 0, detections per class {self.per_class} at least 1, and classes "
                f"per detection {self.each} 1 to {self.classes}"
            )
        if not 0 < self.most_overlap <= 1:
            raise UnsupportedError(f"nms_iou_threshold {self.most_overlap} must be above 0 and at most 1")
        n = self.rows
        shapes = ((1, n, 4), (1, n), (1, n), (1,))
        return tuple(TensorType(shape, "f32") for shape in shapes)

    def reference(self, boxes: np.ndarray, scores: np.ndarray, anchors: np.ndarray) -> tuple[np.ndarray, ...]:
        return self._run(*(v.astype(np.float32) for v in (boxes, scores, anchors)))

    def reference_q(
        self, call: Call, boxes: np.ndarray, scores: np.ndarray, anchors: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        given = zip(call.inputs, (boxes, scores, anchors), strict=True)
        return self._run(*(overlaps.real(v, t) for t, v in given if t is not None))

    def _run(self, boxes: np.ndarray, scores: np.ndarray, anchors: np.ndarray) -> tuple[np.ndarray, ...]:
        places = overlaps.decoded(boxes[0], anchors, self.scales)
        usable = scores[0, :, scores.shape[2] - self.classes :]
        limits = (self.least_score, self.most_overlap)
        if self.by_class:
            found = overlaps.by_class(places, usable, limits, self.per_class, self.detections)
        else:
            found = overlaps.by_box(places, usable, limits, self.most_each, self.detections)
        return overlaps.tables(places, found, self.rows, self.most_each)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = []
        for k, (dtype, by_class, each) in enumerate((("f32", False, 2), ("s8", True, 1), ("s8", False, 1))):
            quant = None if dtype == "f32" else QuantParams((0.03,), (-3,))
            op = cls(4, 6, each, 0.1, 0.5, (10.0, 10.0, 5.0, 5.0), by_class, 3)
            inputs = (
                TensorType((1, 30, 4), dtype, quant),
                TensorType((1, 30, 5), dtype, quant),
                TensorType((30, 4), dtype, quant),
            )
            anchors = np.random.default_rng(k).uniform(0.2, 1.0, (30, 4)).astype(np.float32)
            stored = anchors if quant is None else np.round(anchors / 0.03 - 3).astype(np.int8)
            made.append(Example(op, inputs, op.infer(*inputs), {2: stored}, k))
        return made
