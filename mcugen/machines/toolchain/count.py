"""The instruction counter: marks read from an image, the emulator's plugin, and the counts it wrote."""

from __future__ import annotations

import functools
import struct
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources as package_files
from pathlib import Path

from mcugen.errors import ToolError
from mcugen.machines.toolchain.elf import read_elf
from mcugen.machines.toolchain.host_gcc import compile_program

OUTSIDE = -1
"""The counter of instructions between the begin of an inference and its first step."""

_PLUGIN = ("count_plugin.c", "memory_reads.h", "qemu_plugin.h")
_MARK = struct.Struct("<Ii")
_BUILDING = threading.Lock()


@dataclass(frozen=True)
class Fetches:
    """Lines read from slow memories for instructions and for data, and the most cycles that the core waits for them.

    streamed: cycles in which constants that are read for the first time come at least, where more are read in the
    inference than a cache keeps
    waits: with the wait states of the code's memory; by_states: with 0, 1, 2 and so on of them, at least to 15
    """

    code_lines: int
    data_lines: int
    streamed: int
    waits: int
    by_states: tuple[int, ...]


@dataclass(frozen=True)
class Counts:
    """The counts of one inference.

    runs: step -> (address, instructions) -> entries: how often the run of instructions that starts there was executed,
    from its first to its last, the only one of them that may jump. OUTSIDE for those before the first step.
    fetches: step -> its reads of slow memories, where the board's file says how slow one is.
    """

    runs: Mapping[int, Mapping[tuple[int, int], int]] = field(default_factory=dict)
    fetches: Mapping[int, Fetches] = field(default_factory=dict)

    @property
    def instructions(self) -> dict[int, int]:
        """Step -> executed instructions."""
        return {step: sum(length * n for (_, length), n in runs.items()) for step, runs in self.runs.items()}

    @property
    def total(self) -> int:
        """All executed instructions."""
        return sum(self.instructions.values())


def read_marks(elf: Path) -> tuple[tuple[int, int], ...]:
    """(address, index) of every mark in an image, in the order they act; see boards/_common/sim_step.h."""
    section = read_elf(elf).sections.get(".mcugen_steps")
    if section is None:
        return ()
    if len(section.data) % _MARK.size:
        raise ToolError(f".mcugen_steps has {len(section.data)} bytes, no multiple of {_MARK.size}", where=str(elf))
    # Thumb addresses may have bit 0 set; instructions are at even addresses on every core.
    return tuple((address & ~1, index) for address, index in _MARK.iter_unpack(section.data))


def plugin() -> Path:
    """The counting plugin, compiled with the host's gcc by this process's first call and removed at its end."""
    with _BUILDING:
        return _built()


@functools.cache
def _built() -> Path:
    folder = Path(_folder().name)
    for name in _PLUGIN:
        (folder / name).write_bytes((package_files.files("mcugen.machines.toolchain") / name).read_bytes())
    # -O2 takes twice as long to compile, and counts no faster
    flags = ["-std=c99", "-Og", "-shared", "-fPIC", "-fvisibility=hidden"]
    return compile_program([folder / _PLUGIN[0]], folder / "count_plugin.so", [folder], flags)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mcugen-plugin-")


def write_marks(marks: tuple[tuple[int, int], ...], path: Path) -> None:
    """Write the marks as the plugin reads them."""
    path.write_text("".join(f"{address} {index}\n" for address, index in marks), encoding="ascii")


def read_counts(path: Path) -> list[Counts]:
    """The counts of each inference, in order."""
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    if not lines or lines[-1] != "end":
        raise ToolError("the instruction counter wrote no result", where=str(path))
    runs: list[dict[int, dict[tuple[int, int], int]]] = []
    fetches: list[dict[int, Fetches]] = []
    for line in lines[:-1]:
        if line == "inference":
            runs.append({})
            fetches.append({})
        elif line.startswith("fetches"):
            step, code, data, streamed, waits, *by_states = map(int, line.split()[1:])
            fetches[-1][step] = Fetches(code, data, streamed, waits, tuple(by_states))
        else:
            step, address, length, entries = map(int, line.split())
            runs[-1].setdefault(step, {})[address, length] = entries
    return [Counts(*pair) for pair in zip(runs, fetches, strict=True)]
