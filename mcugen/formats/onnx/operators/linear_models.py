"""LinearClassifier and LinearRegressor: fully connected layers, and the label of the best score."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops import _forest, _scores
from mcugen.ops.fully_connected import FullyConnected


def classifier(source: Source, e: Expansion) -> Sequence[str]:
    """The label and the scores of each class. Source: ONNX ai.onnx.ml LinearClassifier-1; linearclassifier.cc."""
    a = source.attributes
    numbers, texts = _scores.labels(a, "classlabels_ints")
    a.ignore("multi_class")  # only records how the scores were trained
    post, count = a["post_transform"], len(numbers) + len(texts)
    scores = _products(a, e, _forest.numbers(a, "intercepts").size)
    rows = e.type(scores).shape[1]
    if rows == 1:
        return _single(e, scores, numbers, texts, post)
    if rows > count:
        raise CorruptModelError(f"the classifier has {count} labels, but {rows} scores")
    return [_scores.label(e, _scores.best(e, scores), numbers, texts), _scores.transformed(e, scores, post)]


def _single(e: Expansion, score: str, numbers: Sequence[int], texts: Sequence[str], post: str) -> Sequence[str]:
    """Label and scores from one row of coefficients: a positive score means the second class."""
    if len(numbers) + len(texts) != 2:
        if texts:
            raise UnsupportedError("one row of coefficients is only supported for two classes")
        return [_scores.positive(e, score), score]
    label = _scores.label(e, _scores.positive(e, score), numbers, texts)
    if post == "PROBIT":
        raise UnsupportedError("post_transform PROBIT of two classes is not supported")
    if post == "LOGISTIC":
        return [label, _scores.transformed(e, _scores.both(e, score, is_share=False), post)]
    return [label, _scores.both(e, score, is_share=True)]


def regressor(source: Source, e: Expansion) -> Sequence[str]:
    """Products with each row of coefficients. Source: ONNX ai.onnx.ml LinearRegressor-1; linearregressor.cc."""
    a = source.attributes
    y = _products(a, e, int(a["targets"]))
    return [_scores.transformed(e, y, a["post_transform"])]


def _products(a: Attributes, e: Expansion, rows: int) -> str:
    """coefficients [rows, features] times each vector, with an intercept for each row if there are any."""
    x, w, b = _scores.features(e), _forest.numbers(a, "coefficients"), _forest.numbers(a, "intercepts")
    count = e.type(x).shape[1]
    if rows < 1 or w.size != rows * count or b.size not in (0, rows):
        raise ShapeError(f"{w.size} coefficients and {b.size} intercepts do not fit {count} features")
    operands = [e.constant(w.reshape(rows, count)), *([e.constant(b)] if b.size else [])]
    return e.node(FullyConnected(keep_dims=True), x, *operands)


IMPORTS = (
    Import("onnx", "ai.onnx.ml:LinearClassifier", expand=classifier),
    Import("onnx", "ai.onnx.ml:LinearRegressor", expand=regressor),
)
