# SPDX-License-Identifier: Apache-2.0
"""An installed package that fails at import is named, and left out where it is not needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.plugin import ROOT, install, run
from tests.support.tflite_writer import ModelWriter

DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
FAILURES = {
    "raise ValueError('no luck')": "ValueError: no luck",
    "import sys\nsys.exit(3)": "SystemExit: 3",
    "import absent_library": "ModuleNotFoundError: No module named 'absent_library'",
    "def broken(:": "SyntaxError",
    "def __getattr__(name):\n    raise RuntimeError('no such thing: ' + name)": "RuntimeError: no such thing: ",
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", FAILURES)
@pytest.mark.parametrize("group", ["mcugen.ops", "mcugen.kernels"])
def test_a_build_goes_on_without_it_and_names_it(group: str, text: str, tmp_path: Path) -> None:
    install(tmp_path / "site", "their_package", group, "theirs", **{"__init__.py": text})
    done = run(tmp_path / "site", "build", DIGITS, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (note,) = " ".join(done.stdout.split()).split("note: ")[1:]
    assert f"left out: {group}: their_package: plugin 'theirs' of their_package 1.0 fails at import: " in note
    assert FAILURES[text] in note


def test_a_model_that_needs_it_is_refused_with_its_name(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 2, 3, 4), "s8", scale=1.0) for name in "xy")
    m.op("CUSTOM", [x], [y], custom_code="Triangle", custom_options=b"")
    (tmp_path / "model.tflite").write_bytes(m.build([x], [y]))
    install(tmp_path / "site", "their_package", "mcugen.ops", "theirs", **{"__init__.py": "import sys; sys.exit(3)"})
    done = run(tmp_path / "site", "build", tmp_path / "model.tflite", "-o", tmp_path / "out")
    assert done.returncode == 3
    assert "operator 0 CUSTOM:Triangle: no such operator" in done.stderr
    assert "plugin 'theirs' of their_package 1.0 fails at import: SystemExit: 3" in done.stderr


def test_two_packages_may_not_name_one_export(tmp_path: Path) -> None:
    for package in ("one", "two"):
        install(tmp_path / "site", package, "mcugen.exports", "list")
    done = run(tmp_path / "site", "build", DIGITS, "-o", tmp_path / "out", "--export", "list")
    assert done.returncode == 2
    assert "two packages name an entry point 'list' in mcugen.exports: one and two" in done.stderr
