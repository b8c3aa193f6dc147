"""Scores and labels of classical models: what follows their sums, whatever made these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.gather import Gather
from mcugen.ops.logistic import Logistic
from mcugen.ops.neg import Neg
from mcugen.ops.reshape import Reshape
from mcugen.ops.softmax import Softmax
from mcugen.ops.sub import Sub

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""Names of post_transform, by the number that TreeEnsemble-5 gives them."""


def features(e: Expansion, k: int = 0) -> str:
    """Operand k as float32 vectors [N, features]. Raises ShapeError for images, UnsupportedError for text."""
    x = e.inputs[k] if k < len(e.inputs) else None
    if x is None or not 1 <= len(e.type(x).shape) <= 2:
        raise ShapeError("features have the shape [N, features]")
    if e.texts(x):
        raise UnsupportedError("features that are text are not supported")
    t = e.type(x)
    if len(t.shape) == 1:
        x = e.node(Reshape((1, t.shape[0])), x)
    return x if t.dtype == "f32" else e.node(Cast("f32"), x)


def transformed(e: Expansion, scores: str, kind: str) -> str:
    """All scores of a vector through a function. Raises UnsupportedError for those that mcugen does not have."""
    if kind == "NONE":
        return scores
    if kind == "LOGISTIC":
        return e.node(Logistic(), scores)
    if kind == "SOFTMAX":
        return e.node(Softmax(1.0), scores)
    raise UnsupportedError(f"post_transform {kind[:40]} is not supported")


def both(e: Expansion, score: str, *, is_share: bool) -> str:
    """The scores of two classes from one [N, 1] of the second: [1 - p, p] of a share, else [-s, s]."""
    other = e.node(Sub(), e.constant(np.array(1, np.float32)), score) if is_share else e.node(Neg(), score)
    return e.node(Concatenation(1), other, score)


def labels(a: Attributes, ints: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The labels of classes: numbers or texts, of which one is empty. ints: the name of the attribute with numbers."""
    numbers = tuple(int(v) for v in a.get(ints) or ())
    texts = tuple(a.get("classlabels_strings") or ())
    if bool(numbers) == bool(texts):
        raise CorruptModelError("classes have no labels, or two kinds of them")
    return numbers, texts


def label(e: Expansion, index: str, numbers: Sequence[int], texts: Sequence[str]) -> str:
    """The labels of classes whose int64 indices [N] are known."""
    if texts:
        return e.text(index, texts)
    if tuple(numbers) == tuple(range(len(numbers))):
        return index
    return e.node(Gather(0), e.constant(np.array(numbers, np.int64)), index)


def positive(e: Expansion, score: str) -> str:
    """1 where a score [N, 1] is above 0, else 0: int64 [N]."""
    zero = e.constant(np.zeros(e.type(score).shape, np.float32))
    return best(e, e.node(Concatenation(1), zero, score))


def best(e: Expansion, scores: str) -> str:
    """The indices [N] of the largest scores [N, classes], the first of equals."""
    return e.node(ArgMax(1, "s64"), scores)
