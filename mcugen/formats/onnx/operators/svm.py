"""SVMClassifier and SVMRegressor: weighted sums of kernels of the features and the support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops import _forest, _scores
from mcugen.ops.add import Add
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.distances import Distances
from mcugen.ops.float_functions import Exp
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gather import Gather
from mcugen.ops.logistic import Logistic
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.pairwise_coupling import PairwiseCoupling
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.ops.tanh import Tanh

MAX_DEGREE = 8
MAX_CLASSES = 64
WHOLE_CLASSES = 3
"""Most classes for which all pairs are one matrix product: with more, most of its weights would be zeros."""

_HUGE = np.array(1e30, np.float32)
_NEAR = np.array(1e-7, np.float32)


def _number(value: float) -> np.ndarray:
    return np.array(value, np.float32)


@dataclass(frozen=True, eq=False)
class _Machine:
    """The kernel of a support vector machine, and the vectors that it is applied to, [count, features]."""

    kind: str
    gamma: float
    coef0: float
    degree: float
    vectors: np.ndarray

    @classmethod
    def of(cls, a: Attributes, count: int, features: int) -> _Machine:
        params, vectors = _forest.numbers(a, "kernel_params"), _forest.numbers(a, "support_vectors")
        gamma, coef0, degree = (*params.tolist(), 0.0, 0.0, 0.0)[:3]
        if count < 1 or vectors.size != count * features:
            raise ShapeError(
                f"{vectors.size} numbers do not divide into {count} support vectors of {features} features"
            )
        return cls(a["kernel_type"], gamma, coef0, degree, vectors.reshape(count, features))

    def values(self, e: Expansion, x: str) -> str:
        """The kernel of x and of each vector: [N, count]."""
        if self.kind == "RBF":
            squares = e.node(Distances(), x, e.constant(self.vectors))
            return e.node(Exp(), e.node(Mul(), squares, e.constant(_number(-self.gamma))))
        dot = e.node(FullyConnected(), x, e.constant(self.vectors))
        if self.kind == "LINEAR":
            return dot
        inner = e.node(Add(), e.node(Mul(), dot, e.constant(_number(self.gamma))), e.constant(_number(self.coef0)))
        if self.kind == "SIGMOID":
            return e.node(Tanh(), inner)
        if self.kind != "POLY" or self.degree not in range(1, MAX_DEGREE + 1):
            raise UnsupportedError(f"kernel {self.kind[:40]} of degree {self.degree} is not supported")
        y = inner
        for _ in range(int(self.degree) - 1):
            y = e.node(Mul(), y, inner)
        return y


def regressor(source: Source, e: Expansion) -> Sequence[str]:
    """sum of coefficients * K(x, support vectors) + rho. Source: ONNX ai.onnx.ml SVMRegressor-1; svmregressor.cc."""
    a, x = source.attributes, _scores.features(e)
    count, features = int(a["n_supports"]), e.type(x).shape[1]
    coefficients, rho = _forest.numbers(a, "coefficients"), _forest.numbers(a, "rho")
    a.ignore("post_transform")  # ONNX Runtime does not apply it
    if count == 0:
        a.ignore("kernel_type", "kernel_params", "support_vectors")
        values, count = x, features
    else:
        values = _Machine.of(a, count, features).values(e, x)
    if coefficients.size != count or rho.size < 1:
        raise ShapeError(f"{coefficients.size} coefficients do not fit {count} kernels")
    y = e.node(FullyConnected(), values, e.constant(coefficients.reshape(1, count)), e.constant(rho[:1]))
    if not a["one_class"]:
        return [y]
    zero = e.constant(np.zeros(e.type(y).shape, np.float32))
    inside = e.node(ArgMax(1, "s32"), e.node(Concatenation(1), zero, y))
    doubled = e.node(Mul(), e.node(Cast("f32"), inside), e.constant(_number(2)))
    return [_column(e, e.node(Sub(), doubled, e.constant(_number(1))))]


def _column(e: Expansion, x: str) -> str:
    return e.node(Reshape((e.type(x).size, 1)), x)


def classifier(source: Source, e: Expansion) -> Sequence[str]:
    """The class that wins most pairs, and scores: the decision values of pairs, or class probabilities.

    Source: ONNX ai.onnx.ml SVMClassifier-1; svmclassifier.cc.
    """
    a, x = source.attributes, _scores.features(e)
    numbers, texts = _scores.labels(a, "classlabels_ints")
    sizes, classes = _forest.integers(a, "vectors_per_class"), len(numbers) + len(texts)
    if sizes.size != classes or not 2 <= classes <= MAX_CLASSES or (sizes < 1).any():
        raise UnsupportedError(f"{classes} classes with vectors_per_class {sizes.tolist()[:8]} are not supported")
    machine = _Machine.of(a, int(sizes.sum()), e.type(x).shape[1])
    pairs = _decisions(a, e, machine.values(e, x), sizes)
    label = _scores.label(e, _scores.best(e, _votes(e, pairs, classes)), numbers, texts)
    return [label, _finished(a, e, pairs, classes)]


def _decisions(a: Attributes, e: Expansion, values: str, sizes: np.ndarray) -> str:
    """The decision value of each pair of classes: [N, pairs], above 0 for the first of the pair."""
    classes, total = sizes.size, int(sizes.sum())
    w, rho = _forest.numbers(a, "coefficients"), _forest.numbers(a, "rho")
    pairs = list(combinations(range(classes), 2))
    if w.size != (classes - 1) * total or rho.size != len(pairs):
        raise ShapeError(f"{w.size} coefficients and {rho.size} numbers rho do not fit {classes} classes")
    w, ends = w.reshape(classes - 1, total), np.cumsum(sizes)
    own = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    if classes <= WHOLE_CLASSES:
        matrix = np.zeros((len(pairs), total), np.float32)
        for p, (i, j) in enumerate(pairs):
            matrix[p, own[i]], matrix[p, own[j]] = w[j - 1, own[i]], w[i, own[j]]
        return e.node(FullyConnected(), values, e.constant(matrix), e.constant(rho))
    rows, parts = e.type(values).shape[0], []
    for place in own:
        count = place.stop - place.start
        part = e.node(StridedSlice(((0, rows, 1), (place.start, count, 1)), (rows, count)), values)
        parts.append(e.node(FullyConnected(), part, e.constant(np.ascontiguousarray(w[:, place]))))
    joined = e.node(Concatenation(1), *parts)
    first = np.array([i * (classes - 1) + j - 1 for i, j in pairs], np.int32)
    second = np.array([j * (classes - 1) + i for i, j in pairs], np.int32)
    sums = e.node(Add(), *(e.node(Gather(1), joined, e.constant(index)) for index in (first, second)))
    return e.node(Add(), sums, e.constant(rho))


def _votes(e: Expansion, pairs: str, classes: int) -> str:
    """The number of pairs that each class wins: the first of a pair if its value is above 0, else the second."""
    above = e.node(Maximum(), pairs, e.constant(_number(0)))
    large = e.node(Mul(), e.node(Mul(), above, e.constant(_HUGE)), e.constant(_HUGE))
    won = e.node(Minimum(), large, e.constant(_number(1)))
    matrix, bias = np.zeros((classes, e.type(pairs).shape[1]), np.float32), np.zeros(classes, np.float32)
    for p, (i, j) in enumerate(combinations(range(classes), 2)):
        matrix[i, p], matrix[j, p] = 1, -1
        bias[j] += 1
    return e.node(FullyConnected(), won, e.constant(matrix), e.constant(bias))


def _finished(a: Attributes, e: Expansion, pairs: str, classes: int) -> str:
    """The scores of the classifier.

    With prob_a and prob_b: class probabilities from the probabilities of pairs. Without: the decision values of pairs,
    or [-s, s] for two classes.
    """
    slope, offset, post = _forest.numbers(a, "prob_a"), _forest.numbers(a, "prob_b"), a["post_transform"]
    count = e.type(pairs).shape[1]
    if slope.size != offset.size or slope.size not in (0, count):
        raise CorruptModelError(f"{slope.size} numbers prob_a do not fit {count} pairs")
    if slope.size:
        scaled = e.node(Add(), e.node(Mul(), pairs, e.constant(slope)), e.constant(offset))
        share = e.node(Sub(), e.constant(_number(1)), e.node(Logistic(), scaled))
        share = e.node(Maximum(), share, e.constant(_NEAR))
        share = e.node(Minimum(), share, e.constant(_number(1) - _NEAR))
        return _scores.transformed(e, e.node(PairwiseCoupling(classes), share), post)
    if classes > 2:
        return _scores.transformed(e, pairs, post)
    if post != "NONE":
        raise UnsupportedError(f"post_transform {post[:40]} of two classes is not supported")
    return _scores.both(e, pairs, is_share=False)


IMPORTS = (
    Import("onnx", "ai.onnx.ml:SVMClassifier", expand=classifier),
    Import("onnx", "ai.onnx.ml:SVMRegressor", expand=regressor),
)
