# SPDX-License-Identifier: Apache-2.0
"""The front ends of wake words on fourteen kinds of signal: the C beside pymicro-features and TFLM's operators."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen import pipeline, solve
from mcugen.machines.toolchain.runtimes import Runtime
from mcugen.options import Options
from mcugen.oracle import streaming
from mcugen.pipeline import Artifact
from mcugen.samples import microfrontend
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from tests.support import front_end

NAMES = [name for name, _ in front_end.signals(1)]
RATE, WINDOW, HOP = microfrontend.RATE, microfrontend.WINDOW, 160


def signal(name: str, seconds: int) -> np.ndarray:
    return dict(front_end.signals(-(-seconds * RATE // WINDOW)))[name].reshape(-1)[: seconds * RATE]


def built(tables: microfrontend.FrontTables, hop: int, board: str = "host") -> Artifact:
    options = Options(input_mode="samples", hop=str(hop), board=board)
    model = pipeline.prepare_graph(microfrontend.graph(tables, hop, "tflite"), options, "front")
    return pipeline.finish(model, solve.solve(model.graph, model.board, model.options))


def rows_of(artifact: Artifact, x: np.ndarray, hop: int) -> np.ndarray:
    """The features of a sound, pushed hop by hop: int8 [windows, 40]."""
    model, rows = artifact.load(), []
    for at in range(0, x.size, hop):
        _, found = model.push_samples(x[at : at + hop], real=False)
        rows += [] if found is None else [np.reshape(found, (1, -1))]
    return np.concatenate(rows)


def of_library(x: np.ndarray) -> np.ndarray:
    """The features of pymicro-features, in the int8 that ESPHome makes of them."""
    from pymicro_features import MicroFrontend

    front, rows = MicroFrontend(), []
    for at in range(0, x.size - HOP + 1, HOP):
        found = front.process_samples(x[at : at + HOP].tobytes()).features
        rows += [np.rint(np.array(found) * 25.6).astype(int)] if found else []
    return np.clip((256 * np.stack(rows) + 333) // 666 - 128, -128, 127).astype(np.int8)


@pytest.mark.whole
@pytest.mark.parametrize("seconds", [1, 60])
@pytest.mark.parametrize("name", NAMES)
def test_features_are_those_of_the_library(name: str, seconds: int) -> None:
    x = signal(name, seconds)
    assert np.array_equal(rows_of(built(microfrontend.library(), HOP), x, HOP), of_library(x))


@pytest.mark.whole
@pytest.mark.parametrize("hop", [HOP, 2 * HOP])
@pytest.mark.parametrize("name", NAMES)
def test_features_are_those_of_tflm(name: str, hop: int) -> None:
    x = signal(name, 10)
    windows = np.lib.stride_tricks.sliding_window_view(x, WINDOW)[::hop]
    with Runtime("tflm") as runtime:
        answer = runtime.run(front_end.model(), [[window[None]] for window in windows], follow=True)
    assert not answer.refused
    expected = np.concatenate([outputs[0].reshape(1, -1) for outputs in answer.outputs])
    assert np.array_equal(rows_of(built(microfrontend.operators(), hop), x, hop), expected)


@pytest.mark.whole
def test_emulated_cores_have_the_features_of_the_library(emulated_core: str) -> None:
    """Five windows of each signal: the core beside the oracle, and the oracle beside the library."""
    artifact = built(microfrontend.library(), HOP, emulated_core)
    sounds = [signal(name, 1)[: 3 * WINDOW] for name in NAMES]
    frames = [x.reshape(3, 1, WINDOW) for x in sounds]
    ran = emulated.simulate(artifact, [Case(n, [x[0]], ([x[1]], [x[2]])) for n, x in zip(NAMES, frames, strict=True)])
    assert ran.verdict.exact and ran.repeatable
    for x in sounds:
        pushes = streaming.pushes(artifact.imported, np.split(x, range(HOP, x.size, HOP)), "tflm")
        rows = [push.values[artifact.imported.outputs[0]].reshape(1, -1) for push in pushes if push.decisions]
        assert np.array_equal(np.concatenate(rows), of_library(x))
