# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime without graph optimisation, as the witness of random models."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.graph import Graph
from tests.random.drawing import Drawn, Sets, UnjudgedError

TOLERANCE = 1e-5
"""Of floats that are not exact, as a share of the largest finite value of the output."""


def session(data: bytes) -> Any:
    """The model in ONNX Runtime. Raises UnjudgedError where it refuses it."""
    import onnxruntime

    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads, chosen.log_severity_level = 1, 4
    chosen.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(data, chosen, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise UnjudgedError(str(error)) from error


def outputs(data: bytes, sets: Sets) -> list[list[np.ndarray]]:
    """The runtime's outputs for each set. Raises UnjudgedError."""
    network = session(data)
    names = [value.name for value in network.get_inputs()]
    try:
        return [network.run(None, dict(zip(names, arrays, strict=True))) for arrays in sets]
    except Exception as error:
        raise UnjudgedError(str(error)) from error


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """The first difference of the oracle from ONNX Runtime."""
    for k, (got, want) in enumerate(zip(oracle, outputs(drawn.data, drawn.sets), strict=True)):
        for j, (a, b) in enumerate(zip(got, want, strict=True)):
            if text := first_difference(a, np.asarray(b), TOLERANCE):
                return f"set {k}, output {j}: {text}"
    return ""


def first_difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """The difference of two arrays, "" for none: floats within the tolerance of the largest, all others equal."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {list(got.shape)} is not {want.dtype} {list(want.shape)}"
    if got.dtype.kind == "f":
        largest = float(np.abs(want[np.isfinite(want)]).max(initial=0.0))
        wrong = ~np.isclose(got, want, rtol=0.0, atol=tolerance * largest, equal_nan=True)
    else:
        wrong = got != want
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"element {list(at)} is {got[at]}, the runtime's {want[at]} ({int(wrong.sum())} of {wrong.size} differ)"
