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
from mcugen.quantize import frame_sequences
from mcugen.samples import metrics
from mcugen.verify import golden
from mcugen.verify.evaluation import scoring
from tests.quantize.stream_models import BANDS, stream
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
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Kept:\n    n: int\n"
        "def both(y, labels):\n    return {'n': len(y), 'top': y.max()}\ndef bad(y, labels):\n    return 1 / 0\n"
    )
    assert evaluated(capsys, "--data", TEST, "--metric", f"{file}:both")["scores"] == {"n": FEW, "top": 255 / 256}
    for metric, says in (
        (f"{file}:bad", "ZeroDivisionError"),
        (f"{file}:none", "no function 'none'"),
        ("f1", "ctc, frames, map, map50, miou, mse, top1"),
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
    found = np.asarray(scores)
    network = metrics.Interface((metrics.ScoredOutput("y", (1, *found.shape[1:]), found.dtype.kind == "i"),))
    metric = metrics.chosen("top1", np.array(labels), network)
    assert metric.score((found,), np.array(labels), network) == {"top1": pytest.approx(top1)}


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
        ([1, 33], "top1", "the label of sample 1 is 33, but the model has classes 0 to 9"),
        ([1, 2], "m.py:none", "none of {} gave nan, which is not a number"),
    ],
)
def test_scores_that_say_nothing(labels: list[int], metric: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def none(outputs, labels):\n    return float('nan')\n")
    name = str(tmp_path / metric) if ".py" in metric else metric
    outputs = (np.zeros((2, 10)),)
    with pytest.raises(UsageError) as caught:
        network = metrics.Interface((metrics.ScoredOutput("y", (1, 10)),))
        metrics.chosen(name, np.array(labels), network).score(outputs, np.array(labels), network)
    assert says.format(tmp_path / "m.py") in str(caught.value)


def test_labels_are_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.load(TEST)["inputs"])
    status, _, err = typed(capsys, "evaluate", MODEL, "--data", tmp_path / "x.npz")
    assert status == 2 and "has no labels" in err and "'y'" in err


def test_sequences_of_frames_with_states_that_the_caller_hands_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = stream(tmp_path, "GRU")
    graph = mcugen.compile(model).imported
    x = np.random.default_rng(3).normal(size=(3, 20, BANDS)).astype(np.float32)
    y = np.zeros((3, 20, BANDS), np.float32)
    np.savez(tmp_path / "t.npz", x=x, y=y)
    status, out, err = typed(
        capsys, "evaluate", model, "--data", tmp_path / "t.npz", "--state", "r0=s0", "--json", "--board", "cortex-m4"
    )
    assert status == 0, err
    found, states = json.loads(out), frame_sequences.states_of(graph, ["r0=s0"])
    run = frame_sequences.run(graph, "tflm", states, [x.reshape(3, 20, *graph.type(graph.inputs[0]).shape)])
    errors = (run.outputs[0].reshape(20, 3, -1) ** 2).mean(axis=2)
    assert found["samples"] == 3 and found["emulated"]["agrees"] and found["emulated"]["cases"] == 2
    assert found["scores"]["frames"] == pytest.approx(errors.mean(), rel=1e-4)
    assert found["scores"]["worst_sequence"] == pytest.approx(errors.mean(axis=0).max(), rel=1e-4)
    assert found["scores"]["tenths"] == pytest.approx(errors.reshape(10, 2, 3).mean(axis=(1, 2)), rel=1e-4)
    status, out, _ = typed(capsys, "evaluate", model, "--data", tmp_path / "t.npz", "--state", "r0=s0")
    assert status == 0 and "worst_sequence" in out.splitlines()[0] and out.splitlines()[1].startswith("  tenths: ")


def test_sequences_of_a_model_that_keeps_its_states(tmp_path: Path) -> None:
    artifact = built(accumulator("f32"))
    shape = artifact.imported.type(artifact.imported.inputs[0]).shape
    x = np.random.default_rng(4).normal(size=(2, 9, *shape)).astype(np.float32)
    model = artifact.load()
    wanted = [model.run(*[sequence]) for sequence in x if model.reset() is None]
    np.savez(tmp_path / "t.npz", x=x, y=np.zeros((2, 9, *np.shape(wanted[0])[1:]), np.float32))
    found = scoring.evaluate(artifact, tmp_path / "t.npz")
    assert found.samples == 2
    assert found.scores["frames"] == pytest.approx(np.square(wanted).mean(), rel=1e-5)
