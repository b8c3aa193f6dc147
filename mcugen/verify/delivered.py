"""Compiles the emitted C as the user does: with the board's compiler and flags, without verification hooks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcugen.emit import EXAMPLE, sources_of
from mcugen.errors import ToolError
from mcugen.machines.toolchain import cross
from mcugen.machines.toolchain.process import find_tool, run
from mcugen.pipeline import Artifact

_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")


@dataclass(frozen=True)
class Delivered:
    """The result of compiling. faults: the compiler's error lines. missing: why no compiler ran, or ""."""

    compiler: str
    files: int = 0
    faults: tuple[str, ...] = ()
    missing: str = ""

    def __str__(self) -> str:
        if self.missing:
            return f"not read by the board's compiler: {self.missing}"
        return f"{self.compiler} reads {self.files} files, {'with' if self.faults else 'without'} a complaint"


def check(artifact: Artifact, folder: Path) -> Delivered | None:
    """Compile the emitted files in `folder` as the board's user does; None for a build for a device.

    The file of constants contains only numbers and is left out; the compiler of this computer checks it.
    """
    if artifact.target.device is not None:
        return None
    chain = artifact.target.toolchain
    try:
        find_tool(chain.cc, chain.package)
    except ToolError as error:
        return Delivered(chain.cc, missing=str(error))
    numbers = f"{artifact.name}_weights.c"
    sources = [path for path in (*sources_of(artifact.emitted), EXAMPLE) if path != numbers]
    done = run([chain.cc, *cross.flags_of(artifact.target)[0], *_FLAGS, "-I.", *sources], cwd=folder, timeout_s=600)
    faults = [line for line in done.text.splitlines() if ": error: " in line or ": fatal error: " in line]
    if done.returncode and not faults:
        raise ToolError("the board's compiler failed", where=chain.cc, output=done.text)
    return Delivered(chain.cc, len(sources), tuple(faults))
