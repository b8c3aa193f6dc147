"""Signal operators with states: the C, run after run and after a reset, against the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcugen
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.runtimes import signals

STATEFUL = ("SpectralSubtraction u32 1", "SignalDelay s16 0", "SignalFramer s16 2", "SignalStacker s16 2", "Add s16 1")


@pytest.mark.parametrize("name", STATEFUL)
def test_what_a_run_leaves_is_found_by_the_next(name: str, tmp_path: Path) -> None:
    path = tmp_path / "signal.tflite"
    path.write_bytes(next(d.model for d in signals.models() if d.label.endswith(name)))
    artifact = mcugen.compile(path)
    assert artifact.imported.states
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:2]).exact
