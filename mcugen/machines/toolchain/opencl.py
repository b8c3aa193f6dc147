"""Programs that launch OpenCL kernels on this computer, and a list of its devices."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import ToolError
from mcugen.machines.toolchain import host_gcc
from mcugen.machines.toolchain.process import run_checked
from mcugen.system import resources

LIBRARIES = ("-lOpenCL",)
PROGRAM = "program"
"""Name of the compiled program in its folder."""
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
_HINT = "install an OpenCL loader and a driver, on Debian: apt-get install ocl-icd-opencl-dev pocl-opencl-icd"


def compile_program(files: Mapping[str, bytes], folder: Path, flags: Sequence[str] = FLAGS) -> Path:
    """Write all files to the folder and compile the C files into a program. Raises ToolError if OpenCL is not
    installed.
    """
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    sources = [folder / path for path in sorted(files) if path.endswith(".c")]
    try:
        return host_gcc.compile_program(sources, folder / PROGRAM, [folder], flags, libraries=LIBRARIES, timeout_s=600)
    except ToolError as error:
        if "CL/cl.h" in error.output or "-lOpenCL" in error.output:
            raise ToolError("OpenCL is not installed here", hint=_HINT, output=error.output) from error
        raise


def run(program: Path, arguments: Sequence[str] = (), stdin: bytes = b"", timeout_s: float = 600.0) -> bytes:
    """The output of a program. Raises ToolError with the output if it fails."""
    return run_checked([program, *arguments], stdin=stdin, timeout_s=timeout_s).stdout


def environment(device: str) -> None:
    """Choose the OpenCL device for programs that this process starts. device: part of its name, or PLATFORM:DEVICE."""
    if device:
        os.environ["MCUGEN_CL_DEVICE"] = device


@dataclass(frozen=True)
class OpenClDevice:
    """An OpenCL device of this computer, as its driver describes it."""

    platform: str
    name: str
    driver: str
    compute_units: int
    clock_mhz: int
    local_bytes: int
    max_group: int
    memory_bytes: int
    unified: bool


def devices() -> list[OpenClDevice]:
    """The OpenCL devices of this computer. Raises ToolError if OpenCL is not installed."""
    source = resources.templates() / "opencl" / "devices.c"
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        lines = run(compile_program({"devices.c": source.read_bytes()}, Path(place))).decode(errors="replace")
    found: list[OpenClDevice] = []
    for line in lines.splitlines():
        platform, name, driver, *numbers = line.split("\t")
        units, clock, local, group, memory, unified = map(int, numbers)
        found.append(OpenClDevice(platform, name, driver, units, clock, local, group, memory, bool(unified)))
    return found
