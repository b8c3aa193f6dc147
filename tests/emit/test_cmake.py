# SPDX-License-Identifier: Apache-2.0
"""The emitted CMakeLists.txt configures and links on its own, in C projects, and in projects that are C++ alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mcugen.machines.toolchain.process import run, run_checked
from tests.emit.built import Built, build

USE = '#include "f32_softmax.h"\nstatic f32_softmax_t m;\nint main() { return f32_softmax_selftest(&m); }\n'


@pytest.fixture(scope="module")
def softmax(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A model that calls expf."""
    return build("f32_softmax", tmp_path_factory.mktemp("softmax"), selftest=True)


def configured(project: Path, folder: Path) -> Path:
    run_checked(["cmake", "-S", project, "-B", folder, "-DCMAKE_BUILD_TYPE=Release"])
    run_checked(["cmake", "--build", folder])
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("languages", "main"), [("C", "main.c"), ("CXX", "main.cpp")])
def test_a_firmware_adds_the_folder(softmax: Built, tmp_path: Path, languages: str, main: str) -> None:
    (tmp_path / main).write_text(USE.replace("main()", "main(void)"))
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES {languages})\n"
        f'add_subdirectory("{softmax.folder}" model)\nadd_executable(firmware {main})\n'
        "target_link_libraries(firmware f32_softmax)\n"
    )
    run_checked([configured(tmp_path, tmp_path / "build") / "firmware"])


def test_the_folder_is_a_project_of_its_own(softmax: Built, tmp_path: Path) -> None:
    folder = configured(softmax.folder, tmp_path / "build")
    assert (folder / "libf32_softmax.a").is_file()
    run_checked(["ctest"], cwd=folder)


def test_a_changed_model_fails_its_recorded_test(softmax: Built, tmp_path: Path) -> None:
    project = shutil.copytree(softmax.folder, tmp_path / "project")
    recorded = project / "f32_softmax_selftest.c"
    recorded.write_text(re.sub(r"(selftest_out0\[\d+\] = \{\s*)[-0-9.e]+f", r"\g<1>9.0f", recorded.read_text()))
    done = run(["ctest"], cwd=configured(project, tmp_path / "build"))
    assert done.returncode != 0 and "f32_softmax_recorded" in done.text
