"""Parts of a board: its memory regions, its toolchain and the machines that emulate its core."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from mcugen.system.toml_file import TomlTable

HOLDS = frozenset({"code", "weights", "model", "stack"})
KINDS = frozenset({"flash", "ram"})


@dataclass(frozen=True)
class MemoryRegion:
    """One contiguous memory of a board, and the document that gives its figures.

    Units: bytes; wait_states in cycles of the core's clock at `clock_hz`, None where unknown. line_bytes: what one
    access reads, 0 where unknown; bytes_per_cycle: of a line, once it comes, None for all of it in one cycle.
    code_cache_bytes, data_cache_bytes: of such lines kept, 0 for none.
    prefetch: whether the line after the one that instructions come from is read ahead.
    external: outside the chip, set up by the firmware, and used only where the user names it.
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
        """Whether the board states wait cycles of its reads that can be counted."""
        return self.line_waits > 0

    @property
    def line_cycles(self) -> int:
        """Cycles to transfer a line after the wait states: one, or as many as its bytes need."""
        return math.ceil(self.line_bytes / self.bytes_per_cycle) if self.bytes_per_cycle else 1

    @property
    def line_waits(self) -> int:
        """Most cycles that the core waits for a line, beyond the access itself; 0 if unknown."""
        return (self.wait_states or 0) + self.line_cycles - 1 if self.line_bytes else 0

    @property
    def waits_per_byte(self) -> float:
        """Most cycles that the core waits per byte of a stream; 0 if unknown."""
        return self.line_waits / self.line_bytes if self.line_bytes else 0.0

    @property
    def waits_text(self) -> str:
        """The delays of reading a line, in words."""
        waits = f"{self.wait_states} wait states" if self.wait_states else ""
        rate = f"{self.bytes_per_cycle:g} bytes a cycle" if self.bytes_per_cycle else ""
        return " and ".join(part for part in (waits, rate) if part)


def region_of(table: TomlTable, *, has_clock: bool) -> MemoryRegion:
    """A [[region]] of a board.toml. Raises UsageError for a key that is wrong, or that needs another one."""
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
    """bytes_per_cycle: the rate for a line of line_bytes, in cycles of the board's clock."""
    key = "bytes_per_cycle"
    if not table.has(key):
        return None
    if not table.has("line_bytes"):
        raise table.error(key, table.number(key, low=0), "line_bytes beside it: what one read brings")
    if not has_clock:
        raise table.error(key, table.number(key, low=0), "the board's clock_hz, whose cycles are meant")
    return table.number(key, low=2**-10, high=table.integer("line_bytes", low=1, high=4096))


@dataclass(frozen=True)
class Estimation:
    """The hardware against which cycle estimates were checked, "" for none, and the error found.

    least, most: of what chips took, over the most cycles of the estimate, for memory that is fast enough.
    """

    checked: str = ""
    least: float = 1.0
    most: float = 1.0

    def ends(self, low: int, high: int, streamed: int = 0) -> tuple[int, int]:
        """The ends of an estimate: at least the cycles to read its constants, and at least as wide as the error of
        estimates."""
        low, high = max(low, streamed), max(high, streamed)
        return min(low, round(high * self.least)), max(high, round(high * self.most))


UNCHECKED = Estimation()


def estimation_of(table: TomlTable) -> Estimation:
    """The table [estimate] of a board.toml."""
    ends = table.numbers("off", 2) if table.has("off") else (1.0, 1.0)
    if not 0.1 <= ends[0] <= 1.0 <= ends[1] <= 10.0:
        raise table.error("off", list(ends), "[LEAST, MOST]: at most 1.0, and at least 1.0")
    found = Estimation(table.string("checked"), *ends)
    table.refuse_unread()
    return found


@dataclass(frozen=True)
class Span:
    """A range of addresses of an emulated machine (bytes)."""

    address: int
    size_bytes: int


@dataclass(frozen=True)
class Emulator:
    """A QEMU machine that runs code of a core; addresses are the machine's, sizes its limits.

    `vectors` is the range where the core expects its vector table, or None where that is the start of `code`.
    `note` is a remark for the user, "" for none.
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
class Device:
    """An OpenCL device as its profile describes it.

    compute_units: that run work-groups; flops: float multiplications and additions a second of all of them; bandwidth:
    bytes a second to and from memory; local_bytes: of local memory a work-group may have; max_group: work-items in a
    work-group; launch_s: seconds that a kernel costs besides its work; unified: whether host and device share memory;
    measured: whether the figures were measured, and not taken from documents; vendor: "" for any; images, half: whether
    it reads images and computes with half
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

    `fallback_flags` replace `flags` where the compiler does not know `flags`; `fallback_note` says so to the user.
    `without` are the flags that keep the compiler itself from using a feature that is switched off; they take the place
    of flags with the same `-key=`.
    `startup` and `sections` are the start-up sources and the link script's section part, () and None for the host.
    `objdump_flags` name the architecture where objdump does not find it out from an image.
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
        """The program that reports section sizes."""
        return f"{self.prefix}size"
