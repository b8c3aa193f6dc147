"""The instruction counter: marks in an image, the emulator's plugin, and the counts that it writes."""

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
"""Index that counts instructions between the start of an inference and its first step."""

_PLUGIN = ("count_plugin.c", "memory_reads.h", "qemu_plugin.h")
_MARK = struct.Struct("<Ii")
_BUILDING = threading.Lock()


@dataclass(frozen=True)
class Fetches:
    """Lines read from slow memories for instructions and for data, and the cycles that the core waits for them.

    streamed: least cycles to fetch the constants of an inference once, if they do not fit the cache; else 0
    waits: most cycles of waiting, with the wait states of the code's memory
    by_states: most cycles of waiting with 0, 1, 2, ... wait states, up to at least 15
    """

    code_lines: int
    data_lines: int
    streamed: int
    waits: int
    by_states: tuple[int, ...]


@dataclass(frozen=True)
class Counts:
    """The counts of one inference.

    runs: step -> (address, instructions) -> how often the block of instructions at this address ran. Only the last
    instruction of a block may jump. Step OUTSIDE holds the blocks before the first step. fetches: step -> its reads of
    slow memories; empty if the board's file describes none.
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
    """(address, index) of every mark in an image, in the order in which marks at one address apply; see
    boards/_common/sim_step.h.
    """
    section = read_elf(elf).sections.get(".mcugen_steps")
    if section is None:
        return ()
    if len(section.data) % _MARK.size:
        raise ToolError(f".mcugen_steps has {len(section.data)} bytes, not a multiple of {_MARK.size}", where=str(elf))
    # Thumb addresses may have bit 0 set. Instructions are at even addresses on every core.
    return tuple((address & ~1, index) for address, index in _MARK.iter_unpack(section.data))


def plugin() -> Path:
    """The counting plugin. The host's gcc compiles it on the first call; it is removed when this process ends."""
    with _BUILDING:
        return _built()


@functools.cache
def _built() -> Path:
    folder = Path(_folder().name)
    for name in _PLUGIN:
        (folder / name).write_bytes((package_files.files("mcugen.machines.toolchain") / name).read_bytes())
    # -O2 takes twice as long to compile, and the plugin counts no faster
    flags = ["-std=c99", "-Og", "-shared", "-fPIC", "-fvisibility=hidden"]
    return compile_program([folder / _PLUGIN[0]], folder / "count_plugin.so", [folder], flags)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mcugen-plugin-")


def write_marks(marks: tuple[tuple[int, int], ...], path: Path) -> None:
    """Write the marks in the plugin's format: one `address index` per line."""
    path.write_text("".join(f"{address} {index}\n" for address, index in marks), encoding="ascii")


def read_counts(path: Path) -> list[Counts]:
    """The counts of each inference, in order. Raises ToolError if the plugin did not finish its file."""
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
