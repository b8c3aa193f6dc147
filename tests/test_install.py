"""The package installed into a fresh environment works away from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import mcugen

ROOT = Path(__file__).parent.parent


def _run(*command: str | Path, cwd: Path) -> str:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """An environment with mcugen in it, and of what it needs the packages here; with --whole, downloaded like its own.

    That nothing is imported that is not declared, tests/meta checks.
    """
    folder = tmp_path_factory.mktemp("install")
    _run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    needs: tuple[str, ...] = ()
    if not pytestconfig.getoption("--whole"):
        needs = ("--no-deps",)
        own = sysconfig.get_paths(vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")})["purelib"]
        (Path(own) / "needed.pth").write_text(sysconfig.get_path("purelib"))  # its editable packages are not looked for
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, *needs, ROOT, cwd=folder)
    return folder


@pytest.mark.long
def test_an_installed_mcugen_builds_from_another_folder(venv: Path) -> None:
    model = ROOT / "examples" / "digits" / "digits.tflite"
    tool = venv / "venv" / "bin" / "mcugen"
    _run(tool, "build", model, "--board", "cortex-m7", "-o", "out", cwd=venv)
    where = _run(venv / "venv" / "bin" / "python", "-c", "import mcugen; print(mcugen.__file__)", cwd=venv)
    assert str(venv) in where
    sources = sorted(str(p.relative_to(venv / "out")) for p in (venv / "out").rglob("*.c"))
    warnings = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
    _run("gcc", *warnings, "-O2", "-I.", *sources, "-lm", "-o", "digits", cwd=venv / "out")
    printed = _run(venv / "out" / "digits", cwd=venv)
    assert printed.count("digits_output[") == 10
    assert "cortex-m7" in _run(tool, "boards", cwd=venv)


def test_the_names_of_the_package_are_those_that_users_need() -> None:
    mcugen.compile(ROOT / "examples" / "digits" / "digits.tflite")  # loads modules, which dir() would show
    assert dir(mcugen) == sorted(mcugen.__all__)
