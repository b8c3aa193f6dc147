# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime without graph optimisation, as the witness of random models."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.verify import golden
from tests.random.drawing import Drawn, Sets, UnjudgedError

TOLERANCE = 1e-5
"""Tolerance of floats as a share of the largest finite value of an output, at least of 1: what is added may cancel."""

WIDER = {"kernel=poly": 1e-4, "kernel=linear": 1e-4, "CDist": 2.0**-11}
"""The tolerance where much cancels: sums of support vectors, whose terms may be a thousand times larger, and distances
that ONNX Runtime takes as the root of the difference of squares of float32, so that half of their digits are left.
"""


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
    return compared(drawn, graph, oracle, plain_outputs(drawn))


def plain_outputs(drawn: Drawn) -> list[list[np.ndarray]]:
    """The runtime's outputs for each set as arrays: the values of maps, texts as unicode. Raises UnjudgedError."""
    orders = _map_orders(drawn.data)
    return [[_plain(y, orders[j]) for j, y in enumerate(found)] for found in outputs(drawn.data, drawn.sets)]


def compared(drawn: Drawn, graph: Graph, oracle: Sets, wanted: Sets) -> str:
    """The first difference of the oracle's outputs from those of the runtime."""
    tolerance = 0.0 if drawn.exact else max([TOLERANCE, *(WIDER.get(word, 0.0) for word in drawn.label.split())])
    for k, (got, want) in enumerate(zip(oracle, wanted, strict=True)):
        for j, (a, b) in enumerate(zip(got, want, strict=True)):
            if text := first_difference(a, golden.numbered(b, graph.texts.get(j, ())), tolerance):
                return f"set {k}, output {j}: {text}"
    return ""


def _map_orders(data: bytes) -> list[list[Any]]:
    """The labels of each output that is a list of maps, in the order of the scores; [] for all others."""
    import onnx

    graph = onnx.load_from_string(data).graph
    maps = {node.output[0]: node for node in graph.node if node.op_type == "ZipMap"}
    return [_labels(maps[value.name]) if value.name in maps else [] for value in graph.output]


def _labels(node: Any) -> list[Any]:
    import onnx

    listed = [onnx.helper.get_attribute_value(a) for a in node.attribute if a.name.startswith("classlabels")]
    return [label.decode() if isinstance(label, bytes) else label for label in listed[0]]


def _plain(result: Any, order: list[Any]) -> np.ndarray:
    """An output as an array: the values of maps, texts as unicode."""
    if isinstance(result, list):
        return np.array([[row[label] for label in order] for row in result], np.float32)
    found = np.asarray(result)
    return found.astype("U") if found.dtype == object else found


def first_difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """The difference of two arrays, "" for none: floats within the tolerance of the largest, all others equal."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {list(got.shape)} is not {want.dtype} {list(want.shape)}"
    if got.dtype.kind == "f":
        largest = float(np.abs(want[np.isfinite(want)]).max(initial=1.0))
        wrong = ~np.isclose(got, want, rtol=0.0, atol=tolerance * largest, equal_nan=True)
    else:
        wrong = got != want
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"element {list(at)} is {got[at]}, the runtime's {want[at]} ({int(wrong.sum())} of {wrong.size} differ)"
