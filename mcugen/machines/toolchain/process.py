"""Runs an external program with a time limit. A failure becomes a ToolError with the program's output."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mcugen.errors import ToolError
from mcugen.machines.toolchain import hosts

# Debian packages of the host's compilers. Boards name the packages of their own toolchains and emulators.
_PACKAGES = {
    "gcc": "gcc libc6-dev",
    "g++": "g++",
}
_SHOWN_OUTPUT = 4000
_LARGE = 2**24
"""Size of input in bytes from which a file is faster than a pipe. Python writes pipes in pieces of 4 KB."""


@dataclass(frozen=True)
class Completed:
    """Output and exit status of a program that ended."""

    stdout: bytes
    stderr: bytes
    returncode: int

    @property
    def text(self) -> str:
        """Both streams, standard error first, shortened to a readable length."""
        return shown(self.stderr + self.stdout)


def shown(output: bytes) -> str:
    """Program output for an error message: the beginning, where compilers put the main error, and the end."""
    text = output.decode("utf-8", errors="replace")
    if len(text) <= _SHOWN_OUTPUT:
        return text
    return f"{text[: _SHOWN_OUTPUT - 1000]}\n[... {len(text) - _SHOWN_OUTPUT} characters left out ...]\n{text[-1000:]}"


def find_tool(program: str, package: str = "") -> str:
    """The path of a program. Raises ToolError with the install command if it is missing."""
    here = hosts.current()
    path = next((found for name in here.names_of(program) if (found := shutil.which(name))), None)
    if path is None:
        hint = here.hint(program, package or _PACKAGES.get(program, ""))
        raise ToolError(f"{program} is not installed", where=program, hint=hint)
    return path


@contextlib.contextmanager
def _given(stdin: bytes) -> Iterator[tuple[int | IO[bytes], bytes | None]]:
    """The stdin of a program, and the bytes still to be written to it; None if they are in a file."""
    if len(stdin) < _LARGE:
        yield subprocess.PIPE, stdin
        return
    with tempfile.TemporaryFile(prefix="mcugen-") as file:
        file.write(stdin)
        file.seek(0)
        yield file, None


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    package: str = "",
) -> Completed:
    """Run a program until it ends. Returns its output, whatever its exit status.

    package: Debian package that the error names if the program is missing. Raises ToolError if the program is missing,
    or runs longer than `timeout_s`. It is then killed with its child processes.
    """
    program = str(argv[0])
    command = [find_tool(program, package), *map(str, argv[1:])]
    with (
        _given(stdin) as (source, rest),
        subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C"},
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **hosts.current().group,
        ) as process,
    ):
        try:
            stdout, stderr = process.communicate(rest, timeout_s)
        except subprocess.TimeoutExpired as e:
            _end(process)
            stdout, stderr = process.communicate()
            raise ToolError(
                f"did not end within {timeout_s:g} s", where=Path(program).name, output=shown(stderr + stdout)
            ) from e
        except BaseException:
            _end(process)
            raise
    return Completed(stdout, stderr, process.returncode)


def run_checked(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    package: str = "",
) -> Completed:
    """Like `run`, but raises ToolError with the program's output if its exit status is not 0."""
    done = run(argv, cwd=cwd, stdin=stdin, timeout_s=timeout_s, package=package)
    if done.returncode != 0:
        raise ToolError(_ending(done.returncode), where=Path(argv[0]).name, output=done.text)
    return done


def _ending(returncode: int) -> str:
    if returncode < 0:
        return f"ended by signal {signal.Signals(-returncode).name}"
    return f"failed with exit status {returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program's process group. Children of a compiler driver would otherwise outlive it."""
    if process.poll() is None:
        hosts.current().end(process)
