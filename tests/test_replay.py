# SPDX-License-Identifier: Apache-2.0
"""`ci/replay` tells checkouts that emit the same from those that do not, in bytes, in code and in costs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mcugen.errors import UsageError
from mcugen.formats import read
from mcugen.machines.toolchain.process import run, run_checked
from tests.formats import nnef_models, onnx_models
from tests.support import objects, replay

ROOT = Path(__file__).resolve().parents[1]
BOARDS = ("cortex-m0plus", "opencl-generic")
CHANGES = (
    ("c_runtime/mcugen/runtime.h", "/*", "/* changed"),
    ("templates/opencl/prelude.cl", "/*", "/* changed"),
    ("c_runtime/mcugen/opencl_basic/softmax_s8.cl", "/*", "/* changed"),
    ("c_runtime/mcugen/portable/softmax_s8.c", " > ", " < "),
)
"""Two comments that all emitted kernels have, one that gives a kernel for a device another name, an instruction."""


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what this checkout emits from, with changes."""
    folder = tmp_path_factory.mktemp("other")
    for part in replay.PARTS:
        shutil.copytree(ROOT / part, folder / part)
    for name, before, after in CHANGES:
        text = (folder / name).read_text(encoding="utf-8")
        assert before in text
        (folder / name).write_text(text.replace(before, after, 1), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each kind, and a file that is none although a format has its suffix."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(ROOT / "tests/models/s8_softmax.tflite", folder)
    writer = onnx_models.Writer()
    onnx_models.write(writer.model(writer.node("Relu", [writer.input((2, 3))])), folder)
    nnef_models.write(nnef_models.model("y = relu(x);", {}), folder / "net")
    (folder / "info.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of emitted results that tests share."""
    return tmp_path_factory.mktemp("results")


def differences(other: Path, models: Path, results: Path, sameness: str) -> dict[str, str]:
    """The builds that this checkout and another do differently, and why."""
    files = {path.name: path for path in read.models_in(models)}
    builds = [replay.Build(name, path, board, "ram") for name, path in files.items() for board in BOARDS]
    sides = replay.Checkout.at(ROOT), replay.Checkout.at(other)
    verdicts = replay.compared(builds, *sides, sameness, results)
    return {f"{verdict.build.name} {verdict.build.board}": verdict.why for verdict in verdicts if verdict.why}


@pytest.mark.whole
def test_an_instruction_changes_code_and_a_comment_does_not(other: Path, models: Path, results: Path) -> None:
    found = differences(other, models, results, "code")
    assert [*found] == ["s8_softmax.tflite cortex-m0plus"]
    assert found["s8_softmax.tflite cortex-m0plus"].startswith("code or constants; ")


def test_a_comment_changes_bytes(other: Path, models: Path, results: Path) -> None:
    given = ["--models", models, "--results", results, "--backend", "c,opencl", "--cores", ",".join(BOARDS)]
    done = run([ROOT / "ci/replay", ROOT, other, *given, "--presets", "ram"], timeout_s=300)
    assert done.returncode == 1
    *differing, last = done.text.splitlines()
    names = {(name, board) for name in ("net", "net.onnx", "s8_softmax.tflite") for board in BOARDS}
    assert {tuple(line.split()[:2]) for line in differing} == names
    assert all(("kernels/" in line or "mcugen/" in line) for line in differing)
    kinds = "3 models (1 nnef, 1 onnx, 1 tflite) for cortex-m0plus, opencl-generic, preset ram"
    assert last == f"bytes: 6 builds of {kinds}; both refuse 0; 6 differ"


def test_a_cost_that_rises_is_told(other: Path, models: Path, results: Path) -> None:
    assert differences(other, models, results, "costs") == {}
    (path,) = (results / replay.Checkout.at(other).key).glob("s8_softmax*/cortex-m0plus-ram.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(record | {"RAM": record["RAM"] + 1}), encoding="utf-8")
    risen = f"RAM {record['RAM']:,} -> {record['RAM'] + 1:,}"
    assert differences(other, models, results, "costs") == {"s8_softmax.tflite cortex-m0plus": risen}
    path.write_text(json.dumps(record | {"RAM": record["RAM"] - 1}), encoding="utf-8")
    assert differences(other, models, results, "costs") == {}


def test_a_refusal_is_a_difference(other: Path, models: Path, results: Path) -> None:
    build = replay.Build("s8_softmax.tflite", models / "s8_softmax.tflite", "cortex-m0plus", "ram")
    sides = replay.Checkout.at(ROOT), replay.Checkout.at(other)
    (before,) = replay.records([build], sides[0], results)
    refused = {"refused": "UnsupportedError: no"}
    for same, differs in (("bytes", True), ("code", True), ("costs", False)):
        assert bool(replay.verdict(build, refused, before, same, results).why) == differs
        assert replay.verdict(build, before, refused, same, results).why
    assert replay.verdict(build, refused, {"refused": "other words"}, "bytes", results).why
    assert replay.verdict(build, refused, {"refused": "other words"}, "code", results) == replay.Verdict(
        build, "", True
    )


def compiled(folder: Path, first: str, second: str) -> list[str]:
    """Digests of two kernels with hashes in their names, and of a model that calls `first` and then `second`.

    The first kernel reads the address of a label, as code for RISC-V does that loads constants.
    """
    folder.mkdir()
    texts = {
        "a": f"int mg_k_{first}(int x) {{ static void *volatile at = &&end; goto *at; end: return x + 1; }}",
        "b": f"int mg_k_{second}(int x) {{ return x + 2; }}",
        "m": "int mg_k_{0}(int); int mg_k_{1}(int); int run(int x) {{ return mg_k_{0}(mg_k_{1}(x)); }}",
    }
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text.format(*sorted((first, second))) if name == "m" else text)
        run_checked(["gcc", "-O1", "-ffunction-sections", "-c", folder / f"{name}.c", "-o", folder / f"{name}.o"])
    return objects.digests(objects.read(folder / f"{name}.o") for name in texts)


def test_hashes_in_names_do_not_count_but_exchanged_kernels_do(tmp_path: Path) -> None:
    before = compiled(tmp_path / "before", "111aaa", "222bbb")
    assert compiled(tmp_path / "renamed", "333ccc", "444ddd") == before
    assert compiled(tmp_path / "exchanged", "222bbb", "111aaa") != before


def test_hashes_in_names_of_places_do_not_count() -> None:
    def digests(name: str) -> list[str]:
        section = f".text.mg_k_{name}"
        jump = (section, 14, 16, 0, f"{section}+164")
        return objects.digests(
            [objects.Object([(section, 1, 6, 166, "")], [jump], [(f"mg_k_{name}", section, 0, 166, 18)])]
        )

    assert digests("111aaa") == digests("222bbb")


def test_a_revision_is_unpacked_and_removed(tmp_path: Path) -> None:
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    run_checked([*git, "init", "-q"])
    (tmp_path / "mcugen").mkdir()
    (tmp_path / "mcugen/a.py").write_text("a = 1\n")
    run_checked([*git, "add", "."])
    run_checked([*git, "commit", "-q", "-m", "a"])
    with pytest.raises(UsageError, match="no tag to compare with"), replay.checkout(replay.LAST_TAG, tmp_path):
        pass
    with pytest.raises(UsageError, match="neither a folder nor a revision"), replay.checkout("v9", tmp_path):
        pass
    run_checked([*git, "tag", "v1"])
    (tmp_path / "mcugen/a.py").write_text("a = 2\n")
    for given in (replay.LAST_TAG, "HEAD"):
        with replay.checkout(given, tmp_path) as there:
            assert (there.root / "mcugen/a.py").read_text() == "a = 1\n"
        assert not there.root.exists()
