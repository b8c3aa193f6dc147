# SPDX-License-Identifier: Apache-2.0
"""A front end of signal operators, frame after frame with its state: fused steps, separate steps, and TFLM itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.machines.toolchain.runtimes import Runtime
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.support import front_end

CASES = dict(front_end.signals(12))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("front_end") / "front_end.tflite"
    file.write_bytes(front_end.model())
    return file


@pytest.fixture(scope="module")
def fused(path: Path) -> mcugen.Model:
    return mcugen.load(path)


def frames_of(model: mcugen.Model, x: np.ndarray) -> np.ndarray:
    model.reset()
    return np.asarray(model.run(x))


def test_frames_are_those_of_separate_steps(path: Path, fused: mcugen.Model) -> None:
    apart = mcugen.load(path, no_simplify=True)
    for name, x in CASES.items():
        assert np.array_equal(frames_of(fused, x), frames_of(apart, x)), name


def test_the_steps_from_the_bank_on_are_two(path: Path) -> None:
    steps = mcugen.compile(path, name="m").schedule.steps
    assert [type(s.choice.node.op).__name__ for s in steps][-2:] == ["FilterBankRoots", "ElementChain"]


def test_verify_compares_what_is_left(path: Path) -> None:
    artifact = mcugen.compile(path, name="m")
    verdict = host.verify(artifact, list(cases(artifact.imported, 1))[:2])
    assert verdict.exact
    assert len(verdict.fused) >= 10


@pytest.mark.sampled(4)
def test_an_emulated_core_has_the_bits(path: Path, emulated_core: str) -> None:
    artifact = mcugen.compile(path, board=emulated_core, name="m")
    assert emulated.simulate(artifact, list(cases(artifact.imported, 1))[:2]).verdict.exact


@pytest.mark.whole
@pytest.mark.parametrize("name", CASES)
def test_frames_are_those_of_tflm(name: str, path: Path, fused: mcugen.Model) -> None:
    x = dict(front_end.signals(200))[name]
    with Runtime("tflm") as runtime:
        answer = runtime.run(path.read_bytes(), [[frame] for frame in x], follow=True)
    assert not answer.refused
    expected = np.concatenate([outputs[0].reshape(1, -1) for outputs in answer.outputs])
    assert np.array_equal(frames_of(fused, x).reshape(expected.shape), expected)
