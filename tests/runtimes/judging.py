# SPDX-License-Identifier: Apache-2.0
"""Asks both runtimes about a model and compares: what they refuse, and every output against the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.errors import InternalError, McugenError, ModelError
from mcugen.formats import registry
from mcugen.formats.tflite import read
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain.runtimes import Answer, Runtime
from mcugen.oracle import interpreter
from tests.runtimes.sketch import Drawn

REFERENCES = ("litert", "tflm")
Sets = Sequence[Sequence[np.ndarray]]
_MISREADS = "it reads"
"""A phrase in the reasons for calls that a runtime does run, with results that may be right by chance."""

FLOAT_TOLERANCE = 1e-5
"""Share of the largest magnitude among a model's inputs and outputs: what is summed may cancel."""

HALF_TOLERANCE = 2e-3
"""Largest error where the runtime computes in float16, and mcugen in float32: two float16 steps."""


@dataclass(frozen=True)
class Judgement:
    """outcome: "equal", "refused" (by mcugen, with `why`) or "wrong", with what is wrong."""

    label: str
    outcome: str
    why: str = ""


def imported(model: bytes) -> Graph:
    return read.load(model, registry.load(), path=Path("m.tflite"), sha256="", shapes={})


def judge(drawn: Drawn, runtimes: Mapping[str, Runtime]) -> Judgement:
    """Whether mcugen computes what the runtimes do, or refuses the model."""
    try:
        graph = imported(drawn.model)
    except InternalError as error:
        return Judgement(drawn.label, "wrong", str(error))
    except McugenError as error:
        return Judgement(drawn.label, "refused", str(error).splitlines()[-1].strip())
    answers = {which: runtimes[which].run(drawn.model, drawn.sets) for which in REFERENCES}
    try:
        oracle = {which: outputs_of(graph, drawn.sets, which) for which in REFERENCES}
    except ModelError as error:
        return Judgement(drawn.label, "refused", str(error))
    found = [text for which in REFERENCES for text in compared(graph, which, drawn.sets, answers[which], oracle[which])]
    return Judgement(drawn.label, "wrong" if found else "equal", "; ".join(found))


def outputs_of(graph: Graph, sets: Sets, which: str) -> list[list[np.ndarray]]:
    """The oracle's outputs of each input set."""
    found = (interpreter.run(graph, [widened(a) for a in arrays], which) for arrays in sets)
    return [[values[name] for name in graph.outputs] for values in found]


def widened(array: np.ndarray) -> np.ndarray:
    """Numbers as mcugen takes them: float16 of a file is float32 there."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def compared(graph: Graph, which: str, sets: Sets, answer: Answer, oracle: Sets) -> list[str]:
    """Wrong assumptions of the build about a runtime: its refusals, or its results.

    A runtime that computes nonsense, as LiteRT's sum of int8, counts as one that refuses.
    """
    predicted = graph.refusals[which]
    if answer.refused:
        return [] if predicted else [f"{which} refuses: {answer.refused}"]
    pairs = zip(oracle, answer.outputs, strict=True)
    found = [f"{which} set {k}: {text}" for k, (got, want) in enumerate(pairs) if (text := _first(got, want, sets[k]))]
    if predicted and not found and not any(_MISREADS in why for why in predicted):
        return [f"{which} runs, mcugen says: {predicted[0]}"]
    return [] if predicted else found[:1]


def _first(got: Sequence[np.ndarray], want: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> str:
    scale = magnitude([*want, *inputs])
    return next((text for a, b in zip(got, want, strict=True) if (text := first_difference(a, b, scale))), "")


def magnitude(arrays: Sequence[np.ndarray]) -> float:
    """The largest finite float, or one where all are smaller."""
    floats = [np.abs(a[np.isfinite(a)]) for a in arrays if a.dtype.kind == "f"]
    return max([1.0, *(float(a.max(initial=0.0)) for a in floats)])


def first_difference(got: np.ndarray, want: np.ndarray, scale: float) -> str:
    """The difference of two outputs, "" for none: integers bit for bit, floats within the tolerance of `scale`."""
    tolerance = HALF_TOLERANCE if want.dtype == np.float16 else FLOAT_TOLERANCE
    want = widened(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {list(got.shape)} is not {want.dtype} {list(want.shape)}"
    if got.dtype.kind != "f":
        wrong = got != want
    else:
        wrong = ~np.isclose(got, want, rtol=0.0, atol=tolerance * scale, equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"element {list(at)} is {got[at]}, the runtime's {want[at]} ({int(wrong.sum())} of {wrong.size} differ)"
