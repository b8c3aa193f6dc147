# SPDX-License-Identifier: Apache-2.0
"""Paths, compilers, process groups and hints of each system, chosen by the name of the platform."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcugen.machines.toolchain import hosts

HOME = Path("/home/someone")


@pytest.mark.parametrize(
    ("platform", "library", "cache", "hint"),
    [
        ("linux", ".so", ".cache/mcugen", "on Debian: apt-get install gcc-arm-none-eabi; or run ci/setup"),
        ("darwin", ".dylib", "Library/Caches/mcugen", "with Homebrew: brew install --cask gcc-arm-embedded"),
        ("win32", ".dll", "AppData/Local/mcugen", "on Windows: winget install Arm.GnuArmEmbeddedToolchain"),
        ("freebsd14", ".so", ".cache/mcugen", "on Debian: apt-get install gcc-arm-none-eabi; or run ci/setup"),
    ],
)
def test_each_platform(platform: str, library: str, cache: str, hint: str) -> None:
    host = hosts.of(platform)
    assert host.library == library and host.cache_folder({}, HOME) == HOME / cache
    assert host.hint("arm-none-eabi-gcc", "gcc-arm-none-eabi").startswith(hint)
    assert host.hint("a-tool-of-nobody", "") == ""
    assert host.names_of("gcc")[0] == "gcc" and host.names_of("cmake") == ("cmake",)
    assert host.cache_folder({host.cache_variable: "/elsewhere"}, HOME) == Path("/elsewhere/mcugen")
    assert host.cache_folder({host.cache_variable: "relative"}, HOME) == HOME / cache


def test_groups_are_what_each_system_has() -> None:
    assert hosts.of("linux").group == hosts.of("darwin").group == {"start_new_session": True}
    assert hosts.of("win32").group == {"creationflags": 0x200}


def test_lines_can_be_waited_on_but_for_windows() -> None:
    assert [hosts.of(name).serial for name in ("linux", "darwin", "win32")] == [True, True, False]


def test_this_system_ends_a_group() -> None:
    here = hosts.current()
    assert here is hosts.of(sys.platform)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], **here.group) as process:
        here.end(process)
        assert process.wait(timeout=10) != 0


def test_windows_ends_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(hosts.subprocess, "run", lambda command, **_: asked.append(command))

    class Process:
        pid = 42

        def kill(self) -> None:
            asked.append(["kill"])

    hosts.of("win32").end(Process())  # type: ignore[arg-type]
    assert asked == [["taskkill", "/T", "/F", "/PID", "42"], ["kill"]]
