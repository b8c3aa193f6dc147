"""Differences between host systems: libraries, caches, compilers, process groups, how to install tools.

A host is chosen by the platform's name alone, so that each can be tested on any computer. The tests run on Linux.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Host:
    """A host system.

    name: prefix of sys.platform. library: suffix of shared libraries; library_flags: flags to build them. compilers:
    programs that can replace gcc, best first. cache: folder of caches, relative to the home folder; cache_variable:
    environment variable with another folder. install: command that installs packages; packages: its package for each
    tool, if the names differ from Debian's. group: arguments that start a process in its own process group; end: kills
    that group. serial: whether a serial port can be waited for like a file.
    """

    name: str
    library: str
    library_flags: tuple[str, ...]
    compilers: tuple[str, ...]
    cache: str
    cache_variable: str
    install: str
    packages: Mapping[str, str] = field(default_factory=dict)
    group: Mapping[str, Any] = field(default_factory=dict)
    end: Callable[[subprocess.Popen[bytes]], None] = lambda process: process.kill()
    serial: bool = True

    def hint(self, program: str, debian: str) -> str:
        """The command that installs a program. debian: its Debian package, "" if unknown."""
        package = debian if self.name == "linux" else self.packages.get(_plain(program), "")
        where = {"linux": "on Debian: ", "darwin": "with Homebrew: ", "win32": "on Windows: "}[self.name]
        more = "; or run ci/setup" if self.name == "linux" else ""
        return f"{where}{self.install} {package}{more}" if package else ""

    def cache_folder(self, environment: Mapping[str, str], home: Path) -> Path:
        """The folder of mcugen's caches."""
        named = environment.get(self.cache_variable, "")
        return (Path(named) if Path(named).is_absolute() else home / self.cache) / "mcugen"

    def names_of(self, program: str) -> Sequence[str]:
        """The executables to try for a program, in order. Other compilers may replace the system's gcc."""
        return self.compilers if program == "gcc" else (program,)


def _plain(program: str) -> str:
    """The prefix of a cross tool, or else the program's name: all tools of a toolchain are in one package."""
    for prefix in ("arm-none-eabi-", "riscv64-unknown-elf-", "avr-", "aarch64-linux-gnu-", "qemu-system-"):
        if program.startswith(prefix):
            return prefix
    return program


def _end_group(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def _end_tree(process: subprocess.Popen[bytes]) -> None:
    subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    process.kill()


_HOSTS = {
    "linux": Host(
        name="linux",
        library=".so",
        library_flags=("-fPIC", "-shared"),
        compilers=("gcc",),
        cache=".cache",
        cache_variable="XDG_CACHE_HOME",
        install="apt-get install",
        group={"start_new_session": True},
        end=_end_group,
    ),
    "darwin": Host(
        name="darwin",
        library=".dylib",
        library_flags=("-fPIC", "-dynamiclib"),
        compilers=("gcc", "clang", "cc"),
        cache="Library/Caches",
        cache_variable="XDG_CACHE_HOME",
        install="brew install",
        packages={
            "gcc": "gcc",
            "arm-none-eabi-": "--cask gcc-arm-embedded",
            "riscv64-unknown-elf-": "riscv64-elf-gcc",
            "qemu-system-": "qemu",
            "cmake": "cmake",
        },
        group={"start_new_session": True},
        end=_end_group,
    ),
    "win32": Host(
        name="win32",
        library=".dll",
        library_flags=("-shared",),
        compilers=("gcc", "clang"),
        cache="AppData/Local",
        cache_variable="LOCALAPPDATA",
        install="winget install",
        packages={
            "gcc": "BrechtSanders.WinLibs.POSIX.UCRT (or: choco install mingw)",
            "arm-none-eabi-": "Arm.GnuArmEmbeddedToolchain (or: choco install gcc-arm-embedded)",
            "qemu-system-": "SoftwareFreedomConservancy.QEMU (or: choco install qemu)",
            "cmake": "Kitware.CMake (or: choco install cmake)",
        },
        group={"creationflags": 0x00000200},  # CREATE_NEW_PROCESS_GROUP
        end=_end_tree,
        serial=False,
    ),
}


def of(platform: str) -> Host:
    """The host for a value of sys.platform. Unknown platforms are treated like Linux."""
    return next((host for name, host in _HOSTS.items() if platform.startswith(name)), _HOSTS["linux"])


def current() -> Host:
    """The host that mcugen runs on."""
    return of(sys.platform)
