"""Stored builds: found again only if nothing that they were made from has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result

from mcugen.cli import cli
from mcugen.emit import environment
from mcugen.system import resources, result_cache

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "f32_add.tflite"
OTHER = ROOT / "tests" / "models" / "f32_maximum.tflite"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the cache, and a model to build in the current folder."""
    monkeypatch.setenv("MCUGEN_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    shutil.copy(MODEL, "net.tflite")
    return tmp_path / "store"


def build(*arguments: str, out: str = "out") -> Result:
    return CliRunner().invoke(cli, ["build", "net.tflite", "-o", out, *arguments], catch_exceptions=False)


def is_stored(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> bool:
    """Whether a build needs no computing."""
    made: list[int] = []
    with monkeypatch.context() as patch:
        from mcugen import pipeline

        work = pipeline.build
        patch.setattr(pipeline, "build", lambda *a, **k: made.append(1) or work(*a, **k))
        done = build(*arguments, out="again")
    assert done.exit_code == 0, done.output
    return not made


def content(folder: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--share-arena", "--kernels-dir", "shared")])
def test_a_stored_build_writes_and_prints_the_same(
    store: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    if "--share-arena" in arguments:
        shutil.copy(OTHER, "other.tflite")
        arguments = ("other.tflite", *arguments)
    first, second = build(*arguments), build(*arguments, out="again")
    assert first.exit_code == second.exit_code == 0, first.output
    assert first.stdout == second.stdout and first.stdout
    assert content("out") == content("again") and len(content("out")) > 5
    assert len(list(store.glob("*.zip"))) == 1
    assert is_stored(monkeypatch, *arguments)


def test_changes_of_a_file_an_option_or_the_program_are_noticed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = ROOT / "boards" / "cortex-m4"
    shutil.copytree(board, "mine")
    assert build("--board", "mine").exit_code == 0
    assert is_stored(monkeypatch, "--board", "mine")
    assert not is_stored(monkeypatch, "--board", "mine", "--optimize", "ram")
    with open("mine/board.toml", "a", encoding="utf-8") as file:
        file.write("\n# a comment\n")
    assert not is_stored(monkeypatch, "--board", "mine")
    shutil.copy(OTHER, "net.tflite")
    assert not is_stored(monkeypatch, "--board", "mine")
    assert is_stored(monkeypatch, "--board", "mine")
    with monkeypatch.context() as patch:
        patch.setattr(result_cache, "_program", lambda: "another program")
        assert not is_stored(patch, "--board", "mine")
    monkeypatch.delenv("MCUGEN_CACHE")
    assert not is_stored(monkeypatch, "--board", "mine")


def test_data_beside_an_onnx_model_are_an_input_too(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [np.arange(12, dtype=np.float32).reshape(3, 4) + k for k in range(2)]
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    ends = [onnx.helper.make_tensor_value_info(name, 1, (1, n)) for name, n in (("x", 3), ("y", 4))]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:], [onnx.numpy_helper.from_array(weights[0], "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, "net.tflite", save_as_external_data=True, location="w.bin", size_threshold=0)
    build()
    assert is_stored(monkeypatch)
    Path("w.bin").write_bytes(weights[1].tobytes())
    assert not is_stored(monkeypatch)


def test_the_hash_of_the_program_reads_every_kind_of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("package", "templates", "c_runtime", "boards"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
        monkeypatch.setattr(resources, name, lambda path=tmp_path / name: path)
    seen = {result_cache._program()}
    for name in ("package", "templates", "c_runtime", "boards"):
        (tmp_path / name / "file").write_text("next")
        seen.add(result_cache._program())
    assert len(seen) == 5


def test_templates_that_the_build_compiles_are_no_input(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled templates may lie outside the program; those that are missing are written during the build."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(store.parent / "compiled"))
    folder = Path(cache_from_source(str(resources.templates() / "any.py"))).parent
    folder.mkdir(parents=True)
    monkeypatch.setattr(environment, "_environment", cache(environment._environment.__wrapped__))
    monkeypatch.setattr(result_cache, "_covered", cache(result_cache._covered.__wrapped__))
    build()
    assert list(folder.glob("*.jinja")) and is_stored(monkeypatch)


def test_damaged_entries_and_folders_that_cannot_be_written_count_as_none(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()
    (entry,) = store.glob("*.zip")
    whole = entry.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        entry.write_bytes(whole[:size])
        assert not is_stored(monkeypatch), size
    middle = len(whole) // 3
    entry.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    assert not is_stored(monkeypatch)
    assert is_stored(monkeypatch)
    shutil.rmtree(store)
    store.write_text("a file")
    assert not is_stored(monkeypatch) and store.read_text() == "a file"


def test_a_file_that_changes_during_the_build_is_not_trusted(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> result_cache.BuildResult:
        Path("net.tflite").read_bytes()
        Path("net.tflite").write_bytes(b"edited meanwhile")
        return result_cache.BuildResult({"a": b"b"}, result_cache.SharedFiles("", {}), {}, [])

    result_cache.result_of(store, ["net.tflite"], make)
    assert not store.exists()


def test_the_least_used_entries_go_and_large_builds_are_not_stored(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()
    (entry,) = store.glob("*.zip")
    monkeypatch.setattr(result_cache, "MOST_BYTES", 7 * entry.stat().st_size // 2)
    for age, name in ((30, "old.zip"), (20, "young.zip")):
        shutil.copy(entry, store / name)
        os.utime(store / name, (entry.stat().st_mtime - age,) * 2)
    build("--optimize", "ram")
    left = {path.name for path in store.glob("*")}
    assert "old.zip" not in left and "young.zip" in left and entry.name in left and len(left) == 3
    monkeypatch.setattr(result_cache, "MOST_ENTRY_BYTES", 1000)
    build("--optimize", "speed")
    assert {path.name for path in store.glob("*")} == left


def test_two_processes_that_build_at_once_both_succeed(store: Path) -> None:
    command = [sys.executable, "-m", "mcugen", "build", "net.tflite", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen([*command, "-o", f"out{k}"], stdout=subprocess.PIPE, env=environment) for k in range(2)]
    texts = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert json.loads(texts[0]) == json.loads(texts[1]) and content("out0") == content("out1")
    assert len(list(store.iterdir())) == 1


def test_no_cache_neither_reads_nor_stores(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build("--no-cache")
    assert not store.exists()
    build()
    assert not is_stored(monkeypatch, "--no-cache") and is_stored(monkeypatch)
