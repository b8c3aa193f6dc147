# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on what is written as ONNX: every example of every operator, and every operator of whole models.

usage: python -m tests.formats.writing.soak [--models FOLDER]     with a Python that has onnxruntime
  --models FOLDER   also every FOLDER/*/model.* that can be written, simplified as for any core

Floats are within 1e-5 of the reference's largest, integers within a step of it, or of the real value. Prints what was
compared and how many integers are a step apart; exit status 1 for any larger difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mcugen.errors import McugenError
from mcugen.formats import registry
from mcugen.formats.read import load
from mcugen.formats.write import write
from mcugen.ir.graph import Graph
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.cast import Cast
from mcugen.ops.div import Div
from mcugen.ops.softmax import Softmax
from mcugen.oracle import interpreter
from tests.formats.writing import onnx_cases
from tests.formats.writing.onnx_cases import Arrays, Verdict, Written
from tests.formats.writing.simplifying import simplified

SETS = 4
_EXTENSIONS = ("model.onnx", "model.tflite", "model_float.tflite")


def loaded_model(data: bytes) -> object:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(data: bytes, names: tuple[list[str], list[str]], sets: Iterable[Arrays]) -> list[Arrays]:
    """The results of ONNX Runtime for each set of inputs."""
    loaded = loaded_model(data)
    return [loaded.run(names[1], dict(zip(names[0], arrays, strict=True))) for arrays in sets]  # type: ignore[attr-defined]


def judged(cases: Iterable[Written]) -> Verdict:
    """All cases in one verdict; prints those that are wrong."""
    total = Verdict()
    for case in cases:
        sets = [arrays for arrays in case.inputs if not _is_undefined(case.graph, arrays)]
        try:
            found = run(case.data, case.names, sets)
        except Exception as error:
            total.fault = str(error)
            print(f"{case.label}: {str(error)[:300]}")
            continue
        for arrays, results in zip(sets, found, strict=True):
            verdict = onnx_cases.judge(case, arrays, results)
            total.values, total.steps = total.values + verdict.values, total.steps + verdict.steps
            total.worst = max(total.worst, verdict.worst)
            if verdict.fault:
                total.fault = verdict.fault
                print(f"{case.label}: {verdict.fault}")
    return total


def _is_undefined(graph: Graph, arrays: Arrays) -> bool:
    """Whether integers are divided by zero, at which the runtime stops, or made of floats that are too large."""
    if any(isinstance(node.op, Div | Arithmetic) for node in graph.nodes):
        return any(a.dtype.kind in "iu" and not a.all() for a in arrays)
    casts = [graph.type(node.outputs[0]) for node in graph.nodes if isinstance(node.op, Cast)]
    bounds = [t.limits for t in casts if not t.is_float and t.dtype != "bool"]
    floats = [a for a in arrays if a.dtype.kind == "f"]
    return any(a.max(initial=0) >= high or a.min(initial=0) < low for low, high in bounds for a in floats)


def of_model(path: Path) -> tuple[Verdict, str] | None:
    """All operators of a model, each on the operands of the reference; None where it is not written."""
    graph = simplified(load(path, registry.load()))
    reference_name = "ort" if graph.format == "onnx" else "litert"
    try:
        data = write(graph, "onnx")
    except McugenError as error:
        print(f"{path}: {error}")
        return None
    rng, inputs = np.random.default_rng(1), []
    for t in (graph.type(name) for name in graph.inputs):
        drawn = rng.normal(size=t.shape) if t.is_float else rng.integers(*t.limits, size=t.shape, endpoint=True)
        inputs.append(drawn.astype(t.np_dtype))
    verdict = judged(onnx_cases.nodes(graph, inputs, reference_name))
    asked = _with_operands_of_softmax(graph)
    written = write(asked, "onnx")
    whole = Written(str(path), asked, written, _ends(written), (inputs,))
    (found,) = run(whole.data, whole.names, [inputs])
    apart = _apart(whole, found, reference_name)
    if apart > onnx_cases.TOLERANCE and all(graph.type(name).is_float for name in graph.tensors):
        verdict.fault = f"an error of {apart:.1e}"
        print(f"{path}: {verdict.fault}")
    return verdict, f"{len(data)} bytes, {_transposes(data)} transposes, outputs {apart:.1e} apart"


def _with_operands_of_softmax(graph: Graph) -> Graph:
    """The graph with what each softmax reads as a further output: between large values, it makes much of a last bit."""
    read = [str(node.inputs[0]) for node in graph.nodes if isinstance(node.op, Softmax)]
    computed = {name for node in graph.nodes for name in node.outputs}
    return graph.updated(outputs=tuple(dict.fromkeys((*graph.outputs, *(name for name in read if name in computed)))))


def _apart(whole: Written, found: Arrays, reference_name: str) -> float:
    """The largest difference of the outputs: steps of integers, or relative to the largest float. Operators that read
    one of them read what was found.
    """
    seen = dict(zip(whole.graph.outputs, found, strict=True))
    values = interpreter.run(whole.graph, whole.inputs[0], reference_name, seen=seen)
    apart = [0.0]
    for name, y in seen.items():
        want = values[name]
        steps = np.abs(want.astype(np.float64) - y).max(initial=0.0)
        apart.append(onnx_cases.error(want, y) if want.dtype.kind == "f" else float(steps))
    return max(apart)


def _ends(data: bytes) -> tuple[list[str], list[str]]:
    """The names of a file's inputs and outputs."""
    import onnx

    graph = onnx.load_from_string(data).graph
    return [value.name for value in graph.input], [value.name for value in graph.output]


def _transposes(data: bytes) -> int:
    import onnx

    return sum(node.op_type == "Transpose" for node in onnx.load_from_string(data).graph.node)


def main(arguments: list[str]) -> int:
    faults = 0
    for op in onnx_cases.operators():
        verdict = judged(onnx_cases.written(op, SETS))
        faults += bool(verdict.fault)
        print(f"{op.__name__}: {verdict.values} values, {verdict.steps} a step apart, floats {verdict.worst:.1e}")
    folder = Path(arguments[1]) if arguments[:1] == ["--models"] else None
    for path in [] if folder is None else sorted(p for name in _EXTENSIONS for p in folder.glob(f"*/{name}")):
        try:
            found = of_model(path)
        except McugenError as error:
            print(f"{path}: {error}")
            continue
        if found is not None:
            verdict, size = found
            faults += bool(verdict.fault)
            print(f"{path}: {size}, {verdict.values} values, {verdict.steps} a step apart, floats {verdict.worst:.1e}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
