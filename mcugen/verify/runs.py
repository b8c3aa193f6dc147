"""The runs of a case: one run without states, otherwise a sequence of runs on one model object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import Inputs, overlapping
from mcugen.pipeline import Artifact
from mcugen.verify.cases import Case


class Start(IntEnum):
    """State of the model object before a run: unchanged, filled with garbage, or reset."""

    GO_ON = 0
    GARBAGE = 1
    RESET = 2


AFTER_RESET = 3
"""Number of runs repeated after a reset, beginning with the initial states."""


@dataclass(frozen=True, eq=False)
class OracleRun:
    """One run, with the tensors that the oracle computes in it."""

    start: Start
    inputs: Inputs
    oracle: dict[str, np.ndarray]


def sequence_of(artifact: Artifact, case: Case) -> list[OracleRun]:
    """The runs of a case in order; a single run if the model has no states.

    For a model fed by frames, each further run gets one new frame.
    """
    graph, view = artifact.imported, artifact.view
    calls = case.calls if graph.states else (case.inputs,)
    if view.streams and view.push:
        calls = tuple(overlapping(calls, view.push.input))
    values = interpreter.runs(graph, calls, view.reference)
    return [
        OracleRun(Start.GO_ON if k else Start.GARBAGE, inputs, oracle)
        for k, (inputs, oracle) in enumerate(zip(calls, values, strict=True))
    ]


def runs_of(artifact: Artifact, case: Case) -> list[OracleRun]:
    """The sequence of a case on an uninitialised object, without a reset. For a model with states its first runs follow
    again, after a reset.
    """
    sequence = sequence_of(artifact, case)
    again = sequence[:AFTER_RESET] if artifact.imported.states else []
    return sequence + [replace(run, start=Start.GO_ON if k else Start.RESET) for k, run in enumerate(again)]
