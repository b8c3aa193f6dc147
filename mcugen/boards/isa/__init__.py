"""Instruction sets: how objdump prints an instruction, and its effect on control flow, stack and pipelines.

Each module of this package that defines `ISA` is an instruction set. board.toml names it (`isa` in `[cpu]`). An
installed package adds one with an entry point in the group `mcugen.isa` that names such a module.
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
"""Number of instructions that are searched, backwards from the use of a large constant, for its load."""


@dataclass(frozen=True)
class Instruction:
    """The effect of an instruction on control flow and stack. Units: bytes, addresses.

    grows: bytes by which it deepens the stack; negative if it releases stack. passing: further bytes of stack, in use
    only while it runs. flow: what runs next:
    * "next": the next instruction; "pad": the next instruction, for a nop that may be padding
    * "branch": `target` or the next instruction; "jump": `target`; "call": `target`, then the next instruction
    * "computed": a place in the same function, from a table; "register": the address in a register
    * "return"; "unbounded": the stack pointer moves by a variable amount

    falls_through: whether the next instruction may also run after a return. name, operands: as objdump prints them.
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
    """The properties of an instruction that matter to a pipeline.

    kind: class of the instruction in the cores' cycle tables (mcugen/machines/cycles/cores); "alu" for all others.
    reads, writes: registers, without memory and flags. count: number of registers moved, 1 without a list. late:
    accumulator register, which is read late. jumps: whether the next instruction in memory never follows.
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
    """objdump's text. rows: address, mnemonic, operands and comment of each instruction. words: data by address.
    labels: names by address.
    """

    rows: list[tuple[int, str, str, str]] = field(default_factory=list)
    words: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class InstructionSet:
    """One instruction set.

    name            its name in board.toml
    comments        characters that begin a comment in objdump's text
    longest_bytes   size of the longest instruction; whatever follows at a greater distance is data or a gap
    instruction     (lines, row) -> effect of the instruction in that row on flow and stack
    operation       (mnemonic, operands) -> its pipeline properties
    unwind          prefixes of the names of sections with unwind tables
    machine_flags   flags that QEMU needs to start an image without other firmware
    feature_needs   feature of a core -> features that it requires
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
    """Names of all instruction sets that a board can use, sorted."""
    own = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return tuple(sorted({*own, *plugins.installed(GROUP)}))


def load(name: str) -> InstructionSet:
    """An instruction set by name. Raises UsageError for an unknown name, or if its package fails at import."""
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
    """The address that objdump prints before a name in angle brackets, e.g. of a branch's target; None without one."""
    match = _PLACE.search(text)
    return int(match[1], 16) if match else None


Loaded = Callable[[Lines, str, Sequence[str], str], int | None]
"""(lines, mnemonic, operands, comment) -> the constant that one instruction loads, or None."""


def constant(lines: Lines, k: int, register: str, loaded: Loaded) -> int:
    """The signed 32-bit constant in a register before row k, found in the instructions that write it; otherwise
    UNBOUNDED.
    """
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
    """Bytes by which the instruction `name` deepens the stack: `value` for sub, -`value` for add. UNBOUNDED stays
    UNBOUNDED.
    """
    return UNBOUNDED if value == UNBOUNDED else value if name.startswith("sub") else -value
