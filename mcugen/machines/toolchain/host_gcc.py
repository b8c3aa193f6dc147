"""Builds programs for this computer with its gcc."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mcugen.machines.toolchain.objects import Compiler
from mcugen.machines.toolchain.process import run_checked

STRICT_WARNINGS: tuple[str, ...] = (
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wcast-align=strict",
    "-Wundef",
    "-Wpedantic",
    "-Werror",
)
SANITIZE: tuple[str, ...] = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compile_program(
    sources: Sequence[Path],
    out: Path,
    include: Sequence[Path] = (),
    flags: Sequence[str] = (),
    *,
    libraries: Sequence[str] = (),
    timeout_s: float = 120.0,
) -> Path:
    """Compile and link C sources with gcc into the program `out`, and return `out`. The math library is linked.

    include: folders of headers; gcc runs in the first of them, or in the folder of the first source. libraries:
    additional linker flags.

    Raises ToolError if gcc is missing (with the package to install) or rejects the sources (with its messages).
    """
    gcc = Compiler("gcc", include[0] if include else sources[0].parent)
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        objects = gcc.compile([(source, flags) for source in sources], include, Path(folder), timeout_s)
        run_checked(["gcc", *flags, *objects, "-o", out, *libraries, "-lm"], timeout_s=timeout_s)
    return out


@functools.cache
def version() -> str:
    """The compiler and its version, as it reports them. Raises ToolError if it is missing."""
    return run_checked(["gcc", "--version"]).stdout.decode(errors="replace").splitlines()[0]
