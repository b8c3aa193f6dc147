"""Compares the C of a build, run on this computer, with recorded outputs, for tests of firmware."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mcugen.emit.selftest import TOLERANCE
from mcugen.machines.native import all_of
from mcugen.pipeline import Artifact
from mcugen.verify import golden


def differences(artifact: Artifact, recording: Path) -> list[str]:
    """A sentence per output that differs from the recorded one, in an .npz that `mcugen run --record` wrote.

    Integers must be equal, floats within the tolerance of the self-test. A model with states is reset before each input
    set.
    """
    graph, model = artifact.imported, artifact.load()
    wanted = golden.outputs(recording, graph, artifact.view.reference)
    found = []
    for case, expected in zip(golden.cases(recording, graph), wanted, strict=True):
        model.reset()
        got = all_of(model.run(*case.inputs, real=False))
        for k, pair in enumerate(zip(expected, got, strict=True)):
            far = _far(*pair)
            if far is not None:
                found.append(
                    f"{case.name}, output {k}, element {far}: expected {pair[0].flat[far]}, got {pair[1].flat[far]}"
                )
    return found


def _far(wanted: np.ndarray, got: np.ndarray) -> int | None:
    """The first element that differs, or None."""
    expected = wanted.reshape(got.shape)
    if got.dtype.kind == "f":
        most = TOLERANCE * float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
        wrong = ~(np.isclose(got, expected, rtol=0.0, atol=most, equal_nan=True))
    else:
        wrong = got != expected
    return int(np.flatnonzero(wrong)[0]) if wrong.any() else None
