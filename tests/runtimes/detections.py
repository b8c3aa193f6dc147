# SPDX-License-Identifier: Apache-2.0
"""Random models of the step after a detector: boxes, scores and anchors, float or quantized, with many equal scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flatbuffers import flexbuffers

from tests.runtimes.sketch import Drawn, Sketch

NAME = "CUSTOM:TFLite_Detection_PostProcess"
MODELS = 4
"""Models of each element type."""


def models() -> Iterator[Drawn]:
    """All of them."""
    for dtype in ("f32", "u8"):
        for seed in range(MODELS):
            s = Sketch(f"{NAME} {dtype} {seed}", dtype)
            _draw(s, by_class=seed % 2 == 1)
            yield s.drawn()


def _draw(s: Sketch, *, by_class: bool) -> None:
    count, classes, most, each = 40, s.rng.choice((2, 4)), s.rng.choice((3, 6)), s.rng.choice((1, 2))
    quants = [None] * 3 if s.dtype == "f32" else [(0.06, 120), (1 / 256, 0), (0.004, 3)]
    boxes, scores = s.x((1, count, 4), None, quants[0]), s.x((1, count, classes + 1), None, quants[1])
    anchors = s.data.uniform(0.1, 0.9, (count, 4))
    stored = anchors if quants[2] is None else np.round(anchors / quants[2][0] + quants[2][1])
    operands = [boxes, scores, s.tensor((count, 4), s.dtype, quants[2], stored)]
    n = most * each
    made = [s.tensor(shape, "f32") for shape in ((1, n, 4), (1, n), (1, n), (1,))]
    options = {
        "max_detections": most, "max_classes_per_detection": each, "detections_per_class": s.rng.choice((2, 100)),
        "num_classes": classes, "nms_score_threshold": -100.0, "nms_iou_threshold": 0.6,
        "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, "use_regular_nms": by_class,
    }  # fmt: skip
    data = bytes(flexbuffers.Dumps(dict(sorted(options.items()))))
    s.writer.op("CUSTOM", operands, made, custom_code=NAME.partition(":")[2], custom_options=data)
    s.outputs += made
