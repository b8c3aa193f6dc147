"""Parts of a board: its memory regions, its toolchain and the machines that emulate its core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HOLDS = frozenset({"code", "weights", "model", "stack"})
KINDS = frozenset({"flash", "ram"})


@dataclass(frozen=True)
class MemoryRegion:
    """One contiguous memory of a board, and the document that gives its figures.

    Units: bytes; wait_states in cycles of the core's clock at `clock_hz`, None where unknown. line_bytes: what one
    access of a flash reads, 0 where unknown; code_cache_bytes, data_cache_bytes: of such lines kept, 0 for none.
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

    @property
    def has_waits(self) -> bool:
        """Whether the wait cycles of its reads can be counted."""
        return bool(self.wait_states and self.line_bytes)


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
    """An OpenCL device as a profile states it.

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
