"""map50: mean average precision of boxes that overlap true ones by a half."""

from __future__ import annotations

from mcugen.samples.labels import Truth
from mcugen.samples.metrics import Interface, Metric, Outputs, Scores, _detections


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    found, there = _detections.found_in(outputs, network), _detections.true_boxes(truth)
    return {"map50": _detections.mean_precision(found, there, _detections.THRESHOLDS[0])}


METRIC = Metric(
    "map50",
    lambda truth, network: False,
    _detections.require,
    score,
    {"map50": "mean average precision at an overlap of 0.5"},
    frozenset({"map50"}),
)
