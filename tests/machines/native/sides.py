"""The two sides of a comparison: results of `mcugen.machines.native`, and of the program of `mcugen verify`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mcugen.machines.native import Model
from mcugen.pipeline import Artifact
from mcugen.verify import host
from mcugen.verify.cases import Case
from mcugen.verify.runs import OracleRun, Start, runs_of

Values = list[np.ndarray]


def differences(artifact: Artifact, cases: Sequence[Case], model: Model | None = None) -> list[str]:
    """The outputs whose bytes differ from those of verify's program, by case and run."""
    with tempfile.TemporaryDirectory() as folder:
        program = host.build_program(artifact, Path(folder))
        found = []
        for case in cases:
            runs = runs_of(artifact, case)
            made = host.tensors_of(artifact, program, case.name, runs)
            wanted = [[array for step, _, array in run if step < 0] for run in made]
            got = list(outputs(artifact, model or artifact.load(), runs))
            found += [f"{case.name}, run {k}" for k, pair in enumerate(zip(wanted, got, strict=True)) if differ(*pair)]
        return found


def differ(wanted: Values, got: Values) -> bool:
    return [a.tobytes() for a in wanted] != [a.tobytes() for a in got]


def outputs(artifact: Artifact, model: Model, runs: Sequence[OracleRun]) -> Iterator[Values]:
    """The outputs of an object for the runs of a case, pushed by rows or frames where it takes them so."""
    push = artifact.view.push
    for run in runs:
        if run.start is not Start.GO_ON or not artifact.imported.states:
            model.reset()
        if push is None:
            yield _all(model.run(*run.inputs, real=False))
            continue
        rows = run.inputs[push.input].reshape(push.rows, push.row_length)
        goes_on = artifact.view.streams and artifact.imported.states and run.start is Start.GO_ON
        take = model.push_frame if artifact.view.streams else model.push_row
        found = [take(row, real=False) for row in (rows[-1:] if goes_on else rows)]
        assert all(value is None for value in found[:-1]) and found[-1] is not None
        yield _all(found[-1])


def _all(found: np.ndarray | tuple[np.ndarray, ...]) -> Values:
    return list(found) if isinstance(found, tuple) else [found]
