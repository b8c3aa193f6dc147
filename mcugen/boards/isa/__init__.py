"""Instruction sets: how objdump prints one, and how its instructions change control flow, stack and pipelines.

A module of this package with an `ISA` is an instruction set; board.toml chooses it by name (`isa` of `[cpu]`). An
installed package adds one by an entry point of the group `mcugen.isa` that names such a module. Nothing lists them.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mcugen.errors import UsageError
from mcugen.system import plugins

GROUP = "mcugen.isa"
Flow = Literal["next", "pad", "branch", "jump", "call", "computed", "register", "return", "unbounded"]
UNBOUNDED = 1 << 40
_PLACE = re.compile(r"\b([0-9a-f]+) <")
_LITERALS = 12
"""The constant of a large frame is searched for this many instructions before its use."""


@dataclass(frozen=True)
class Instruction:
    """The effect of an instruction on control flow and stack. Units: bytes, addresses.

    grows: by how much the stack deepens here, negative where it shrinks. passing: how much more it takes meanwhile.
    flow: what runs next: "next"; "pad": the next, of a nop, which may only fill; "branch": `target` or the next;
    "jump": `target`; "call": `target`, then the next; "computed": a place in the same function that a table tells;
    "register": wherever a register points; "return"; "unbounded": the stack pointer moves by no fixed amount.
    falls_through: whether the next instruction may follow also after a return. name, operands: as objdump prints them.
    """

    grows: int = 0
    flow: Flow = "next"
    target: int | None = None
    falls_through: bool = False
    passing: int = 0
    name: str = field(default="", compare=False)
    operands: str = field(default="", compare=False)


@dataclass(frozen=True)
class Operation:
    """The pipeline-relevant properties of an instruction.

    kind: the word of the cores' tables of cycles (mcugen/machines/cycles/cores); "alu" for what has no other.
    reads, writes: registers; memory and flags are left out. count: registers moved, 1 where it is no list.
    late: an accumulator that is read late. jumps: the next instruction in memory never follows.
    """

    kind: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    count: int = 1
    late: str = ""
    jumps: bool = False
    name: str = ""


@dataclass
class Lines:
    """objdump's text: address, mnemonic, operands and comment of each instruction; words of data; names by address."""

    rows: list[tuple[int, str, str, str]] = field(default_factory=list)
    words: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class InstructionSet:
    """One instruction set.

    name            as board.toml gives it
    comments        the characters that begin a comment in objdump's text
    longest_bytes   the longest instruction; what follows further away is data, or nothing
    instruction     (lines, row) -> what the instruction of that row does to flow and stack
    operation       (mnemonic, operands) -> its pipeline properties
    unwind          what the names of the sections with unwind tables begin with
    machine_flags   what QEMU needs to start an image that has no firmware before it
    feature_needs   feature of a core -> the features that it cannot be without
    """

    name: str
    comments: str
    longest_bytes: int
    instruction: Callable[[Lines, int], Instruction]
    operation: Callable[[str, str], Operation]
    unwind: tuple[str, ...] = ()
    machine_flags: tuple[str, ...] = ()
    feature_needs: Mapping[str, frozenset[str]] = field(default_factory=dict)


def names() -> tuple[str, ...]:
    """Every instruction set that a board can name, sorted."""
    own = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return tuple(sorted({*own, *plugins.installed(GROUP)}))


def load(name: str) -> InstructionSet:
    """An instruction set by name. Raises UsageError where there is none, or where its package fails at import."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"no instruction set named {name!r}", hint=f"{meant}known: {', '.join(names())}")
    installed = plugins.installed(GROUP)
    module: Any = plugins.load(installed[name]) if name in installed else importlib.import_module(f"{__name__}.{name}")
    found = getattr(module, "ISA", None)
    if not isinstance(found, InstructionSet):
        raise UsageError(f"{module.__name__} has no InstructionSet named ISA", hint="see mcugen/boards/isa/__init__.py")
    return found


def place(text: str) -> int | None:
    """The address that objdump prints before a name in angle brackets, as of a branch; None where there is none."""
    match = _PLACE.search(text)
    return int(match[1], 16) if match else None


Loaded = Callable[[Lines, str, Sequence[str], str], int | None]
"""(lines, mnemonic, operands, comment) -> the constant that one instruction loads, or None."""


def constant(lines: Lines, k: int, register: str, loaded: Loaded) -> int:
    """The signed 32-bit constant in a register before row k, from the nearest rows that write it; else UNBOUNDED."""
    added = 0
    for _, mnemonic, operands, note in reversed(lines.rows[max(0, k - _LITERALS) : k]):
        parts = [part.strip() for part in operands.split(",")]
        if parts[0] != register:
            continue
        value = loaded(lines, mnemonic, parts, note)
        if value is not None:
            return (value + added + (1 << 31)) % (1 << 32) - (1 << 31)
        if mnemonic not in ("add", "addi", "addiw") or parts[1] != register or not re.fullmatch(r"-?\d+", parts[2]):
            break
        added += int(parts[2])
    return UNBOUNDED


def growth(value: int, name: str) -> int:
    """Bytes by which `sub` deepens the stack and `add` shrinks it; UNBOUNDED stays so."""
    return UNBOUNDED if value == UNBOUNDED else value if name.startswith("sub") else -value
