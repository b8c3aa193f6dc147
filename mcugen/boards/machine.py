"""Parts of a board: memory regions, toolchain, emulated machines and OpenCL device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from mcugen.system.toml_file import TomlTable

HOLDS = frozenset({"code", "weights", "model", "stack"})
KINDS = frozenset({"flash", "ram"})


@dataclass(frozen=True)
class MemoryRegion:
    """One contiguous memory of a board, with the document that states its figures in `source`.

    Units: bytes. wait_states: in cycles of the core at `clock_hz`; None if unknown. line_bytes: size of one access; 0
    if unknown. bytes_per_cycle: transfer rate of a line after the wait states; None for a whole line in one cycle.
    code_cache_bytes, data_cache_bytes: size of the caches of lines; 0 for none. prefetch: whether the line after the
    current line of instructions is read ahead. external: outside the chip and set up by the firmware; used only if the
    user names it.
    """

    name: str
    kind: str
    address: int
    size_bytes: int
    wait_states: int | None
    holds: frozenset[str]
    source: str
    external: bool = False
    line_bytes: int = 0
    code_cache_bytes: int = 0
    data_cache_bytes: int = 0
    prefetch: bool = False
    bytes_per_cycle: float | None = None

    @property
    def has_waits(self) -> bool:
        """Whether the board states enough about its reads to count wait cycles."""
        return self.line_waits > 0

    @property
    def line_cycles(self) -> int:
        """Cycles to transfer a line after the wait states."""
        return math.ceil(self.line_bytes / self.bytes_per_cycle) if self.bytes_per_cycle else 1

    @property
    def line_waits(self) -> int:
        """Most cycles that the core waits for a line, besides the access itself; 0 if unknown."""
        return (self.wait_states or 0) + self.line_cycles - 1 if self.line_bytes else 0

    @property
    def waits_per_byte(self) -> float:
        """Most cycles that the core waits per byte of sequential reads; 0 if unknown."""
        return self.line_waits / self.line_bytes if self.line_bytes else 0.0

    @property
    def waits_text(self) -> str:
        """The delays of reading a line, as text."""
        waits = f"{self.wait_states} wait states" if self.wait_states else ""
        rate = f"{self.bytes_per_cycle:g} bytes a cycle" if self.bytes_per_cycle else ""
        return " and ".join(part for part in (waits, rate) if part)


def region_of(table: TomlTable, *, has_clock: bool) -> MemoryRegion:
    """A [[region]] of a board.toml. Raises UsageError for a key that is wrong, or that requires another key."""
    region = MemoryRegion(
        name=table.identifier("name"),
        kind=table.choice("kind", KINDS),
        address=table.integer("address", low=0),
        size_bytes=table.integer("size_bytes", low=1, high=2**32),
        wait_states=table.integer("wait_states", low=0, high=1000) if table.has("wait_states") else None,
        holds=frozenset(table.strings("holds", allowed=HOLDS)),
        source=table.string("source"),
        external=table.has("external") and table.boolean("external"),
        line_bytes=table.integer("line_bytes", low=1, high=4096) if table.has("line_bytes") else 0,
        code_cache_bytes=_cache(table, "code_cache_bytes"),
        data_cache_bytes=_cache(table, "data_cache_bytes"),
        prefetch=table.has("prefetch") and table.boolean("prefetch"),
        bytes_per_cycle=_rate(table, has_clock=has_clock),
    )
    table.refuse_unread()
    return region


def _cache(table: TomlTable, key: str) -> int:
    return table.integer(key, low=1, high=2**24) if table.has(key) else 0


def _rate(table: TomlTable, *, has_clock: bool) -> float | None:
    """bytes_per_cycle of a region, in cycles of the board's clock. It requires line_bytes and a clock."""
    key = "bytes_per_cycle"
    if not table.has(key):
        return None
    if not table.has("line_bytes"):
        raise table.error(key, table.number(key, low=0), "line_bytes as well, the bytes that one read fetches")
    if not has_clock:
        raise table.error(key, table.number(key, low=0), "clock_hz of the board as well, since it counts these cycles")
    return table.number(key, low=2**-10, high=table.integer("line_bytes", low=1, high=4096))


@dataclass(frozen=True)
class Estimation:
    """The hardware against which cycle estimates were checked, or "", and the error found.

    least, most: range of (measured cycles) / (most cycles of the estimate), for memory that is fast enough.
    """

    checked: str = ""
    least: float = 1.0
    most: float = 1.0

    def ends(self, low: int, high: int, streamed: int = 0) -> tuple[int, int]:
        """The interval of an estimate, at least as wide as the known error. Its least is at least the time to read
        constants.
        """
        low, high = max(low, streamed), max(high, streamed)
        return min(low, round(high * self.least)), max(high, round(high * self.most))


UNCHECKED = Estimation()


def estimation_of(table: TomlTable) -> Estimation:
    """The table [estimate] of a board.toml."""
    ends = table.numbers("off", 2) if table.has("off") else (1.0, 1.0)
    if not 0.1 <= ends[0] <= 1.0 <= ends[1] <= 10.0:
        raise table.error("off", list(ends), "[LEAST, MOST], with LEAST in 0.1..1.0 and MOST in 1.0..10.0")
    found = Estimation(table.string("checked"), *ends)
    table.refuse_unread()
    return found


@dataclass(frozen=True)
class Energy:
    """The energy of a chip in picojoules per cycle of its core: the least and the most of several measured programs.

    source: the document with the measurements.
    """

    least_pj: float
    most_pj: float
    source: str


def energy_of(table: TomlTable) -> Energy:
    """The table [energy] of a board.toml."""
    ends = table.numbers("pj_per_cycle", 2)
    if not 0 < ends[0] <= ends[1] <= 1e6:
        raise table.error("pj_per_cycle", list(ends), "[LEAST, MOST], positive and at most 1000000")
    found = Energy(ends[0], ends[1], table.string("source"))
    table.refuse_unread()
    return found


@dataclass(frozen=True)
class Span:
    """A range of addresses of an emulated machine."""

    address: int
    size_bytes: int


@dataclass(frozen=True)
class Emulator:
    """A QEMU machine that runs code for a core, with its own addresses and memory sizes.

    vectors: where the core expects its vector table; None for the start of `code`. note: a remark for the user, or "".
    """

    system: str
    package: str
    machine: str
    cpu: str | None
    vectors: Span | None
    code: Span
    ram: Span
    note: str


@dataclass(frozen=True)
class UserMode:
    """QEMU's user mode, which runs a program for Linux on a processor of another kind.

    root: the folder with the libraries of that processor. note: a remark for the user, or "".
    """

    system: str
    package: str
    cpu: str
    root: str
    note: str

    @property
    def machine(self) -> str:
        """The name of the emulated processor, for texts."""
        return f"{self.cpu}, QEMU's user mode"


@dataclass(frozen=True)
class Device:
    """An OpenCL device, as its profile in board.toml describes it.

    compute_units: number of units that run work-groups. flops: float operations per second of all units. bandwidth:
    bytes per second to and from memory. local_bytes: most local memory of a work-group. max_group: most work-items in a
    work-group. launch_s: overhead of a kernel launch in seconds. unified: whether host and device share memory.
    measured: whether the figures were measured, not taken from documents. vendor: "" for any. images, half: whether it
    reads images, and computes with half.
    """

    compute_units: int
    flops: float
    bandwidth: float
    local_bytes: int
    max_group: int
    launch_s: float
    unified: bool
    measured: bool
    source: str
    vendor: str = ""
    images: bool = False
    half: bool = False


@dataclass(frozen=True)
class Toolchain:
    """A C compiler and its flags for one core.

    fallback_flags: used if the compiler does not know `flags`; fallback_note: text that tells the user about it.
    without: per feature, flags that keep the compiler from using it if it is switched off; they replace flags with the
    same `-key=`. startup, sections: start-up sources, and the section part of the linker script; () and None for the
    host. objdump_flags: name the architecture if objdump cannot find it in an image.
    """

    prefix: str
    package: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    fallback_flags: tuple[str, ...]
    fallback_note: str
    without: tuple[tuple[str, tuple[str, ...]], ...]
    startup: tuple[Path, ...]
    sections: Path | None
    objdump_flags: tuple[str, ...]

    @property
    def cc(self) -> str:
        """The compiler driver."""
        return f"{self.prefix}gcc"

    @property
    def size(self) -> str:
        """The program that prints section sizes."""
        return f"{self.prefix}size"
