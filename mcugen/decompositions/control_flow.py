"""Branches and loops: subgraphs that are expanded in place, where what they depend on is known at build time."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import CorruptModelError, UnsupportedError
from mcugen.imports import Expansion, Import, Source

MAX_TRIPS = 1 << 12


def branch(source: Source, e: Expansion) -> Sequence[str]:
    """One of two subgraphs, by a constant. Source: TFLite IF; TensorFlow Lite Micro's if.cc."""
    a, operands = source.attributes, _operands(e)
    graphs = a["else_subgraph_index"], a["then_subgraph_index"]
    return e.call(graphs[_decision(e, operands[:1], "which branch runs depends on data")], operands[1:])


def loop(source: Source, e: Expansion) -> Sequence[str]:
    """A subgraph that is repeated while another is true, which has to be known. Source: TFLite WHILE; while.cc."""
    a = source.attributes
    condition, body = a["cond_subgraph_index"], a["body_subgraph_index"]
    values = _operands(e)
    for _ in range(MAX_TRIPS):
        if not _decision(e, e.call(condition, values), "how often the loop runs depends on data"):
            return values
        values = list(e.call(body, values))
    raise UnsupportedError(f"the loop has no end within {MAX_TRIPS} trips")


def _decision(e: Expansion, found: Sequence[str], why: str) -> bool:
    """The value of a condition. Raises UnsupportedError where it is not constant."""
    data = e.data(found[0]) if len(found) == 1 else None
    if len(found) != 1 or e.type(found[0]).size != 1:
        raise CorruptModelError("a condition is not one value")
    if data is None:
        raise UnsupportedError(why, hint="re-export the model with a constant condition")
    return bool(data.reshape(-1)[0])


def _operands(e: Expansion) -> list[str]:
    """All operands: values, and the variables among them."""
    found = [value or variable for value, variable in zip(e.inputs, e.variables, strict=True)]
    if None in found:
        raise CorruptModelError(f"operand {found.index(None)} is absent")
    return [str(name) for name in found]


IMPORTS = (Import("tflite", "IF", expand=branch), Import("tflite", "WHILE", expand=loop))
