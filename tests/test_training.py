"""From the tool that trained a model to a file: with the tools where they are installed, with doubles elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.errors import ToolError, UsageError
from tests.frontends import first_models

ROOT = Path(__file__).resolve().parents[1]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


def double(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    module = ModuleType(name)
    vars(module).update(content)
    monkeypatch.setitem(sys.modules, name, module)


class Net:
    """A PyTorch module as far as from_torch sees it."""

    training = True

    def eval(self) -> None:
        self.train(False)

    def train(self, mode: bool) -> None:
        self.training = mode


def test_torch_exports_in_evaluation_mode(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    def export(module: Net, inputs: tuple[Any, ...], file: str, **_: Any) -> None:
        seen.append((module.training, inputs))
        Path(file).write_bytes(b"onnx")

    double(monkeypatch, "torch", onnx=SimpleNamespace(export=export))
    net = Net()
    first, second = mcugen.from_torch(net, 5), mcugen.from_torch(net, (1, 2), to=tmp_path / "a.onnx")
    assert seen == [(False, (5,)), (False, (1, 2))] and net.training
    assert first.name == "net.onnx" and first.read_bytes() == b"onnx" and second == tmp_path / "a.onnx"
    assert mcugen.from_torch(net, 5) != first
    with pytest.raises(UsageError, match=r"does not end in \.onnx"):
        mcugen.from_torch(net, 5, to="a.tflite")

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("aten::odd")

    double(monkeypatch, "torch", onnx=SimpleNamespace(export=broken))
    with pytest.raises(ToolError, match=r"torch\.onnx\.export failed: KeyError: 'aten::odd'"):
        mcugen.from_torch(net, 5)
    assert net.training


def test_keras_goes_through_the_converter(monkeypatch: pytest.MonkeyPatch) -> None:
    converter = SimpleNamespace(from_keras_model=lambda model: SimpleNamespace(convert=DIGITS.read_bytes))
    double(monkeypatch, "tensorflow", lite=SimpleNamespace(TFLiteConverter=converter))
    path = mcugen.from_keras(SimpleNamespace(name="key words"))
    assert path.name == "key_words.tflite" and mcugen.compile(path).name == "key_words"


def test_a_missing_tool_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"torch": (mcugen.from_torch, Net(), 1), "tensorflow": (mcugen.from_keras, Net())}
    calls |= {"skl2onnx": (mcugen.from_sklearn, Net())}
    for name, (function, *arguments) in calls.items():
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ToolError, match=f"{name} cannot be imported") as raised:
            function(*arguments)
        assert "pip install 'mcugen[" in raised.value.hint


def test_scikit_learn_predicts_the_same() -> None:
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    x, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(x, y)
    label, scores = mcugen.load(mcugen.from_sklearn(forest)).run(x.astype(np.float32))
    assert np.array_equal(np.ravel(label), forest.predict(x)) and np.shape(scores) == (150, 3)
    with pytest.raises(UsageError, match="does not say how many features"):
        mcugen.from_sklearn(RandomForestClassifier())


def test_lightgbm_predicts_the_same() -> None:
    import lightgbm
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(x, y)
    label, _ = mcugen.load(mcugen.from_lightgbm(model)).run(x.astype(np.float32))
    assert np.mean(np.ravel(label) == model.predict(x.astype(np.float32))) > 0.98


def test_the_page_on_first_models_works_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python for scikit-learn and the commands after it; the other two tools are too large for a test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    sections = first_models.sections()
    assert list(sections) == ["Keras", "PyTorch", "scikit-learn"]
    for text in sections.values():
        assert first_models.blocks(text)[1][-1].startswith("mcugen evaluate ")
    printed = first_models.check(sections["scikit-learn"], sys.executable, tmp_path)
    assert (tmp_path / "out" / "digits.h").is_file()
    assert "10 samples run there" in printed and "10 of 10 right" in printed


USER = """
from pathlib import Path
import numpy as np
import mcugen

artifact = mcugen.compile("kws.tflite", board="cortex-m7", optimize="speed", ram="20K")
size: int = artifact.report.ram_bytes
model = mcugen.load(Path("kws.tflite"), input_mode="rows")
path: Path = mcugen.from_sklearn(object(), to="a.onnx")
model.reset()
try:
    y = model.run(np.zeros((1, 4), np.float32), real=True)
except mcugen.McugenError as error:
    print(error.hint)
"""
WRONG = """
import mcugen
mcugen.compile("kws.tflite", board=7)
mcugen.compile("kws.tflite", optimize="fast")
mcugen.load("kws.tflite", no_such_option=True)
mcugen.from_sklearn(object(), file="a.onnx")
"""


@pytest.mark.long
def test_a_users_type_checker_sees_the_package(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "right.py", "wrong.py"]
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line.partition(": error")[0] for line in done.stdout.splitlines() if ": error" in line]
    assert found == [f"wrong.py:{line}" for line in (3, 4, 5, 6)], done.stdout
