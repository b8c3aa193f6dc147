"""Distances of vectors from the rows of a constant matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops.sqrt import Sqrt

KINDS = ("SQUARES", "MAGNITUDES", "LARGEST")
_METRICS = {"sqeuclidean": 0, "euclidean": 0, "cityblock": 1, "manhattan": 1, "chebyshev": 2}


def from_cdist(source: Source, e: Expansion) -> Sequence[str]:
    """Distances between the rows of two matrices. Source: com.microsoft CDist-1."""
    metric = source.attributes.get("metric", "sqeuclidean")
    if metric not in _METRICS or len(e.inputs) != 2:
        raise UnsupportedError(f"metric {metric[:40]!r} is not supported")
    y = e.node(Distances(KINDS[_METRICS[metric]]), *e.inputs)
    return [e.node(Sqrt(), y) if metric == "euclidean" else y]


def constant_rows(call: Call) -> bool:
    "the second operand, the rows, is constant"
    return call.constants[1] is not None


def one_vector(call: Call) -> bool:
    "`rows_first` is not set, or there is one vector"
    return not call.op.rows_first or call.input(0).shape[0] == 1


def params(call: Call) -> Params:
    rows = call.constant(1)
    return {"rows": rows, "count": rows.shape[0], "length": rows.shape[1]}


@dataclass(frozen=True)
class Distances(Op):
    """y[n, s] = sum over k of (x[n, k] - w[s, k])**2, sum of |x[n, k] - w[s, k]|, or largest |x[n, k] - w[s, k]|.

    x: f32 [N, K]   w: f32 [S, K]   y: f32 [N, S]; with rows_first [S, N], y[s, n]
    kind: SQUARES, MAGNITUDES or LARGEST.
    Source: ONNX ai.onnx.ml SVMClassifier-1 (RBF), com.microsoft CDist-1.
    """

    kind: str = "SQUARES"
    rows_first: bool = False

    tflm_types = litert_types = dtypes("")
    imports = (Import("onnx", "com.microsoft:CDist", expand=from_cdist),)
    kernels = (
        Kernel(
            "mg_distances_f32",
            Run(lambda call: call.input(0).shape[0]),
            accepts=(constant_rows, one_vector),
            params=params,
            operands=(0,),
            text=Text(lambda call: {"kind": KINDS.index(call.op.kind)}),
        ),
    )

    def infer(self, x: TensorType | None, w: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or w is None or len(x.shape) != 2 or len(w.shape) != 2 or x.shape[1] != w.shape[1]:
            raise ShapeError(f"vectors {x} and rows {w} must be [N, K] and [S, K]")
        if x.dtype != "f32" or w.dtype != "f32" or self.kind not in KINDS:
            raise UnsupportedError(f"distances {self.kind} of {x.dtype} data are not supported")
        shape = (x.shape[0], w.shape[0])
        return (TensorType(shape[::-1] if self.rows_first else shape, "f32"),)

    def reference(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        apart = np.abs(x[:, None] - w[None])
        if self.kind == "LARGEST":
            found = apart.max(axis=2)
        else:
            found = (apart**2 if self.kind == "SQUARES" else apart).sum(axis=2)
        return np.asarray(found.T if self.rows_first else found)

    def macs(self, call: Call) -> int:
        return call.output.size * call.input(1).shape[1]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(op, (x, w), op.infer(x, w), {1: None}, k)
            for k, (kind, n, s, length) in enumerate(_CASES)
            for op in (cls(kind), cls(kind, rows_first=True))[: 2 if n == 1 else 1]
            for x, w in [(TensorType((n, length), "f32"), TensorType((s, length), "f32"))]
        ]


_CASES = (("SQUARES", 1, 7, 5), ("SQUARES", 3, 1, 1), ("MAGNITUDES", 2, 3, 17), ("LARGEST", 2, 5, 3))
