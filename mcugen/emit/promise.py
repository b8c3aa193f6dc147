"""The promise of each output of a model: how closely it matches the runtime's result. Stated in emitted files and
reports.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

from mcugen.ir.graph import Graph
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.oracle.interpreter import FLOAT_TOLERANCE, HALF_TOLERANCE, tolerance_text

REFERENCE_TITLES = {"tflm": "TensorFlow Lite Micro", "litert": "LiteRT's reference kernels", "ort": "ONNX Runtime"}


class Promise(Enum):
    """Kinds of promises, as text. {title}: the runtime. {near}: the tolerance of floats."""

    BITS = "the bits of {title}"
    ROUNDED = (
        "the real value of each quantized operator, rounded once; {title} may round one next to a half another way"
    )
    WIDE = "the integers of quantized operators, those on int16 as in TensorFlow Lite; {title} computes these in floats"
    NEAR = "results within {near} of {title}, relative to the magnitude of the sums"
    FROM_NEAR = "integers from floats within {near} of {title}'s: next to a step or a bound, another integer"


def promises_of(imported: Graph, reference: str, tabulated: Collection[str] = ()) -> list[Promise]:
    """The promise of each output, in order. imported: the graph before passes fold floats into steps.

    tabulated: imported floats whose readers became tables of the oracle's results.

    Computed floats, and all results that depend on them, are within a tolerance of the runtime's. Model inputs, copies
    of them, and results whose operator repeats the runtime's arithmetic are exact.
    """
    near: set[str | None] = set()
    for _ in range(2 if imported.states else 1):
        for node in imported.nodes:
            made = any(imported.type(name).is_float for name in node.outputs if name not in tabulated)
            repeated = node.op.repeats_runtime or node.op.keeps_values(imported.call(node, reference))
            if near.intersection(node.inputs) or (made and not repeated):
                near.update(node.outputs)
        near |= {state.before for state in imported.states if state.after in near}
    exact = Promise.ROUNDED if imported.rounds_once else Promise.BITS
    exact = Promise.WIDE if reference == "ort" and _is_wide(imported) else exact
    of_near = {name: Promise.NEAR if imported.type(name).is_float else Promise.FROM_NEAR for name in imported.outputs}
    return [of_near[name] if name in near else exact for name in imported.outputs]


def _is_wide(imported: Graph) -> bool:
    """Whether operators compute on int16 as TensorFlow Lite does, in a graph of another runtime."""
    for node in imported.nodes:
        is_stated = str(getattr(node.op, "rounding", "")) != ""
        if is_stated or node.op.only_moves or isinstance(node.op, IntegerRecurrent):
            continue
        types = [imported.type(name) for name in (*node.inputs, *node.outputs) if name is not None]
        is_integer = all(imported.type(name).quant is not None for name in node.outputs)
        if is_integer and any(t.dtype == "s16" and t.quant is not None for t in types):
            return True
    return False


def stated(promises: Sequence[Promise], labels: Sequence[str], title: str, *, halves: bool) -> str:
    """The promises of outputs as text. Outputs are listed one by one if their promises differ.

    labels: names of the outputs. title: name of the runtime. halves: whether floats are stored as half.
    """
    near = tolerance_text(HALF_TOLERANCE if halves else FLOAT_TOLERANCE)
    of: dict[Promise, list[str]] = {}
    for label, kind in zip(labels, promises, strict=True):
        of.setdefault(kind, []).append(f"'{label}'")
    words = {kind: kind.value.format(title=title, near=near) for kind in of}
    if len(words) == 1:
        return words.popitem()[1]
    return "; ".join(f"for {', '.join(of[kind])}: {text}" for kind, text in words.items())
