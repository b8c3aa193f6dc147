"""Files that are not what their name says, or are of formats that mcugen does not read: said at the door."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

import mcugen
from mcugen.errors import McugenError, UsageError
from mcugen.formats import _embedded, _foreign, read, registry
from tests.formats.onnx_models import Writer

ROOT = Path(__file__).resolve().parents[2]
DIGITS = (ROOT / "examples" / "digits" / "digits.tflite").read_bytes()


def archive(*names: str, module: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name in names:
            file.writestr(name, module)
    return stream.getvalue()


FOREIGN = {
    "net.keras": (archive("metadata.json", "config.json", "model.weights.h5"), "Keras", "mcugen.from_keras(model"),
    "net.h5": (b"\x89HDF\r\n\x1a\n", "HDF5", "load_weights"),
    "saved_model.pb": (b"\x08\x01\x12\x05", "SavedModel", "from_saved_model"),
    "frozen.pb": (b"\x0a\x05", "frozen graph", "from_frozen_graph"),
    "net.pt": (archive("net/data.pkl", "net/data/0"), "PyTorch", "mcugen.from_torch(model"),
    "whole.pt": (
        archive("net/data.pkl", module=b"\x80\x02cnet\nNet\n)\x81}(X\x0b\0\0\0_parameters"),
        "a whole module of PyTorch",
        "weights_only=False",
    ),
    "net.pth": (b"\x80\x02\x8a\x0a", "pickle", "joblib.load"),
    "old.pth": (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "before 1.6", "mcugen.from_torch(model"),
    "script.pt": (archive("net/constants.pkl", "net/code/net.py"), "TorchScript", "torch.jit.load"),
    "net.safetensors": (b"\x08\0\0\0\0\0\0\0{}", "safetensors", "load_file"),
    "forest.pkl": (b"\x80\x04\x95", "a pickle", "mcugen.from_sklearn(model"),
    "forest.joblib": (b"\x80\x04\x95", "a pickle", "mcugen.from_sklearn(model"),
    "net.mlmodel": (b"\x08\x01\x12\x02ab\xc2\x3e\x00", "Core ML", "mcugen.from_torch(model"),
    "yolo.cfg": (b"# tiny\n[net]\nbatch=1\n", "Darknet", "darknet2onnx.py yolo.cfg yolo.weights"),
    "yolo.weights": (b"\0\0\0\0\2\0\0\0", "weights of Darknet", "darknet2onnx.py yolo.cfg yolo.weights"),
    "net.caffemodel": (b"\x0a\x03net", "Caffe", "caffe2onnx"),
    "net.params": (b"\x12\x01\0\0\0\0\0\0", "MXNet", "mx.onnx.export_model"),
    "net.pdmodel": (b"\x0a\x05", "PaddlePaddle", "paddle2onnx"),
    "net.engine": (b"ptrt", "TensorRT", "give the .onnx"),
    "net.espdl": (b"EDL2", "ESP-DL", "give the .onnx"),
    "net.nb": (b"\1", "compiled for one runtime", "give the .onnx"),
    "export.zip": (archive("trained.tflite", "README.md"), "archive with a .tflite", "zipfile -e export.zip"),
    "net.ort": (b"\x18\0\0\0ORTM", "ORT", "give the .onnx"),
    "net.tflite": (b"version https://git-lfs.github.com/spec/v1\n", "git-lfs", "git lfs pull --include net.tflite"),
    "net.onnx": (b"\n<!DOCTYPE html><html>", "web page", "raw"),
    "page": (b"<html>", "web page", "raw"),
}


def load(path: Path) -> object:
    return read.load(path, registry.load(()))


@pytest.mark.parametrize("name", FOREIGN)
def test_each_format_gets_its_lines(name: str, tmp_path: Path) -> None:
    data, what, line = FOREIGN[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError) as caught:
        load(tmp_path / name)
    assert caught.value.where == name and what in caught.value.message and line in caught.value.hint
    assert "FILE" not in caught.value.hint.replace("THE_FOLDER_OF_", "") and "STEM" not in caught.value.hint


@pytest.mark.parametrize(
    ("kind", "name", "own"),
    [
        ("net.h5", "net.tflite", "net.h5"),
        ("net.keras", "net.zip", "net.keras"),
        ("forest.pkl", "net.onnx", "net.pkl"),
        ("net.safetensors", "net.tflite", "net.safetensors"),
        ("net.pt", "net.bin", "net.pt"),
    ],
)
def test_a_wrong_name_is_put_right_before_the_lines(kind: str, name: str, own: str, tmp_path: Path) -> None:
    """Keras opens no .h5 of another name, and lines that write net.tflite must not write over what they read."""
    (tmp_path / name).write_bytes(FOREIGN[kind][0])
    with pytest.raises(UsageError, match=FOREIGN[kind][1]) as caught:
        load(tmp_path / name)
    assert f"rename it to {own!r}" in caught.value.hint and f'("{own}"' in caught.value.hint


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    with pytest.raises(UsageError, match="is not a model file that mcugen reads"):
        load(tmp_path / "net")
    (tmp_path / "net" / "saved_model.pb").touch()
    with pytest.raises(UsageError, match="is a SavedModel of TensorFlow") as caught:
        load(tmp_path / "net")
    assert 'from_saved_model("net")' in caught.value.hint


@pytest.mark.parametrize("name", ["model.bin", "model.onnx", "model.lite", "model.h5", "model"])
def test_a_name_does_not_matter_where_the_content_is_known(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(DIGITS)
    artifact = mcugen.compile(tmp_path / name)
    assert f"{name} is a .tflite file" in artifact.report.notes and artifact.imported.format == "tflite"


def test_onnx_is_known_by_its_content(tmp_path: Path) -> None:
    w = Writer()
    model = w.model(w.node("Relu", [w.input((1, 4))])).SerializeToString()
    for name in ("net.onnx", "net.pb", "net.tflite"):
        (tmp_path / name).write_bytes(model)
        assert mcugen.compile(tmp_path / name).imported.format == "onnx"


C_ARRAYS = {
    "xxd": "unsigned char digits[] = {\n%s\n};\nunsigned int digits_len = %d;\n",
    "tflm": (
        '#include "model.h"\n// Keep it aligned.\nalignas(16) const unsigned char g_model[] = {\n%s};\n'
        "const int g_model_len = %d;\nconst char *names[] = {};\nconst int sizes[2] = {1, 2};\n"
    ),
}


@pytest.mark.parametrize("form", C_ARRAYS)
@pytest.mark.parametrize("number", ["0x%02x", "%d"])
def test_arrays_of_c_are_read(form: str, number: str, tmp_path: Path) -> None:
    listed = ",".join(number % byte + ("\n " if k % 12 == 11 else "") for k, byte in enumerate(DIGITS))
    (tmp_path / "model_data.cc").write_text(C_ARRAYS[form] % (listed, len(DIGITS)))
    artifact = mcugen.compile(tmp_path / "model_data.cc")
    assert artifact.imported.sha256 == mcugen.compile(ROOT / "examples/digits/digits.tflite").imported.sha256
    assert artifact.report.notes[0] == f"model_data.cc holds a .tflite file of {len(DIGITS):,} bytes as an array"


def test_an_array_among_others_is_chosen_by_its_content(tmp_path: Path) -> None:
    """With several models in a text none is chosen: the error names them."""
    listed = ",".join(map(str, DIGITS))
    one = f"const unsigned char table[] = {{1, 2}};\nalignas(16) const unsigned char digits [] = {{{listed}}};\n"
    path = tmp_path / "both.cc"
    path.write_text(one)
    assert load(path).sha256 == mcugen.compile(ROOT / "examples/digits/digits.tflite").imported.sha256
    sweeps = (ROOT / "examples/microphone/sweeps.tflite").read_bytes()
    attribute = "__attribute__((aligned(16)))"
    path.write_text(one + f"unsigned char sweeps[{len(sweeps)}] {attribute} = {{{','.join(map(str, sweeps))}}};\n")
    message = rf"holds 2 models: digits \({len(DIGITS):,} bytes\), sweeps \({len(sweeps):,} bytes\)"
    with pytest.raises(UsageError, match=message) as refused:
        load(path)
    assert "file of its own" in refused.value.hint


def test_arrays_that_are_no_model(tmp_path: Path) -> None:
    (tmp_path / "table.c").write_text("static const int t[] = {0x1, 300, /* no */ 08, -1};\nint u[] = {1, 2};\n")
    assert list(_embedded.arrays((tmp_path / "table.c").read_bytes())) == [("u", b"\1\2")]
    with pytest.raises(UsageError, match="C source in which no byte array is a model"):
        load(tmp_path / "table.c")


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").touch()
    with pytest.raises(McugenError, match="the file is empty"):
        load(tmp_path / "model.tflite")


DAMAGED = {
    "signature alone": b"PK\3\4",
    "cut archive": archive("a")[:-30],
    "one byte": b"\x80",
    "empty": b"",
    "open brackets": b"= {" * 1000,
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("name", ["a.zip", "a.tflite", "a.onnx", "a.bin", "a.keras"])
def test_damage_is_an_error_and_no_traceback(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(McugenError):
        load(tmp_path / name)


def test_kinds_are_whole() -> None:
    for kind in _foreign.kinds():
        assert kind.title and len(kind.recipe.strip().splitlines()) >= 2
        assert kind.suffixes or kind.members or kind.text or kind.magic
        assert bool(kind.needs) == bool(kind.makes)
    endings = [suffix for kind in _foreign.kinds() for suffix in kind.suffixes]
    assert len(endings) == len(set(endings))
