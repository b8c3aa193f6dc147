# SPDX-License-Identifier: Apache-2.0
"""The examples that hear words: their programs print what Python prints, on an emulated core and on this machine."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mcugen
from mcugen.pipeline import Artifact
from tests.examples.test_programs import CORE, EXAMPLES, Example

Load = Callable[[str, str], ModuleType]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """A script of an example, by both names. Several examples have scripts of the same name."""

    def loaded(name: str, script: str) -> ModuleType:
        for path in (EXAMPLES, EXAMPLES / name):
            monkeypatch.syspath_prepend(path)
        for module in ("listen", "train", "compare", "streaming"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        return importlib.import_module(script)

    return loaded


def built(listen: ModuleType, board: str, folder: Path) -> tuple[Example, Artifact]:
    artifact = mcugen.compile(listen.MODEL, board=board, optimize="speed", **listen.OPTIONS)
    artifact.write(folder / "out")
    return Example(listen.FOLDER.name, artifact.target, folder / "out"), artifact


@pytest.mark.parametrize("board", [CORE, pytest.param("host", marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", ["wakeword", "words"])
def test_a_program_prints_what_python_prints(name: str, board: str, load: Load, tmp_path: Path) -> None:
    listen = load(name, "listen")
    example, artifact = built(listen, board, tmp_path)
    sounds = listen.test_sounds()
    expected = [listen.lines(listen.speech.decisions(artifact.imported, sound)) for sound in sounds]
    assert example.output(listen.speech.events(sounds)) == [line for lines in expected for line in lines]
    recorded = np.load(next(listen.FOLDER.glob("*_test.npz")))
    if name == "wakeword":
        ((line,),) = expected
        assert 0 <= int(line.split()[1]) - recorded["ends"][0] // 16 < 300
        assert artifact.report.ram_bytes < 4600
    else:
        assert [line.split()[1] for (line,) in expected] == [listen.NAMES[k] for k in recorded["labels"]]


@pytest.mark.whole
def test_all_words_of_other_voices(load: Load, tmp_path: Path) -> None:
    """C and Python agree on each, an emulated core as well, and float64 is hardly better."""
    compare = load("words", "compare")
    x, labels = compare.test_sounds()
    found = compare.compared(x, labels)
    c, float64 = found.accuracy(found.c), found.accuracy(found.float64)
    print(f"right: {c:.2%} in C, {float64:.2%} on features in float64")
    assert np.array_equal(found.c, found.python) and c >= float64 - 0.01 and c > 0.8
    listen = sys.modules["listen"]
    lines = built(listen, CORE, tmp_path)[0].output(compare.speech.events(x))
    assert [line.split()[1] for line in lines] == [listen.NAMES[k] for k in found.c]


@pytest.mark.whole
def test_a_wake_word_in_minutes_of_speech(load: Load, tmp_path: Path) -> None:
    """The emulated core detects what the host's C detects, and that is nearly each wake word of other voices."""
    listen, train = load("wakeword", "listen"), load("wakeword", "train")
    speech = train.speech
    test = train.stream(np.random.default_rng(5), speech.TEST_VOICES, train.TEST_UTTERANCES)
    at = train.detections(listen.FOLDER, test.sound)
    lines = built(listen, CORE, tmp_path)[0].output(speech.events([test.sound]))
    assert [int(line.split()[1]) for line in lines] == (at * 1000 // speech.RATE).tolist()
    right, wrong = train.judged(at, test.ends)
    assert right > 0.9 * test.ends.size and wrong < 10
