"""Branches and loops: subgraphs that are expanded in place, if their conditions are constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.pack import Pack
from mcugen.ops.unpack import Unpack

MAX_TRIPS = 1 << 12


def branch(source: Source, e: Expansion) -> Sequence[str]:
    """One of two subgraphs, chosen by a constant. Source: TFLite IF; TensorFlow Lite Micro's if.cc."""
    a, operands = source.attributes, _operands(e)
    graphs = a["else_subgraph_index"], a["then_subgraph_index"]
    return e.call(graphs[_decision(e, operands[:1], "which branch runs depends on data")], operands[1:])


def loop(source: Source, e: Expansion) -> Sequence[str]:
    """A subgraph repeated while a second one returns true, which must be a constant. Source: TFLite WHILE; while.cc."""
    a = source.attributes
    condition, body = a["cond_subgraph_index"], a["body_subgraph_index"]
    values = _operands(e)
    for _ in range(MAX_TRIPS):
        if not _decision(e, e.call(condition, values), "how often the loop runs depends on data"):
            return values
        values = list(e.call(body, values))
    raise UnsupportedError(f"the loop does not end within {MAX_TRIPS} iterations")


def chosen(source: Source, e: Expansion) -> Sequence[str]:
    """One of two subgraphs, chosen by a constant. Source: ONNX If-21."""
    a = source.attributes
    graphs = a["else_branch"], a["then_branch"]
    return e.call(graphs[_decision(e, _operands(e), "which branch runs depends on data")], ())


def repeated(source: Source, e: Expansion) -> Sequence[str]:
    """A subgraph repeated while its condition, which must be constant, holds. Source: ONNX Loop-21."""
    limit, going, *values = (*e.inputs, None, None)[: max(len(e.inputs), 2)]
    trips = MAX_TRIPS + 1 if limit is None else _whole(e, limit)
    body, state = source.attributes["body"], [str(value) for value in values]
    rows: list[list[str]] = []
    holds = going is None or _decision(e, [going], "how often the loop runs depends on data")
    while holds and len(rows) < trips:
        if len(rows) == MAX_TRIPS:
            raise UnsupportedError(f"the loop does not end within {MAX_TRIPS} iterations")
        again = e.constant(np.array(True)) if going is None else going
        found = e.call(body, [e.constant(np.array(len(rows), np.int64)), again, *state])
        going, state = found[0], list(found[1 : 1 + len(state)])
        rows.append(list(found[1 + len(state) :]))
        holds = _decision(e, [going], "how often the loop runs depends on data")
    if not rows and source.results > len(state):
        raise UnsupportedError("a loop that never runs is not supported: its results have no size")
    return [*state, *(_stacked(e, part, 0) for part in zip(*rows, strict=True))]


def scanned(source: Source, e: Expansion) -> Sequence[str]:
    """A subgraph run on each slice of some operands, with a state from slice to slice. Source: ONNX Scan-9."""
    a, operands = source.attributes, _operands(e)
    count = a["num_scan_inputs"]
    if not 1 <= count <= len(operands):
        raise CorruptModelError(f"num_scan_inputs is {count}, but there are {len(operands)} operands")
    state, scanned = operands[: len(operands) - count], operands[len(operands) - count :]
    slices = [
        _slices(e, x, axis, bool(back))
        for x, axis, back in zip(
            scanned, a["scan_input_axes"] or (0,) * count, a["scan_input_directions"] or (0,) * count, strict=True
        )
    ]
    if len({len(part) for part in slices}) != 1:
        raise CorruptModelError("the scanned operands differ in length")
    rows: list[list[str]] = []
    for parts in zip(*slices, strict=True):
        found = list(e.call(a["body"], [*state, *parts]))
        rows.append(found[len(state) :])
        state = found[: len(state)]
    results = len(rows[0])
    axes, back = a["scan_output_axes"] or (0,) * results, a["scan_output_directions"] or (0,) * results
    columns = list(zip(*rows, strict=True))
    return [*state, *(_stacked(e, c[::-1] if b else c, axis) for c, axis, b in zip(columns, axes, back, strict=True))]


def _slices(e: Expansion, x: str, axis: int, back: bool) -> list[str]:
    """The slices of a tensor along an axis, from its end if `back`."""
    shape = e.type(x).shape
    if not -len(shape) <= axis < len(shape) or shape[axis] > MAX_TRIPS:
        raise UnsupportedError(f"axis {axis} of {list(shape)} does not exist, or has more than {MAX_TRIPS} slices")
    found = list(e.nodes(Unpack(axis % len(shape), shape[axis]), x))
    return found[::-1] if back else found


def _stacked(e: Expansion, parts: Sequence[str], axis: int) -> str:
    return e.node(Pack(axis), *parts)


def _whole(e: Expansion, name: str) -> int:
    data = e.data(name)
    if data is None or data.size != 1:
        raise UnsupportedError("how often the loop runs depends on data", hint="make the number of trips a constant")
    return int(data.reshape(-1)[0])


def _decision(e: Expansion, found: Sequence[str], why: str) -> bool:
    """The value of a condition. Raises UnsupportedError with the text `why` if it is not constant."""
    data = e.data(found[0]) if len(found) == 1 else None
    if len(found) != 1 or e.type(found[0]).size != 1:
        raise CorruptModelError("a condition must have one element")
    if data is None:
        raise UnsupportedError(why, hint="re-export the model with a constant condition")
    return bool(data.reshape(-1)[0])


def _operands(e: Expansion) -> list[str]:
    """All operands: tensors, or variables of the file."""
    variables = e.variables or (None,) * len(e.inputs)
    found = [value or variable for value, variable in zip(e.inputs, variables, strict=True)]
    if None in found:
        raise CorruptModelError(f"operand {found.index(None)} is absent")
    return [str(name) for name in found]


IMPORTS = (
    Import("tflite", "IF", expand=branch, halves=True),
    Import("tflite", "WHILE", expand=loop, halves=True),
    Import("onnx", "If", expand=chosen),
    Import("onnx", "Loop", expand=repeated),
    Import("onnx", "Scan", since=9, expand=scanned),
)
