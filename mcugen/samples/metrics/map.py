"""map: mean average precision of boxes, the mean over overlaps of 0.5 to 0.95, and that at 0.5."""

from __future__ import annotations

import numpy as np

from mcugen.samples.labels import Truth
from mcugen.samples.metrics import Interface, Metric, Outputs, Scores, _detections, map50


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    found, there = _detections.found_in(outputs, network), _detections.true_boxes(truth)
    each = [_detections.mean_precision(found, there, t) for t in _detections.THRESHOLDS]
    return {"map": float(np.mean(each)), "map50": each[0]}


METRIC = Metric(
    "map",
    _detections.fits,
    _detections.require,
    score,
    {"map": "mean average precision at overlaps of 0.5 to 0.95", **map50.METRIC.titles},
    frozenset({"map", "map50"}),
)
