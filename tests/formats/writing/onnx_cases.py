# SPDX-License-Identifier: Apache-2.0
"""Examples of operators as .onnx files, with inputs, and what results are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.formats import registry
from mcugen.formats.write import write
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.oracle import interpreter
from tests.support.cases import folded, graph_of
from tests.support.draw import input_sets

TOLERANCE = 1e-5
_LEAST = 1e-6
"""The largest magnitude below which floats are compared as they are: exponentials near 1 round by that."""
Arrays = list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Written:
    """An example that was written. names: those of the file's inputs and outputs."""

    label: str
    graph: Graph
    data: bytes
    names: tuple[list[str], list[str]]
    inputs: tuple[Arrays, ...]


def operators() -> list[type[Op]]:
    """The operators that can be written as ONNX."""
    return [op for op in registry.own() if any(entry.format == "onnx" for entry in op.writes)]


def written(op: type[Op], sets: int) -> Iterator[Written]:
    """The examples of an operator that the format can say."""
    for k, example in enumerate(op.examples()):
        if folded(example) is not None:
            continue
        graph = graph_of(example)
        try:
            data = write(graph, "onnx")
        except UnsupportedError:
            continue
        types = [graph.type(name) for name in graph.inputs]
        inputs = tuple(arrays for _, arrays in input_sets(types, example.seed, sets))
        names = tuple([graph.tensors[n].label or n for n in ends] for ends in (graph.inputs, graph.outputs))
        yield Written(f"{op.__name__} {k}: {example.op} of {types}", graph, data, (names[0], names[1]), inputs)


def nodes(graph: Graph, inputs: Arrays, reference_name: str) -> Iterator[Written]:
    """Each node of a network as a file of its own, with the operands that it has for these inputs of the network."""
    values = interpreter.run(graph, inputs, reference_name)
    for node in graph.nodes:
        computed = [n for n in dict.fromkeys(node.inputs) if n is not None and not graph.tensors[n].is_constant]
        used = {*(n for n in node.inputs if n is not None), *node.outputs}
        tensors = {n: replace(t, label=n) for n, t in graph.tensors.items() if n in used}
        one = Graph("node", tensors, (node,), tuple(computed), node.outputs, format=graph.format)
        ends = (computed, list(node.outputs))
        given = [np.asarray(values[n]) for n in computed]
        yield Written(f"{node.source} {type(node.op).__name__}", one, write(one, "onnx"), ends, (given,))


@dataclass
class Verdict:
    """The result of a comparison. steps: count of integers one step apart; worst: the largest error of floats."""

    values: int = 0
    steps: int = 0
    worst: float = 0.0
    fault: str = ""


def judge(case: Written, inputs: Arrays, got: Sequence[np.ndarray]) -> Verdict:
    """Compare results with the reference: floats within 1e-5 of the largest, integers within a step.

    A runtime's integers may themselves be off: sums wrap, tables are coarse. There the real value must be a step away.
    """
    verdict, real = Verdict(), None
    values = interpreter.run(case.graph, inputs, "litert")
    for k, (name, y) in enumerate(zip(case.graph.outputs, got, strict=True)):
        want = values[name]
        verdict.values += want.size
        if (want.shape, want.dtype) != (y.shape, y.dtype):
            verdict.fault = f"{y.dtype} {list(y.shape)}, not {want.dtype} {list(want.shape)}"
        elif want.dtype.kind == "f":
            verdict.worst = max(verdict.worst, error(want, y))
        else:
            apart = np.abs(want.astype(np.int64) - y.astype(np.int64))
            verdict.steps += int((apart == 1).sum())
            if (apart > 1).any() and real is None:
                real = real_steps(case.graph, inputs)
            if real is not None and not (np.abs(real[k] - y)[apart > 1] <= 1).all():
                verdict.fault = f"{int(apart.max())} steps apart"
    if verdict.worst > TOLERANCE:
        verdict.fault = f"an error of {verdict.worst:.1e}"
    return verdict


def error(want: np.ndarray, got: np.ndarray) -> float:
    """The largest difference, relative to the largest finite value wanted."""
    with np.errstate(invalid="ignore", over="ignore"):
        same = (want == got) | (np.isnan(want) & np.isnan(got))
        apart = np.where(same, 0.0, np.abs(want.astype(np.float64) - got))
    largest = np.abs(want[np.isfinite(want)]).max(initial=_LEAST)
    return float(np.nan_to_num(apart / largest, nan=np.inf).max(initial=0.0))


def real_steps(graph: Graph, inputs: Arrays) -> Arrays:
    """The steps nearest to the real values of the only node's results, for exact real operands."""
    (node,) = graph.nodes
    given = dict(zip(graph.inputs, inputs, strict=True))
    operands: list[np.ndarray | None] = []
    for k, name in enumerate(node.inputs):
        data = None if name is None else given.get(name, graph.tensors[name].data)
        t = None if name is None else graph.type(name)
        sums = k > max(node.op.weight_operands, default=k) and t is not None and not t.is_float
        scale = _sum_scale(graph, node.inputs) if sums else None
        operands.append(data if data is None or t is None else _real(data, t, scale))
    found = node.op.reference(*operands)
    results = found if isinstance(found, tuple) else (found,)
    return [_steps(y, graph.type(name)) for y, name in zip(results, node.outputs, strict=True)]


def _sum_scale(graph: Graph, names: Sequence[str | None]) -> np.ndarray:
    quants = [graph.type(str(name)).quant for name in names[:2]]
    scales = [np.array(quant.scale, np.float32).astype(np.float64) for quant in quants if quant is not None]
    return np.asarray(scales[0] * scales[1])


def _real(data: np.ndarray, t: TensorType, scale: np.ndarray | None) -> np.ndarray:
    if scale is not None:
        return np.asarray(data * scale)
    if t.quant is None:
        return data.astype(np.float64)
    along = [1] * data.ndim
    if t.quant.per_channel:
        along[t.quant.axis] = -1
    zeros, scales = np.array(t.quant.zero_point), np.array(t.quant.scale, np.float32).astype(np.float64)
    if not along:
        return np.asarray((data - zeros[0]) * scales[0])
    return np.asarray((data.astype(np.int64) - zeros.reshape(along)) * scales.reshape(along))


def _steps(y: np.ndarray, t: TensorType) -> np.ndarray:
    if t.quant is None:
        return y
    steps = np.rint(y / float(np.float32(t.scale))) + t.zero_point
    return np.asarray(np.clip(steps, *t.limits))
