"""Paths from training tools to files: with the tools where they are installed, with doubles elsewhere."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.errors import ToolError, UsageError
from tests.formats import first_models

ROOT = Path(__file__).resolve().parents[1]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


def double(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    module = ModuleType(name)
    vars(module).update(content)
    monkeypatch.setitem(sys.modules, name, module)


WRONG_SIZE = "an array of another size"


class Net:
    """A PyTorch module as far as from_torch sees it."""

    training = True

    def eval(self) -> None:
        self.train(False)

    def train(self, mode: bool) -> None:
        self.training = mode

    def __call__(self, *inputs: Any) -> None:
        if any(value == WRONG_SIZE for value in inputs):
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected 6, got 5\nand more")


def test_torch_exports_in_evaluation_mode(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    def export(module: Net, inputs: tuple[Any, ...], file: str, *, dynamo: bool, **_: Any) -> None:
        seen.append((module.training, inputs))
        assert not dynamo
        Path(file).write_bytes(b"onnx")

    double(monkeypatch, "torch", onnx=SimpleNamespace(export=export))
    net = Net()
    first, second = mcugen.from_torch(net, 5), mcugen.from_torch(net, (1.5, 2), to=tmp_path / "a.onnx")
    assert seen == [(False, (5,)), (False, (1.5, 2))] and net.training
    assert first.name == "net.onnx" and first.read_bytes() == b"onnx" and second == tmp_path / "a.onnx"
    assert mcugen.from_torch(net, 5) != first
    with pytest.raises(UsageError, match=r"does not end in \.onnx"):
        mcugen.from_torch(net, 5, to="a.tflite")

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("aten::odd")

    double(monkeypatch, "torch", onnx=SimpleNamespace(export=broken))
    with pytest.raises(ToolError, match=r"(?s)export failed.*torchscript: KeyError: 'aten::odd'\n.*dynamo"):
        mcugen.from_torch(net, 5)
    with pytest.raises(UsageError, match=r"example does not fit the module.*RuntimeError: .* Expected 6, got 5\n"):
        mcugen.from_torch(net, WRONG_SIZE)
    for shape in ((1, 20, 6), [1, 20, 6]):
        with pytest.raises(UsageError, match=r"(?s)\(1, 20, 6\) is a shape.*torch.zeros\(1, 20, 6\)"):
            mcugen.from_torch(net, shape)
    assert net.training


class TracerWarning(Warning):
    """PyTorch's, by its name."""


def test_torch_falls_back_to_its_other_exporter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A branch that TorchScript's would leave out, and an operator that it does not have."""
    asked: list[bool] = []
    fails: dict[bool, Exception] = {}

    def export(module: Net, inputs: Any, file: str, *, dynamo: bool, **_: Any) -> None:
        asked.append(dynamo)
        Path(file).write_bytes(b"branch of the example")
        if dynamo in fails:
            raise fails[dynamo] from ValueError("no aten::odd\nand pages of advice")
        if not dynamo:
            warnings.warn_explicit("Converting a tensor to a Python boolean", TracerWarning, "net.py", 7)

    double(monkeypatch, "torch", onnx=SimpleNamespace(export=export))
    mcugen.from_torch(Net(), 5)
    assert asked == [False, True]
    fails[True] = RuntimeError("step 1/3")
    words = r"(?sm)a tensor into a Python value in net\.py, line 7\n  dynamo: ValueError: no aten::odd$"
    with pytest.raises(ToolError, match=words) as raised:
        mcugen.from_torch(Net(), 5, to=tmp_path / "a.onnx")
    assert "torch.where" in raised.value.hint and not (tmp_path / "a.onnx").exists()
    with pytest.warns(TracerWarning):
        mcugen.from_torch(Net(), 5, exporter="torchscript")
    fails |= {False: RuntimeError()}
    del fails[True]
    assert mcugen.from_torch(Net(), 5).is_file() and asked[-2:] == [False, True]


def test_torch_takes_the_exporters_options_and_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    torch = SimpleNamespace(
        float32="f32",
        as_tensor=lambda value, dtype, device: (np.asarray(value).tolist(), dtype, device),
        onnx=SimpleNamespace(export=lambda module, inputs, file, **given: seen.update(given, inputs=inputs)),
    )
    double(monkeypatch, "torch", **vars(torch))
    axes = {"x": {0: "batch"}}
    given = {"opset": 17, "input_names": ["x"], "output_names": ("y",), "dynamic_axes": axes, "exporter": "dynamo"}
    mcugen.from_torch(Net(), (np.ones(2), np.array([3])), **given)
    assert seen["inputs"] == (([1.0, 1.0], "f32", None), ([3], None, None)) and seen["dynamo"] and "kwargs" not in seen
    assert (seen["opset_version"], seen["input_names"], seen["output_names"]) == (17, ["x"], ["y"])
    assert seen["dynamic_axes"] == axes
    mcugen.from_torch(Net(), {"x": np.zeros(1, np.float32)})
    assert seen["inputs"] == () and seen["kwargs"] == {"x": ([0.0], "f32", None)}


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ({"conv.weight": 1}, "a state_dict holds weights and no network"),
        ("net.pt", "'net.pt' names a file"),
        (Net, "Net is a class"),
        (len, "is not a torch.nn.Module"),
    ],
)
def test_torch_says_what_is_no_module(monkeypatch: pytest.MonkeyPatch, module: Any, words: str) -> None:
    double(monkeypatch, "torch")
    with pytest.raises(UsageError, match=words) as raised:
        mcugen.from_torch(module, 5)
    assert raised.value.hint
    with pytest.raises(UsageError, match="there is no exporter 'fx'"):
        mcugen.from_torch(Net(), 5, exporter="fx")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "way"),
    [
        (mcugen.from_keras, "keras.models.load_model('net.sav')"),
        (mcugen.from_sklearn, "joblib.load('net.sav')"),
        (mcugen.from_xgboost, "mcugen.compile('net.sav')"),
        (mcugen.from_lightgbm, "mcugen.compile('net.sav')"),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_in_place_of_a_model_says_how_to_load_it(function: Any, way: str, kind: Any) -> None:
    with pytest.raises(UsageError, match=r"'net\.sav' names a file") as raised:
        function(kind("net.sav"))
    assert way in raised.value.hint


def end(name: str, *shape: int | None) -> SimpleNamespace:
    return SimpleNamespace(name=name, shape=shape, dtype="float32")


class Layers:
    """A Keras model as far as from_keras sees it."""

    def __init__(self, *inputs: SimpleNamespace, name: str = "key words") -> None:
        self.inputs, self.name, self.input = inputs, name, inputs

    def __call__(self, given: Any) -> Any:
        return given


def keras_double(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The shapes of what is converted."""
    seen: list[Any] = []

    def from_keras_model(model: Any) -> SimpleNamespace:
        seen.append(model)
        return SimpleNamespace(convert=DIGITS.read_bytes)

    keras = SimpleNamespace(
        Input=lambda batch_shape, dtype, name: (name, batch_shape),
        Model=lambda inputs, outputs: dict(inputs),
    )
    lite = SimpleNamespace(TFLiteConverter=SimpleNamespace(from_keras_model=from_keras_model))
    nest = SimpleNamespace(pack_sequence_as=lambda structure, given: given)
    double(monkeypatch, "tensorflow", lite=lite, keras=keras, nest=nest)
    return seen


def test_keras_goes_through_the_converter_with_a_batch_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open batch leaves the converter without the sizes of the lists that recurrent layers keep."""
    seen = keras_double(monkeypatch)
    path = mcugen.from_keras(Layers(end("x", None, 8, 8, 1)))
    assert path.name == "key_words.tflite" and mcugen.compile(path).name == "key_words"
    mcugen.from_keras(Layers(end("x", None, 3), end("y", 4, 5)))
    assert seen == [{"x": (1, 8, 8, 1)}, {"x": (1, 3), "y": (1, 5)}]


def test_keras_asks_for_open_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = keras_double(monkeypatch)
    model = Layers(end("x", None, None, 3))
    with pytest.raises(UsageError, match=r"'x' \[1, '\?', 3\]: has sizes that the model leaves open") as raised:
        mcugen.from_keras(model)
    assert "input_shape=(1, 96, 3)" in raised.value.hint
    with pytest.raises(UsageError, match=r"\[1, 9, 4\] does not fit it"):
        mcugen.from_keras(model, input_shape=(1, 9, 4))
    with pytest.raises(UsageError, match="not the shapes of the model's inputs"):
        mcugen.from_keras(model, input_shape={"z": (1, 9, 3)})
    mcugen.from_keras(model, input_shape=[1, 9, 3])
    mcugen.from_keras(model, input_shape={"x": (1, 7, 3)})
    assert seen == [{"x": (1, 9, 3)}, {"x": (1, 7, 3)}]
    with pytest.raises(UsageError, match="does not know its inputs yet"):
        mcugen.from_keras(Layers())


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


@pytest.mark.whole
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


@pytest.mark.whole
def test_a_users_type_checker_sees_the_package(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "right.py", "wrong.py"]
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line.partition(": error")[0] for line in done.stdout.splitlines() if ": error" in line]
    assert found == [f"wrong.py:{line}" for line in (3, 4, 5, 6)], done.stdout
