"""`mcugen evaluate` and `mcugen run`: scores that NumPy gives as well, outputs in files, recorded vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.cli import main
from mcugen.errors import UsageError
from mcugen.oracle import interpreter
from mcugen.pytest_plugin import check
from mcugen.verify import golden
from mcugen.verify.evaluation.metrics import chosen
from tests.states.graphs import accumulator, built

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
MODEL, TEST = DIGITS / "digits.tflite", DIGITS / "digits_test.npz"
FEW = 30


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def typed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and errors of a command as it is typed."""
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    status, out, err = typed(capsys, "evaluate", MODEL, "--samples", str(FEW), *arguments, "--json")
    assert status == 0, err
    return json.loads(out)


def test_accuracy_is_numpy_s_and_the_core_s(capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluated(capsys, "--data", TEST, "--board", "cortex-m4", "--emulated", "1")
    artifact, data = mcugen.compile(MODEL), np.load(TEST)
    (name,) = artifact.imported.outputs
    answers = [interpreter.run(artifact.imported, [x[None]], "tflm")[name].argmax() for x in data["inputs"][:FEW]]
    assert found["scores"] == {"top1": float(np.mean(answers == data["labels"][:FEW]))}
    assert np.array(found["confusion"]).shape == (10, 10) and np.sum(found["confusion"]) == FEW
    assert found["samples"] == FEW and found["samples_per_second"] > 0
    core = found["emulated"]
    assert core["agrees"] and core["exact"] and core["cases"] == 1 and core["instructions"] > 0


def test_text_has_scores_first(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = typed(capsys, "evaluate", MODEL, "--data", TEST, "--samples", str(FEW))
    assert status == 0 and out.splitlines()[0].startswith("digits: top1 ") and "samples per second" in out
    assert "label, and what was answered" in out


def test_real_numbers_score_like_stored_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = np.load(TEST)
    real = (data["inputs"].astype(np.float32) + 128) / 255
    np.savez(tmp_path / "real.npz", x=real, y=data["labels"])
    assert evaluated(capsys, "--data", tmp_path / "real.npz")["scores"] == evaluated(capsys, "--data", TEST)["scores"]
    targets = np.eye(10, dtype=np.float32)[data["labels"]] * np.float32(0.99)
    np.savez(tmp_path / "targets.npz", x=data["inputs"], y=targets)
    assert 0 < evaluated(capsys, "--data", tmp_path / "targets.npz")["scores"]["mse"] < 0.1


def test_a_metric_of_the_user_s(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "score.py"
    file.write_text(
        "def both(y, labels):\n    return {'n': len(y), 'top': y.max()}\ndef bad(y, labels):\n    return 1 / 0\n"
    )
    assert evaluated(capsys, "--data", TEST, "--metric", f"{file}:both")["scores"] == {"n": FEW, "top": 255 / 256}
    for metric, says in (
        (f"{file}:bad", "ZeroDivisionError"),
        (f"{file}:none", "no function 'none'"),
        ("f1", "top1, mse"),
        ("gone.py:f", "no file 'gone.py'"),
    ):
        status, _, err = typed(capsys, "evaluate", MODEL, "--data", TEST, "--metric", metric)
        assert status == 2 and says in err


@pytest.mark.parametrize(
    ("scores", "labels", "top1"),
    [
        ([[0.2, 0.8], [0.9, 0.1]], [1, 1], 0.5),
        ([[0.7], [0.2], [0.5]], [1, 0, 1], 1.0),
        (np.array([3, 1, 0]), [3, 1, 2], 2 / 3),
    ],
)
def test_top1_of_scores_of_one_score_and_of_classes(scores: Any, labels: list[int], top1: float) -> None:
    metric, answers = chosen("top1", np.array(labels), built(accumulator("s8")).load())
    assert metric((np.asarray(scores),), np.array(labels)) == {"top1": pytest.approx(top1)} and answers is not None


@pytest.mark.whole
def test_run_writes_what_load_gives(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    x = np.load(TEST)["inputs"][:FEW]
    np.save(tmp_path / "x.npy", x)
    y, vectors = tmp_path / "y.npy", tmp_path / "vectors.npz"
    status, out, err = typed(capsys, "run", MODEL, "--input", tmp_path / "x.npy", "-o", y, "--record", vectors)
    assert status == 0 and "30 samples" in out, err
    assert np.array_equal(np.load(y), mcugen.load(MODEL).run(x)) and np.load(y).dtype == np.int8
    status, out, _ = typed(capsys, "run", MODEL, "--input", tmp_path / "x.npy", "--samples", "2", "--real", "--json")
    (real,) = json.loads(out)["outputs"]
    assert real["shape"] == [2, 10] and np.allclose(real["values"], (np.load(y)[:2] + 128.0) / 256)
    assert len(golden.cases(vectors, mcugen.compile(MODEL).imported)) == FEW
    check(MODEL, vectors, board="cortex-m0plus")
    arrays = dict(np.load(vectors))
    np.savez(vectors, **{**arrays, "out3_0": arrays["out3_0"] ^ 1})
    with pytest.raises(pytest.fail.Exception, match="recorded 3, output 0, element 0: expected"):
        check(MODEL, vectors)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "y.txt"], "neither an .npy nor an .npz"),
        (["-o", "gone/y.npy"], "there is no folder"),
        (["--record", "v.npy"], "not an .npz"),
    ],
)
def test_run_refuses_before_it_works(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    status, out, err = typed(capsys, "run", MODEL, "--input", TEST, *arguments)
    assert status == 2 and says in err and not out


@pytest.mark.parametrize(
    ("labels", "metric", "says"),
    [
        ([1, 33], "top1", "a label is 33, but the model's classes are 0 to 9"),
        ([1, 2], "m.py:none", "none of {} gave nan, which is not a number"),
    ],
)
def test_scores_that_say_nothing(labels: list[int], metric: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def none(outputs, labels):\n    return float('nan')\n")
    name = str(tmp_path / metric) if ".py" in metric else metric
    outputs = (np.zeros((2, 10)),)
    with pytest.raises(UsageError) as caught:
        score, _ = chosen(name, np.array(labels), mcugen.load(MODEL))
        score(outputs, np.array(labels))
    assert says.format(tmp_path / "m.py") in str(caught.value)


def test_labels_are_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.load(TEST)["inputs"])
    status, _, err = typed(capsys, "evaluate", MODEL, "--data", tmp_path / "x.npz")
    assert status == 2 and "has no labels" in err and "'y'" in err
