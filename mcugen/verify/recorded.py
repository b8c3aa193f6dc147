"""The C of a build, run on this machine, against recorded outputs, as firmware teams do in their own tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mcugen.emit.selftest import TOLERANCE
from mcugen.machines.native import all_of
from mcugen.pipeline import Artifact
from mcugen.verify import golden


def differences(artifact: Artifact, recording: Path) -> list[str]:
    """Where outputs differ from those of an .npz as `mcugen run --record` writes it: a sentence for each.

    Integers must be equal, floats lie within the tolerance of the self-test. A model with states begins anew at each
    input set.
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
    """The first element that differs, None where none does."""
    expected = wanted.reshape(got.shape)
    if got.dtype.kind == "f":
        most = TOLERANCE * float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
        wrong = ~(np.isclose(got, expected, rtol=0.0, atol=most, equal_nan=True))
    else:
        wrong = got != expected
    return int(np.flatnonzero(wrong)[0]) if wrong.any() else None
