# SPDX-License-Identifier: Apache-2.0
"""The examples in user pages run unchanged, and generated pages are up to date."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcugen.boards import target
from mcugen.cli import main
from mcugen.report import measured
from tests.formats import test_microwakeword
from tests.quantize.stream_models import BANDS, stream
from tests.samples.test_front_end import speech
from tests.samples.test_sound_folders import encoded, wav
from tests.support import front_end, reference_pages
from tests.support.tflite_writer import ModelWriter

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FILES = {
    "model.tflite": "examples/digits/digits.tflite",
    "shapes.tflite": "examples/camera/shapes.tflite",
    "sweeps.tflite": "examples/microphone/sweeps.tflite",
}
NNEF = """version 1.0;
graph net( input ) -> ( output )
{
    input = external<scalar>( shape = [1, 3] );
    output = relu( input );
}
"""
SAMPLED = ("docs/index.md",)
"""Pages whose shell blocks run also without --whole."""
TOO_LARGE = {"torch", "tensorflow", "keras"}
"""Packages that a user's page may import and the tests do without; `ci/soak --recipes` installs them."""


MADE = {*reference_pages.PAGES, "operators.md", "operators-in-detail.md"}
"""Pages that are made of what the program says."""
BY_ITSELF = "docs/first-model.md"
"""A page with tools that are too large for the tests; tests/test_training.py runs what is not."""
SOUND = ("docs/keywords.md", "docs/samples.md", "docs/sensors.md")
"""Pages whose commands take sounds and their features."""
LANGUAGES = {"python", "shell", "c", "text", "yaml"}
"""Languages of fenced blocks; blocks of the first two run."""
NEEDS_A_BOARD = "--port"
SETUP = {
    "docs/exports.md": [
        "build model.tflite --board cortex-m4 --weights-blob -o out/",
        "build model.tflite --board nucleo-l4r5zi --export profile -o measured/",
    ],
    "docs/report.md": ["build model.tflite --optimize ram -o before/", "build model.tflite -o after/"],
}
"""Commands that a page assumes were run before."""


def fenced(page: str) -> list[tuple[str, str]]:
    """The blocks of a page in their order: language and text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    return [text for marked, text in fenced(page) if marked == language]


def pages_with(language: str) -> list[str]:
    found = [str(path.relative_to(ROOT)) for path in sorted(DOCS.glob("*.md")) if path.name not in MADE]
    return [page for page in found if page != BY_ITSELF and blocks(page, language)]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the models and data that the pages name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, path in FILES.items():
        shutil.copy(ROOT / path, tmp_path / name)
    return tmp_path


def further(folder: Path, page: str) -> None:
    """The files that the shell blocks of a page assume: float models, samples, and results of earlier commands."""
    rng = np.random.default_rng(1)
    m = ModelWriter()
    x, y = m.tensor("x", (1, 8, 8, 1), "f32"), m.tensor("y", (1, 10), "f32")
    c, w = m.tensor("c", (1, 8, 8, 8), "f32"), m.tensor("w", (8, 3, 3, 1), "f32", data=rng.normal(size=(8, 3, 3, 1)))
    v = m.tensor("v", (10, 512), "f32", data=rng.normal(size=(10, 512)) / 20)
    m.op("CONV_2D", [x, w], [c], {"padding": "SAME", "stride_h": 1, "stride_w": 1, "fused_activation_function": "RELU"})
    m.op("FULLY_CONNECTED", [c, v], [y])
    for name in ("digits.tflite", "model.onnx", "v1.onnx", "v2.onnx"):  # known by their content, whatever their names
        (folder / name).write_bytes(m.build([x], [y]))
    images = rng.uniform(0, 1, (40, 8, 8, 1)).astype(np.float32)
    np.savez(folder / "samples.npz", x=images)
    np.savez(folder / "calib.npz", x=images)
    np.savez(folder / "test.npz", x=images, y=rng.integers(0, 10, 40))
    np.save(folder / "x.npy", images)
    if page == "docs/quantize.md":
        stream(folder, "GRU")
        for name, frames in (("sequences", 20), ("longer", 60)):
            np.savez(folder / f"{name}.npz", x=rng.normal(size=(6, frames, BANDS)).astype(np.float32))
    if page == "docs/nnef.md":
        (folder / "model").mkdir()
        (folder / "model" / "graph.nnef").write_text(NNEF)
    np.savez(folder / "golden.npz", in0_0=np.float32([[1, -2, 3]]), out0_0=np.float32([[1, 0, 3]]))
    for name in ("retrained.tflite", "wake_word.tflite"):
        shutil.copy(folder / "model.tflite", folder / name)
    shutil.copy(folder / "sweeps.tflite", folder / "commands.tflite")
    if page in SOUND:
        of_sound(folder, is_float=page != "docs/sensors.md")
    (folder / "board").mkdir()
    (folder / "board" / "board.toml").write_text(target.text("opencl-generic"))
    for line in SETUP.get(page, []):
        command(line)
    if (folder / "measured").exists():
        facts = json.loads((folder / "measured" / "report.json").read_text())
        head = f"mcugen-profile 2 {facts['name']} {facts['sha256'][:16]} runs=1 hz=80000000 mark=9 cycles=0 us=0"
        steps = [f"step {k} {1000 * k + 9} 1 a layer" for k in range(len(facts["steps"]))]
        end = f"mcugen-profile end {measured.checksum([head, *steps])}"
        (folder / "log.txt").write_text("\n".join([head, *steps, end, ""]))


def of_sound(folder: Path, is_float: bool) -> None:
    """Sounds of two words, networks of their features, a front end, and the description of a wake word.

    is_float: net.tflite takes 49 rows of 40 floats, otherwise 3 rows of the integers of wake words.
    """
    for word in ("no", "yes"):
        (folder / "words" / word).mkdir(parents=True)
        for k in range(4):
            sound = encoded(speech(16000, 10 * k + len(word)), 16)
            (folder / "words" / word / f"{k}.wav").write_bytes(wav(sound, rate=16000))
    test_microwakeword.write_network(folder / "net.tflite")
    test_microwakeword.described(folder).rename(folder / "okay_nabu.json")
    (folder / "front.tflite").write_bytes(front_end.model())
    if is_float:
        rng, m = np.random.default_rng(2), ModelWriter()
        x, flat, y = m.tensor("x", (1, 49, 40), "f32"), m.tensor("flat", (1, 1960), "f32"), m.tensor("y", (1, 2), "f32")
        m.op("RESHAPE", [x, m.tensor("shape", (2,), "s32", data=[1, 1960])], [flat])
        m.op("FULLY_CONNECTED", [flat, m.tensor("w", (2, 1960), "f32", data=rng.normal(size=(2, 1960)) / 50)], [y])
        (folder / "net.tflite").write_bytes(m.build([x], [y]))


def command(line: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line, comments=True))
    assert not ended.value.code, line


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shell_page" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole")
        metafunc.parametrize("shell_page", [page for page in pages_with("shell") if whole or page in SAMPLED])


def imported(block: str) -> set[str]:
    """The packages that a block needs."""
    nodes = list(ast.walk(ast.parse(block)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [node.id for node in nodes if isinstance(node, ast.Name)]
    return {name.partition(".")[0] for name in names}


def execute(page: str, block: str, values: dict[str, object]) -> None:
    """A block of Python, but for those of packages too large for the tests."""
    if not imported(block) & TOO_LARGE:
        exec(compile(block, page, "exec"), values)


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_runs(page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    of_repository = "examples/" in "".join(blocks(page, "python"))
    monkeypatch.chdir(ROOT if of_repository else folder)
    values: dict[str, object] = {} if of_repository else {"x": np.zeros((1, 8, 8, 1), np.int8)}
    for block in blocks(page, "python"):
        execute(page, block, values)


def test_shell_runs(shell_page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The commands of a page, with its Python between them, in the page's order."""
    monkeypatch.chdir(folder)
    further(folder, shell_page)
    values: dict[str, object] = {"x": np.zeros((1, 8, 8, 1), np.int8)}
    for language, block in fenced(shell_page):
        if language == "python" and "examples/" not in block:  # those of the repository run by themselves
            execute(shell_page, block, values)
        for line in re.sub(r"\\\n\s*", "", block).splitlines() if language == "shell" else ():
            if line.startswith("mcugen "):
                command(line.removeprefix("mcugen "))
            else:
                subprocess.run(["bash", "-euc", line], check=True)


def test_every_block_says_whether_it_runs() -> None:
    pages = [str(path.relative_to(ROOT)) for path in sorted(DOCS.glob("*.md")) if path.name not in MADE]
    marked = [(page, language, text) for page in pages for language, text in fenced(page)]
    assert {language for _, language, _ in marked} <= LANGUAGES
    said = [(page, line) for page, language, text in marked if language == "text" for line in text.splitlines()]
    assert [
        (page, line) for page, line in said if re.match("mcugen [a-z]+ .*[a-z]/?$", line) and NEEDS_A_BOARD not in line
    ] == []


@pytest.mark.parametrize("name", reference_pages.PAGES)
def test_made_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == reference_pages.PAGES[name](), "python -m tests.support.reference_pages"


def test_links_hold() -> None:
    """Files and headings that pages name are there; links that leave docs/ name a file of the repository."""
    broken = []
    for path in (*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for named, heading in re.findall(r"\]\(([^)#\s]+)?(?:#([^)]*))?\)", path.read_text("utf-8")):
            page = path.parent / named if named else path
            is_local = "://" not in named
            if is_local and not (page.exists() and (not heading or heading in anchors(page))):
                broken.append(f"{path.relative_to(ROOT)}: {named}#{heading}")
    assert broken == []


def anchors(page: Path) -> set[str]:
    """The names that links have for the headings of a page: words in lower case with hyphens between them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_every_page_is_in_the_site() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    assert [page for page in pages if f"- {page}\n" not in nav and f": {page}\n" not in nav] == []
