# SPDX-License-Identifier: Apache-2.0
"""Whole signals through models that take a stream of samples: `run`, `evaluate` and `pareto`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import samples
from mcugen.builds import pareto
from mcugen.cli import main
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.oracle.streaming import pushes
from tests.formats.test_chain import write_layer
from tests.formats.test_microwakeword import described, write_network
from tests.samples.test_sound_folders import encoded, wav

RNG = np.random.default_rng(5)


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments), "--json"])
    assert not ended.value.code
    return dict(json.loads(capsys.readouterr().out))


@pytest.fixture
def stream(tmp_path: Path) -> tuple[Path, str]:
    front = write_layer(tmp_path / "front.tflite", (1, 16), 4)
    return front, str(write_layer(tmp_path / "net.tflite", (1, 3, 4), 2))


def test_a_signal_gives_the_outputs_of_every_decision(stream: tuple[Path, str]) -> None:
    made = mcugen.compile(stream[0], chain=(stream[1],), input_mode="samples", hop="8", stride="2")
    x = RNG.integers(-128, 128, (2, 90)).astype(np.int8)
    found, model = made.load().run(x), made.load()
    assert isinstance(found, np.ndarray) and found.shape == (2, 4, 1, 2)
    for signal, outputs in zip(x, found, strict=True):
        pieces = np.split(signal, range(8, 90, 8))
        decided = [p.values[made.imported.outputs[0]] for p in pushes(made.imported, pieces, "tflm") if p.decisions]
        assert np.array_equal(outputs, decided) and np.array_equal(model.run(signal), outputs)
    with pytest.raises(UsageError, match="31 samples end before the first decision, after 32"):
        model.run(x[:, :31])
    for wrong in (x[None], x[:0]):
        with pytest.raises(UsageError, match="is not a signal"):
            model.run(wrong)


def test_sounds_of_another_rate_are_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Noise sets off the wake word, silence does not. The files have two channels at 8 kHz."""
    write_network(tmp_path / "net.tflite")
    noise = RNG.uniform(-0.5, 0.5, (8000, 2))
    for k, sound in enumerate((0 * noise, noise)):
        (tmp_path / "set" / str(k)).mkdir(parents=True)
        (tmp_path / "set" / str(k) / "a.wav").write_bytes(wav(encoded(sound.reshape(-1), 16), channels=2, rate=8000))
    found = command(capsys, "evaluate", described(tmp_path), "--data", tmp_path / "set")
    assert found["scores"] == {"top1": 1.0} and found["confusion"] == [[1, 0], [0, 1]]
    one = command(capsys, "run", described(tmp_path), "--input", tmp_path / "set/1/a.wav", "--stored")
    assert [out["shape"] for out in one["outputs"]] == [[1, 32, 1, 1], [1, 32, 1]]  # type: ignore[index, attr-defined]


def test_words_for_files_are_applied_to_files(tmp_path: Path, stream: tuple[Path, str]) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    for k, n in enumerate((500, 300)):
        (folder / f"{k}.wav").write_bytes(wav(encoded(np.full(n, 0.25), 16), rate=16000))
    words = "rate=16000,length=400,logmel(window=25ms,hop=10ms)"
    graph = mcugen.compile(stream[0], input_mode="samples", hop="8").imported
    found = samples.load(folder, graph, preprocess=words, to_run=True)
    assert found.arrays[0].shape == (2, 400) and (found.arrays[0][1, 300:] == 0).all()
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4), np.int8))
    with pytest.raises(UsageError, match="signals of shape \\[time\\]"):
        samples.load(tmp_path / "x.npy", graph, to_run=True)


def test_schedules_of_a_stream_are_compared(stream: tuple[Path, str]) -> None:
    options = Options(chain=(stream[1],), input_mode="samples", hop="8", stride="2", board="cortex-m4")
    found = pareto.front(stream[0], options)
    assert found.agrees and found.points and all(point.instructions for point in found.points)
    assert "figures are those of one decision, after 2 windows" in found.notes
    assert found.knee is None or "--input-mode samples --hop 8 --stride 2" in found.command
