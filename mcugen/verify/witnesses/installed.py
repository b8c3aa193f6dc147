"""Installed runtimes as witnesses: the runtime whose results the build claims computes the file itself.

Each operator of the oracle reads the runtime's own results of earlier operators. A difference then shows at its
operator, and float errors do not add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from pathlib import Path

import numpy as np

from mcugen.errors import ToolError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.machines.toolchain.runtimes import Answer, Key, Runtime
from mcugen.ops.quantize import Quantize
from mcugen.ops.reshape import Reshape
from mcugen.ops.signal_energy import SignalEnergy
from mcugen.ops.transpose import Transpose
from mcugen.options import RUNTIMES
from mcugen.oracle import interpreter
from mcugen.passes.layouts import in_file
from mcugen.verify import half_rounding
from mcugen.verify.cases import Case
from mcugen.verify.golden import numbered
from mcugen.verify.witnesses import onnx_file
from mcugen.verify.witnesses.own_forms import allowed
from mcugen.verify.witnesses.testimony import Record, Testimony

_INDEX = re.compile(r"t(\d+)")
_NEAR_SHARE = 2.0**-22
_SINGLE = 1e-4
"""Tolerance for floats that a runtime adds in single precision, with its own exponential functions."""


def check(data: bytes, folder: Path, graph: Graph, which: str, cases: Sequence[Case]) -> Testimony:
    """Compare every tensor that operators of the file compute.

    Raises ToolError if the runtime is not installed, refuses the model, or stops on every input.
    """
    named = _onnx_names(data, folder, graph) if graph.format == "onnx" else _tflite_names(graph)
    model = onnx_file.showing(data, folder, [str(name) for name in named.values()]) if graph.format == "onnx" else data
    masks = ((node.outputs[0], unwritten(node.op, graph.call(node, which))) for node in graph.nodes)
    free = {name: mask for name, mask in masks if mask is not None}
    apart = allowed(graph, which) if which == "ort" else {}
    record, stopped, tensors = Record(graph, _SINGLE if which == "ort" else None), [], tuple(named.values())
    with Runtime(which) as runtime:
        for case in cases:
            answer = runtime.run(model, [in_file(graph, graph.inputs, case.inputs)], tensors)
            if answer.refused:
                stopped.append(_note_stop(case, answer, which))
                continue
            given = {name: _given(graph, name, answer.tensors[0][key]) for name, key in named.items()}
            values = interpreter.run(graph, case.inputs, which, seen={n: a for n, a in given.items() if a is not None})
            record.comparison.begin_case(case.name, values)
            near = dict(_near(graph, values, given, which)) if which == "ort" else {}
            for name, theirs in given.items():
                if theirs is not None and name in free:
                    theirs = np.where(free[name], values[name], theirs)
                if theirs is not None:
                    place = f"{case.name} (oracle against {which})"
                    record.compare(place, name, values[name], theirs, near.get(name), apart.get(name, 0))
        version = runtime.version
    if len(stopped) == len(cases):
        raise ToolError(f"stopped on every input: {stopped[0]}", where=RUNTIMES[which])
    return record.testimony(version, len(named), tuple(stopped))


def _tflite_names(graph: Graph) -> Mapping[str, Key]:
    """The index in the file of each tensor that a node computes."""
    names = (name for node in graph.nodes for name in node.outputs)
    return {name: int(found[1]) for name in names if (found := _INDEX.fullmatch(name))}


def _onnx_names(data: bytes, folder: Path, graph: Graph) -> Mapping[str, Key]:
    """The file's name of each tensor that a node computes. Results that are not tensors are left out."""
    computed = {name for node in graph.nodes for name in node.outputs}
    file = onnx_file.OnnxFile(data, folder)
    made = {name for node in file.nodes for name in node.outputs} - file.no_tensors
    return {name: value for value, name in graph.values.items() if value in made and name in computed}


def _given(graph: Graph, name: str, theirs: np.ndarray) -> np.ndarray | None:
    """A runtime's tensor in the oracle's form; None for texts without known numbers."""
    t = graph.type(name)
    if theirs.dtype.kind in "USO":
        texts = graph.texts.get(graph.outputs.index(name), ()) if name in graph.outputs else ()
        return numbered(theirs.astype(str), texts) if texts else None
    if theirs.size == t.size and graph.format != "onnx":
        return theirs.reshape(t.shape)  # some libraries have no tensors of rank 0
    return theirs.astype(t.np_dtype) if theirs.dtype.kind == "f" else theirs


def _near(
    graph: Graph, values: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray | None], which: str
) -> Iterator[tuple[str, np.ndarray]]:
    """(tensor, mask of elements that are one step off and so near to a half that float32 may round differently)."""
    makers = {node.outputs[0]: node for node in graph.nodes}
    for name in makers:
        theirs = given.get(name)
        if theirs is None or values[name].dtype.kind not in "iu" or theirs.shape != values[name].shape:
            continue
        apart = np.abs(values[name].astype(np.int64) - theirs.astype(np.int64)) == 1
        near = _near_a_half(graph, makers, name, values, given, which) if apart.any() else None
        if near is not None:
            yield name, apart & near


def _near_a_half(
    graph: Graph,
    makers: Mapping[str, Node],
    name: str,
    values: Mapping[str, np.ndarray],
    given: Mapping[str, np.ndarray | None],
    which: str,
) -> np.ndarray | None:
    """A mask of a tensor's elements that are near to a half, also behind a movement of data that the file has not by
    name; None for tensors that are not rounded once.
    """
    node = makers[name]
    before = str(node.inputs[0])
    if isinstance(node.op, Reshape | Transpose) and before in makers and given.get(before) is None:
        mask = _near_a_half(graph, makers, before, values, given, which)
        return None if mask is None else np.asarray(node.op.reference(mask)).astype(bool)
    operands = [None if n is None else _seen(n, given, values) for n in node.inputs]
    call = graph.call(node, which)
    if isinstance(node.op, Quantize) and call.input(0).is_float and operands[0] is not None:
        steps: np.ndarray | None = operands[0].astype(np.float64) / np.float32(call.output.scale)
    else:
        steps = half_rounding.real_steps(call, operands) if half_rounding.rounds_once(node) else None
    if steps is None:
        return None
    distance = np.abs(steps - np.floor(steps) - 0.5)
    return np.asarray(distance <= np.maximum(half_rounding.near_of(node.op), np.abs(steps) * _NEAR_SHARE))


def _seen(name: str, given: Mapping[str, np.ndarray | None], values: Mapping[str, np.ndarray]) -> np.ndarray:
    found = given.get(name)
    return values[name] if found is None else found


def _note_stop(case: Case, answer: Answer, which: str) -> str:
    """A note on the input on which the runtime's process ended. Raises ToolError if it refuses the model."""
    if not answer.crashed:
        raise ToolError(f"refuses the model: {answer.refused}", where=RUNTIMES[which])
    return f"{case.name}: {answer.refused}"


@singledispatch
def unwritten(op: Op, call: Call) -> np.ndarray | None:
    """A mask of result elements that the runtime does not write; None if it writes all."""
    return None


@unwritten.register(SignalEnergy)
def _(op: SignalEnergy, call: Call) -> np.ndarray | None:
    k = np.arange(call.output.size)
    return ((k < op.start) | (k >= op.end)).reshape(call.output.shape)
