"""The runs of a case: one run without states, otherwise a sequence of runs on one model object."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

import numpy as np

from mcugen.emit.model_parts import SamplesView
from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import Inputs, overlapping
from mcugen.oracle.streaming import pushes
from mcugen.pipeline import Artifact
from mcugen.verify.cases import Case


class Start(IntEnum):
    """State of the model object before a run: unchanged, filled with garbage, or reset."""

    GO_ON = 0
    GARBAGE = 1
    RESET = 2


AFTER_RESET = 3
"""Number of runs repeated after a reset, beginning with the initial states."""


PIECES = (16_000, 0, 7, 1, 160)
"""Samples per push in the runs of a stream; 0: a hop."""


@dataclass(frozen=True, eq=False)
class OracleRun:
    """One run, with the tensors that the oracle computes in it.

    piece, decisions: for a stream of samples, samples per push, and new decisions of the run.
    """

    start: Start
    inputs: Inputs
    oracle: dict[str, np.ndarray]
    piece: int = 0
    decisions: int = 0

    @property
    def head(self) -> bytes:
        """Samples per push and samples in all, for the programs that push them."""
        return struct.pack("<2I", self.piece, self.inputs[0].size)


def sequence_of(artifact: Artifact, case: Case) -> list[OracleRun]:
    """The runs of a case in order; a single run if the model has no states.

    For a model fed by frames, each further run gets one new frame. For a stream of samples, the first run ends with the
    first decision, and each further run with another one.
    """
    graph, view = artifact.imported, artifact.view
    if view.samples:
        return _of_samples(graph, view.samples, case, view.reference)
    calls = case.calls if graph.states else (case.inputs,)
    if view.streams and view.push:
        calls = tuple(overlapping(calls, view.push.input))
    values = interpreter.runs(graph, calls, view.reference)
    return [
        OracleRun(Start.GO_ON if k else Start.GARBAGE, inputs, oracle)
        for k, (inputs, oracle) in enumerate(zip(calls, values, strict=True))
    ]


def first_run(artifact: Artifact, case: Case) -> OracleRun:
    """The run of a case that begins with the initial states. Of a stream, it ends with the first decision."""
    return sequence_of(artifact, case if artifact.view.samples else replace(case, then=()))[0]


def _of_samples(graph: Graph, samples: SamplesView, case: Case, reference: str) -> list[OracleRun]:
    """The runs of a stream: the samples of the case's inputs, one after the other and again from the first."""
    given = np.concatenate([call[0].reshape(-1) for call in case.calls])
    lengths = [samples.first, *[samples.stride * samples.hop] * (len(PIECES) - 1)]
    ends = np.cumsum([0, *lengths])
    chunks = [given[np.arange(a, b) % given.size] for a, b in pairwise(ends.tolist())]
    return [
        OracleRun(Start.GO_ON if k else Start.GARBAGE, [chunk], push.values, piece or samples.hop, push.decisions)
        for k, (chunk, push, piece) in enumerate(zip(chunks, pushes(graph, chunks, reference), PIECES, strict=True))
    ]


def runs_of(artifact: Artifact, case: Case) -> list[OracleRun]:
    """The sequence of a case on an uninitialised object, without a reset. For a model with states its first runs follow
    again, after a reset.
    """
    sequence = sequence_of(artifact, case)
    again = sequence[:AFTER_RESET] if artifact.imported.states or artifact.view.samples else []
    return sequence + [replace(run, start=Start.GO_ON if k else Start.RESET) for k, run in enumerate(again)]
