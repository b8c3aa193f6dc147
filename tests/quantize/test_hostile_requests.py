"""Wrong requests by users: refused before any work, with nothing written and nothing lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mcugen.cli import _common, cli
from mcugen.errors import UsageError
from tests.quantize.test_quantize import SHAPE, network, samples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    network(tmp_path / "net.onnx")
    samples(tmp_path / "calib.npz", 6)
    return tmp_path


def refusal(folder: Path, *flags: str, out: str = "net.tflite", data: str = "calib.npz") -> str:
    """The error of a command; nothing may come to the folder, and nothing in it change."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    given = [str(folder / "net.onnx"), "--data", str(folder / data), "-o", str(folder / out), "--method", "min-max"]
    result: Result = CliRunner().invoke(cli, ["quantize", *given, "--jobs", "1", *flags])
    assert isinstance(result.exception, UsageError), result.output
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return result.exception.explain()


def test_places_are_looked_at_before_any_work(folder: Path) -> None:
    assert "-o: there is no folder" in refusal(folder, out="missing/net.tflite")
    assert "--report: there is no folder" in refusal(folder, "--report", str(folder / "missing" / "page.html"))
    assert "is a folder" in refusal(folder, "--cache", str(folder))


def test_inputs_are_never_written_over(folder: Path) -> None:
    assert "is an input as well" in refusal(folder, out="net.onnx")
    assert "is an input as well" in refusal(folder, "--cache", str(folder / "calib.npz"))
    assert "is the file of -o as well" in refusal(folder, "--report", str(folder / "net.tflite"))


def test_floats_that_run_over(folder: Path) -> None:
    np.savez(folder / "far.npz", x=np.random.default_rng(0).uniform(1e37, 3e38, (4, *SHAPE[1:])).astype(np.float32))
    text = refusal(folder, data="far.npz")
    assert "the float model computes infinities or NaN from these samples" in text
    assert "c0" in text or "r0" in text


@pytest.mark.parametrize(
    ("label", "text"), [(-3, "label -3 is no class"), (1 << 40, "label 1099511627776 is no class"), (5, "")]
)
def test_labels_of_no_class(folder: Path, label: int, text: str) -> None:
    with np.load(folder / "calib.npz") as arrays:
        np.savez(folder / "test.npz", x=arrays["x"], y=np.array([0, 1, 2, 3, 4, label]))
    told = refusal(folder, "--test", str(folder / "test.npz"))
    assert (text or "the label of sample 5 is 5, but the model has classes 0 to 4") in told


def test_goals_in_decibels_are_for_data_alone(folder: Path) -> None:
    both = ["--weights", "mixed", "--activations", "mixed"]
    assert "a goal in dB is for data alone" in refusal(folder, *both, "--max-loss", "30dB")
    assert "a goal in dB is for data alone" in refusal(folder, *both[2:], "--max-loss", "30dB", "--ram", "20K")
    assert "write it like 0.5%, or like 36dB" in refusal(folder, *both[2:], "--max-loss", "30 db")


def test_detections_need_boxes(folder: Path) -> None:
    with np.load(folder / "calib.npz") as arrays:
        np.savez(folder / "boxes.npz", x=arrays["x"], boxes=np.zeros((3, 4)), classes=np.zeros(3))
        np.savez(folder / "classes.npz", x=arrays["x"], y=np.zeros(len(arrays["x"]), np.int64))
    detection = ["--task", "detection", "--test"]
    assert "has boxes, but no array 'counts'" in refusal(folder, *detection, str(folder / "boxes.npz"))
    assert "the samples have no true boxes" in refusal(folder, *detection, str(folder / "classes.npz"))


def test_a_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(b"old")
    path.chmod(0o600)
    _common.write(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        _common.write(path, b"half")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"new"]


def _interruptible() -> None:
    """Shells start what runs in the background with interrupts ignored, and children keep that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_it_stops_with_its_processes_and_writes_nothing(folder: Path) -> None:
    """It is stopped while trials run in two processes, which are long enough to be met by the signal."""
    samples(folder / "calib.npz", 80)
    given = [str(folder / "net.onnx"), "--data", str(folder / "calib.npz"), "-o", str(folder / "net.tflite")]
    command = [sys.executable, "-m", "mcugen", "quantize", *given, "--jobs", "2", "--resume", str(folder / "trials")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=_interruptible)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (folder / "trials").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b"Traceback" not in told
    assert sorted(path.name for path in folder.iterdir()) == ["calib.npz", "net.onnx", "trials"]
