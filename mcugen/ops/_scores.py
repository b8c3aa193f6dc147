"""Scores and labels of classical models (trees, linear models, SVMs), computed from their raw scores."""

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
"""Values of post_transform; TreeEnsemble-5 numbers them in this order."""


def features(e: Expansion, k: int = 0) -> str:
    """Operand k as float32 [N, features]. Raises ShapeError for more axes, UnsupportedError for strings."""
    x = e.inputs[k] if k < len(e.inputs) else None
    if x is None or not 1 <= len(e.type(x).shape) <= 2:
        raise ShapeError("the operand with the features must have the shape [N, features]")
    if e.texts(x):
        raise UnsupportedError("features that are strings are not supported", hint="encode them as numbers")
    t = e.type(x)
    if len(t.shape) == 1:
        x = e.node(Reshape((1, t.shape[0])), x)
    return x if t.dtype == "f32" else e.node(Cast("f32"), x)


def transformed(e: Expansion, scores: str, kind: str) -> str:
    """The scores after a post_transform. Raises UnsupportedError for SOFTMAX_ZERO and PROBIT."""
    if kind == "NONE":
        return scores
    if kind == "LOGISTIC":
        return e.node(Logistic(), scores)
    if kind == "SOFTMAX":
        return e.node(Softmax(1.0), scores)
    raise UnsupportedError(f"post_transform {kind[:40]} is not supported")


def both(e: Expansion, score: str, *, is_share: bool) -> str:
    """The scores [N, 2] of both classes: [1 - p, p] if `score` is the second class's probability p, else [-s, s]."""
    other = e.node(Sub(), e.constant(np.array(1, np.float32)), score) if is_share else e.node(Neg(), score)
    return e.node(Concatenation(1), other, score)


def labels(a: Attributes, ints: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The labels of the classes as (integers, strings), one of them empty. ints: the attribute with integer labels."""
    numbers = tuple(int(v) for v in a.get(ints) or ())
    texts = tuple(a.get("classlabels_strings") or ())
    if bool(numbers) == bool(texts):
        raise CorruptModelError(f"exactly one of {ints} and classlabels_strings must be given")
    return numbers, texts


def label(e: Expansion, index: str, numbers: Sequence[int], texts: Sequence[str]) -> str:
    """The labels of the classes with these int64 indices [N]."""
    if texts:
        return e.text(index, texts)
    if tuple(numbers) == tuple(range(len(numbers))):
        return index
    return e.node(Gather(0), e.constant(np.array(numbers, np.int64)), index)


def positive(e: Expansion, score: str) -> str:
    """int64 [N]: 1 if a score [N, 1] is above 0, else 0."""
    zero = e.constant(np.zeros(e.type(score).shape, np.float32))
    return best(e, e.node(Concatenation(1), zero, score))


def best(e: Expansion, scores: str) -> str:
    """The index [N] of the largest of the scores [N, classes]; the first of equal scores."""
    return e.node(ArgMax(1, "s64"), scores)
