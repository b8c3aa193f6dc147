"""The memory part of a linker script: a board's sizes at an emulated machine's addresses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcugen.boards.machine import Emulator, Span
from mcugen.boards.target import Target

_VECTORS_BYTES = 1024


@dataclass(frozen=True)
class Placement:
    """A memory of the linked image. clipped_bytes: bytes that the board has beyond the machine's memory."""

    name: str
    address: int
    size_bytes: int
    clipped_bytes: int


def place(target: Target, emulator: Emulator) -> tuple[Placement, ...]:
    """The memories FLASH and RAM, then FLASH_<region> and RAM_<region> per further region, with the board's sizes,
    clipped.

    RAM is the board's first RAM region. Further regions follow it, each at a multiple of 16 bytes. For a bare core, all
    named regions are further regions, and RAM is the rest of the machine's RAM.
    """
    further = [(f"RAM_{r.name}", r.size_bytes) for r in target.ram_regions()[0 if target.is_core else 1 :]]
    first_bytes = emulator.ram.size_bytes - sum(_rounded(size) for _, size in further)
    if not target.is_core:
        first_bytes = target.ram_regions()[0].size_bytes
    flash = [("FLASH" if i == 0 else f"FLASH_{r.name}", r.size_bytes) for i, r in enumerate(target.flash_regions())]
    placed = _placed(flash or [("FLASH", emulator.code.size_bytes)], emulator.code)
    return (*placed, *_placed([("RAM", max(first_bytes, 0)), *further], emulator.ram))


def _placed(wanted: Sequence[tuple[str, int]], span: Span) -> list[Placement]:
    """Regions placed one after the other in the machine's memory."""
    placed: list[Placement] = []
    offset = 0
    for name, size in wanted:
        placed.append(_clip(name, span.address + offset, size, span.size_bytes - offset))
        offset += _rounded(placed[-1].size_bytes)
    return placed


def _rounded(size: int) -> int:
    return (size + 15) // 16 * 16


def _clip(name: str, address: int, wanted: int, available: int) -> Placement:
    size = max(min(wanted, available), 0)
    return Placement(name, address, size, wanted - size)


def clip_note(target: Target, emulator: Emulator) -> str:
    """A note on board memory that the emulated machine lacks; "" if it lacks none."""
    clipped = [p for p in place(target, emulator) if p.clipped_bytes]
    parts = [f"{p.name} {p.size_bytes + p.clipped_bytes:,} to {p.size_bytes:,} bytes" for p in clipped]
    return f"{emulator.machine} has less memory than {target.name}: {', '.join(parts)}" if parts else ""


def memory_script(
    target: Target, emulator: Emulator, *, stack_bytes: int, sections: str, constants: Collection[str] = ()
) -> str:
    """The whole linker script: MEMORY for this board on this machine, then the shared sections.

    stack_bytes: least stack that must stay free. sections: text of the shared part. constants: further regions that
    hold constants, in sections named `.mcugen.<region>`; constants in RAM are copied at start-up. Variables in a
    section named `.ram.<region>` go to the board's further RAM region of that name.
    """
    placed = place(target, emulator)
    lines = [f"/* {target.name} on {emulator.machine}: the board's sizes, the machine's addresses. */", "MEMORY", "{"]
    if emulator.vectors is not None:
        lines.append(_memory("VECTORS", emulator.vectors.address, _VECTORS_BYTES))
    lines += [_memory(p.name, p.address, p.size_bytes) for p in placed]
    lines.append("}")
    if emulator.vectors is None:
        lines.append('REGION_ALIAS("VECTORS", FLASH)')
    lines += [
        f"board_stack_bytes = {stack_bytes};",
        sections.rstrip(),
        *_further(placed),
        *_constants(placed, constants),
    ]
    return "\n".join(lines) + "\n"


def _memory(name: str, address: int, size: int) -> str:
    access = "rwx" if name.startswith("RAM") else "rx"
    return f"    {name} ({access}) : ORIGIN = {address:#010x}, LENGTH = {size}"


def _further(placed: tuple[Placement, ...]) -> list[str]:
    regions = [p.name.removeprefix("RAM_") for p in placed if p.name.startswith("RAM_")]
    return [f"SECTIONS {{ .ram.{r} (NOLOAD) : {{ *(.ram.{r} .ram.{r}.*) }} > RAM_{r} }}" for r in regions]


def _constants(placed: tuple[Placement, ...], regions: Collection[str]) -> list[str]:
    """Sections of constants, and a table for the start-up code with (from, to, bytes) for each section in RAM."""
    lines, table = [], []
    for p in placed:
        region = p.name.partition("_")[2]
        if region not in regions:
            continue
        section = f".mcugen.{region}"
        where = f"{p.name} AT > FLASH" if p.name.startswith("RAM") else p.name
        lines.append(f"SECTIONS {{ {section} : ALIGN(8) {{ *({section}) . = ALIGN(8); }} > {where} }}")
        if p.name.startswith("RAM"):
            table += [f"LONG(LOADADDR({section})) LONG(ADDR({section})) LONG(SIZEOF({section}))"]
    rows = " ".join(["board_copies_start = .;", *table, "board_copies_end = .;"])
    return [*lines, f"SECTIONS {{ .board_copies : ALIGN(4) {{ {rows} }} > FLASH }}"] if table else lines
