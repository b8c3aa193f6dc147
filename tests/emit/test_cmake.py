# SPDX-License-Identifier: Apache-2.0
"""The emitted CMakeLists.txt configures and links on its own, in C projects, and in projects that are C++ alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mcugen.machines.toolchain.process import run, run_checked
from tests.emit.built import Built, build

USE = '#include "elu.h"\nstatic elu_t m;\nint main() { return elu_selftest(&m); }\n'


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A model that calls the mathematical library."""
    return build("elu", tmp_path_factory.mktemp("floats"), selftest=True)


def configured(project: Path, folder: Path) -> Path:
    run_checked(["cmake", "-S", project, "-B", folder, "-DCMAKE_BUILD_TYPE=Release"])
    run_checked(["cmake", "--build", folder])
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("languages", "main"), [("C", "main.c"), ("CXX", "main.cpp")])
def test_a_firmware_adds_the_folder(floats: Built, tmp_path: Path, languages: str, main: str) -> None:
    (tmp_path / main).write_text(USE.replace("main()", "main(void)"))
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES {languages})\n"
        f'add_subdirectory("{floats.folder}" model)\nadd_executable(firmware {main})\n'
        "target_link_libraries(firmware elu)\n"
    )
    run_checked([configured(tmp_path, tmp_path / "build") / "firmware"])


def test_the_folder_is_a_project_of_its_own(floats: Built, tmp_path: Path) -> None:
    folder = configured(floats.folder, tmp_path / "build")
    assert (folder / "libelu.a").is_file()
    run_checked(["ctest"], cwd=folder)


def test_a_changed_model_fails_its_recorded_test(floats: Built, tmp_path: Path) -> None:
    project = shutil.copytree(floats.folder, tmp_path / "project")
    recorded = project / "elu_selftest.c"
    recorded.write_text(re.sub(r"(selftest_out0\[\d+\] = \{\s*)[-0-9.e]+f", r"\g<1>9.0f", recorded.read_text()))
    done = run(["ctest"], cwd=configured(project, tmp_path / "build"))
    assert done.returncode != 0 and "elu_recorded" in done.text
