"""TreeEnsembleClassifier: scores from trees, and the label of the best score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops import _forest, _scores
from mcugen.ops._forest import Forest
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.ops.tree_ensemble import summed

_ONE = np.array(1, np.float32)
_FAR = np.array(3e38, np.float32)
"""The number subtracted from the score of a class that no leaf names, so that it is never the best."""


@dataclass(frozen=True, eq=False)
class _Classifier:
    """The parts of a classifier. base: added to the scores; post: the function applied to the scores."""

    forest: Forest
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    base: np.ndarray
    post: str

    @property
    def classes(self) -> int:
        return len(self.numbers) + len(self.texts)

    def label(self, e: Expansion, index: str) -> str:
        return _scores.label(e, index, self.numbers, self.texts)


def classifier(source: Source, e: Expansion) -> Sequence[str]:
    """The label and the scores of each class, in all cases as in ONNX Runtime. Source: TreeEnsembleClassifier-3."""
    a = source.attributes
    numbers, texts = _scores.labels(a, "classlabels_int64s")
    count = len(numbers) + len(texts)
    forest = _forest.of_nodes(a, "class", max(count, 2))
    if not forest.targets.size:
        raise CorruptModelError("no leaf of the trees has a class_id")
    c = _Classifier(forest, numbers, texts, _forest.numbers(a, "base_values"), a["post_transform"])
    if count > 2:
        return _many(c, e)
    if c.base.size > 1:
        raise UnsupportedError("base_values for each of two classes are not supported")
    named = np.unique(forest.targets).tolist()
    if count == 1:
        return _alone(c, e, named)
    if named == [0]:
        return _one_sum(c, e)
    return _second_only(c, e) if named == [1] else _two_sums(c, e)


def _many(c: _Classifier, e: Expansion) -> Sequence[str]:
    """Three classes or more: the best has the largest sum among the classes that the reached leaves name."""
    if c.base.size not in (0, c.classes):
        raise CorruptModelError(f"there are {c.base.size} base_values, but {c.classes} classes")
    sums = summed(e, c.forest, c.classes)
    judged = sums
    if c.base.size:
        judged = sums = e.node(Add(), sums, e.constant(c.base))
    elif not _unnamed_never_win(c.forest, c.classes):
        ones = replace(c.forest, weights=np.ones_like(c.forest.weights))
        named = e.node(Minimum(), summed(e, ones, c.classes), e.constant(_ONE))
        far = e.node(Mul(), e.node(Sub(), named, e.constant(_ONE)), e.constant(_FAR))
        judged = e.node(Add(), sums, far)
    return [c.label(e, _scores.best(e, judged)), _scores.transformed(e, sums, c.post)]


def _unnamed_never_win(forest: Forest, classes: int) -> bool:
    """Whether a class that no reached leaf names, and whose sum is thus 0, is never the first with the largest sum."""
    if forest.always(classes).all():
        return True
    if (forest.weights < 0).any():
        return False
    return any(
        all((forest.weights[first:end] > 0).any() for first, end in forest.leaves(root))
        for root in forest.roots.tolist()
    )


def _one_sum(c: _Classifier, e: Expansion) -> Sequence[str]:
    """Two classes with one sum s: the scores are [1 - s, s] if no weight is negative, else [-s, s]."""
    score = summed(e, c.forest, 1)
    if c.base.any():
        score = e.node(Add(), score, e.constant(c.base))
    if c.post == "PROBIT":
        raise UnsupportedError("post_transform PROBIT of two classes is not supported")
    scores = _scores.both(e, score, is_share=not (c.forest.weights < 0).any())
    label = c.label(e, _scores.best(e, scores))
    if c.post == "LOGISTIC":
        scores = _scores.transformed(e, _scores.both(e, score, is_share=False), c.post)
    return [label, scores]


def _second_only(c: _Classifier, e: Expansion) -> Sequence[str]:
    """Two classes, but leaves name only the second: the scores are [0, sum]; base_values are not used."""
    second = replace(c.forest, targets=np.zeros_like(c.forest.targets))
    score = summed(e, second, 1)
    if (c.forest.weights < 0).any():
        index = _scores.positive(e, score)
    else:
        index = _scores.best(e, _scores.both(e, score, is_share=True))
    zero = e.constant(np.zeros(e.type(score).shape, np.float32))
    scores = e.node(Concatenation(1), zero, score)
    return [c.label(e, index), _scores.transformed(e, scores, c.post)]


def _two_sums(c: _Classifier, e: Expansion) -> Sequence[str]:
    """Two classes with a sum each: the second is best if its sum is positive. Labels that are numbers are 0 and 1."""
    if not c.forest.always(2)[1]:
        raise UnsupportedError("two classes need a tree whose leaves all have a weight for the second class")
    sums = summed(e, c.forest, 2)
    rows = e.type(sums).shape[0]
    second = e.node(StridedSlice(((0, rows, 1), (1, 1, 1)), (rows, 1)), sums)
    index = _scores.positive(e, second)
    if c.base.any():
        sums = e.node(Add(), sums, e.constant(np.array([c.base[0], 0], np.float32)))
    label = _scores.label(e, index, (0, 1), c.texts)
    return [label, _scores.transformed(e, sums, c.post)]


def _alone(c: _Classifier, e: Expansion, named: list[int]) -> Sequence[str]:
    """One class: the score is its sum, and the label is 1 if the sum is positive, else 0."""
    if c.texts or named != [0] or c.post == "PROBIT":
        raise UnsupportedError("a single class with a text label, PROBIT, or leaves of other classes is not supported")
    score = summed(e, c.forest, 1)
    if c.base.any():
        score = e.node(Add(), score, e.constant(c.base))
    return [_scores.positive(e, score), score]


IMPORTS = (Import("onnx", "ai.onnx.ml:TreeEnsembleClassifier", expand=classifier),)
