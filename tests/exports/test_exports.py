# SPDX-License-Identifier: Apache-2.0
"""Exports that a build writes beside the C are found: pages, folders of templates, and what installed packages add."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.report import exports
from mcugen.report.output import Content, Output, ReportedModel
from tests.support.plugin import ROOT, install, run

DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
MODULE = """
def files(output):
    return {f"{output.name}.sizes": lambda complete: f"{complete.facts['files'][-1]}\\n".encode()}
"""
MANIFEST = """
title = "a list of sources for somebody's build"
[files]
"build/{{ name }}.lst" = "sources.lst.j2"
"""


PAGES = {"report.json", "report.html", "badge.svg", "memory.svg"}


def test_a_build_writes_pages_and_the_default_export() -> None:
    made = mcugen.compile(DIGITS)
    assert set(made.files) - set(made.emitted) == {*PAGES, "CMakeLists.txt", "README-cmake.md"}
    report = json.loads(made.files["report.json"])
    assert sorted(report["files"]) == sorted(made.files) == list(made.report.files)
    sources = made.files["CMakeLists.txt"].decode().partition("if(ESP_PLATFORM)")[0]
    assert "kernels/" in sources and "main.c" not in sources


def test_no_export() -> None:
    made = mcugen.compile(DIGITS, export=("none",))
    assert set(made.files) - set(made.emitted) == PAGES
    assert "--export none" in made.files["digits.c"].decode()


def test_an_unknown_export_is_named() -> None:
    with pytest.raises(UsageError, match="no export named 'cmaek'") as caught:
        mcugen.compile(DIGITS, export=("cmaek",))
    assert "did you mean cmake?" in caught.value.hint


def test_a_module_from_outside(tmp_path: Path) -> None:
    install(tmp_path / "site", "their_sizes", "mcugen.exports", "sizes", **{"__init__.py": MODULE})
    done = run(tmp_path / "site", "build", DIGITS, "-o", tmp_path / "out", "--export", "sizes", "--export", "cmake")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "digits.sizes").read_text() == "report.json\n"
    assert (tmp_path / "out" / "CMakeLists.txt").is_file()
    assert "digits.sizes" in json.loads((tmp_path / "out" / "report.json").read_text())["files"]


def test_a_folder_of_templates_from_outside(tmp_path: Path) -> None:
    text = "{{ name }} {{ facts.ram_bytes }}\n{% for source in sources %}\n{{ source }}\n{% endfor %}\n"
    files = {"export.toml": MANIFEST, "sources.lst.j2": text}
    install(tmp_path / "site", "their_build", "mcugen.exports", "list", **files)
    done = run(tmp_path / "site", "build", DIGITS, "-o", tmp_path / "out", "--export", "list")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out" / "build" / "digits.lst").read_text().splitlines()
    facts = json.loads((tmp_path / "out" / "report.json").read_text())
    assert lines[0] == f"digits {facts['ram_bytes']}"
    assert lines[1:] == sorted(lines[1:]) and {"digits.c", "digits_weights.c"} < set(lines[1:])
    assert not (tmp_path / "out" / "CMakeLists.txt").exists()


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"__init__.py": MODULE.replace("{output.name}.sizes", "../sizes")}, "outside the folder"),
        ({"__init__.py": MODULE.replace("{output.name}.sizes", "report.json")}, "exists already"),
        ({"__init__.py": "import sys; sys.exit(3)"}, "plugin 'theirs' of their_build 1.0 fails at import: SystemExit"),
        ({}, "neither a function"),
        ({"export.toml": MANIFEST}, "a template in their_build/"),
        ({"export.toml": MANIFEST + "\n[more]\n"}, "is not a known key"),
    ],
)
def test_a_wrong_export_is_refused_where_it_is_chosen(tmp_path: Path, files: dict[str, str], message: str) -> None:
    install(tmp_path / "site", "their_build", "mcugen.exports", "theirs", **files)
    out = tmp_path / "out"
    done = run(tmp_path / "site", "build", DIGITS, "-o", out, "--export", "theirs")
    assert done.returncode == 2 and message in done.stderr and not out.exists(), done.stderr
    assert run(tmp_path / "site", "build", DIGITS, "-o", out).returncode == 0


def test_files_of_exports_do_not_meet() -> None:
    def same(output: Output) -> dict[str, Content]:
        return {"a.txt": lambda _: b""}

    output = Output("m", (), (), (), {})
    with pytest.raises(UsageError, match=r"'b' writes 'a\.txt'"):
        exports.contents([exports.Export("a", same), exports.Export("b", same)], output, [])


def test_an_artifact_is_shown_in_a_line() -> None:
    made = mcugen.compile(DIGITS)
    assert repr(made) == f"<Artifact digits for host: {len(made.files)} files, {made.report.ram_bytes:,} bytes of RAM>"


def test_exports_about_one_model_refuse_several() -> None:
    """Marks of a second model would count beyond the table of the first."""
    one = exports.Export("one", lambda _: {}, alone=True)
    made = mcugen.compile(DIGITS)
    model = ReportedModel(made.view, made.schedule, made.plan)
    assert exports.contents([one], Output("m", (model,), (), (), {}), []) == {}
    with pytest.raises(UsageError, match="'one' is for one model, but 2 share this folder"):
        exports.contents([one], Output("m", (model, model), (), (), {}), [])
