"""PairwiseCoupling: probabilities of classes, computed from the probabilities of pairs of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes

ROUNDS = 100
"""The most iterations."""


def params(call: Call) -> Params:
    return {"classes": call.op.classes, "pairs": call.input(0).shape[1]}


def scratch(call: Call) -> int:
    """Scratch in bytes: a float matrix [classes, classes] and a vector [classes]."""
    classes: int = call.op.classes
    return 4 * classes * (classes + 1)


@dataclass(frozen=True)
class PairwiseCoupling(Op):
    """y[n] = the probabilities of `classes` classes that best fit the pairs' probabilities, by float32 iteration.

    x: f32 [N, pairs], the probability of the first of each pair of classes, (0, 1), (0, 2), ...   y: f32 [N, classes]
    Source: ONNX ai.onnx.ml SVMClassifier-1 with prob_a; onnxruntime, ml_common.h, multiclass_probability (Wu, Lin,
    Weng: Probability estimates for multi-class classification by pairwise coupling).
    """

    classes: int

    tflm_types = litert_types = dtypes("")
    kernels = (
        Kernel(
            "mg_pairwise_coupling_f32",
            Run(lambda call: call.input(0).shape[0]),
            params=params,
            scratch=scratch,
            short="coupling_f32",
        ),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        pairs = self.classes * (self.classes - 1) // 2
        if x is None or len(x.shape) != 2 or x.shape[1] != pairs or self.classes < 2:
            raise ShapeError(f"the probabilities of pairs must have the shape [N, {pairs}], not {x}")
        if x.dtype != "f32":
            raise UnsupportedError(f"probabilities of {x.dtype} are not supported")
        return (TensorType((x.shape[0], self.classes), "f32"),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.stack([self._coupled(row.astype(np.float32)) for row in x])

    def _coupled(self, row: np.ndarray) -> np.ndarray:
        """The iteration for one vector. Each operation rounds to float32: the roundings decide when it ends."""
        n, f = self.classes, np.float32
        share = np.zeros((n, n), np.float32)
        for (i, j), value in zip(combinations(range(n), 2), row, strict=True):
            share[i, j], share[j, i] = value, f(1) - value
        q = -share.T * share
        for i in range(n):
            q[i, i] = f(0)
            for j in (*range(i), *range(i + 1, n)):
                q[i, i] += share[j, i] * share[j, i]
        p = np.full(n, f(1) / f(n), np.float32)
        for _ in range(ROUNDS):
            products, total = _products(q, p)
            if np.abs(products - total).max() < f(0.005) / f(n):
                break
            for i in range(n):
                step = (total - products[i]) / q[i, i]
                p[i] += step
                grown = f(1) + step
                total = (total + step * (step * q[i, i] + f(2) * products[i])) / grown / grown
                products = (products + step * q[i]) / grown
                p = p / grown
        return p

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return ()


def _products(q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """(Q p, p Q p), summed in index order."""
    products, total = np.zeros(len(p), np.float32), np.float32(0)
    for i in range(len(p)):
        for j in range(len(p)):
            products[i] += q[i, j] * p[j]
        total += p[i] * products[i]
    return products, total
