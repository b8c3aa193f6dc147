"""Arm's 64-bit instruction set, in programs for Linux.

A program calls a library through its linkage table, whose jump ends like the library's function: with a return. So a
bound of the stack holds without what functions of libraries take; memcpy and memset of glibc take none.

Source: Arm Architecture Reference Manual for A-profile (DDI0487), C6; objdump's notation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcugen.boards.isa import UNBOUNDED, Instruction, InstructionSet, Lines, Operation, constant, growth, place

_KINDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        ("nop|hint|bti|paciasp|autiasp", "nop"),
        ("bl|blr", "call"),
        ("b|br|ret", "jump"),
        (r"b\.\w+|cbn?z|tbn?z", "branch"),
        (r"ld\w+", "load"),
        (r"st\w+", "store"),
        (r"[su]?m(ul|add|sub|neg|ull|addl|ulh)", "mul"),
        ("[su]div", "div"),
    )
)
_MOVED = re.compile(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)")
_AMOUNT = re.compile(r"#(0x[0-9a-f]+|\d+)(?:, lsl #(\d+))?")
_LINKAGE = ("x16", "x17")
"""The registers of jumps in linkage tables, which code made by compilers does not jump through."""


def operation(name: str, operands: str) -> Operation:
    """The operation of the instruction that objdump prints as `name operands`, without its registers: no core with this
    set has a cycle model.
    """
    kind = next((kind for pattern, kind in _KINDS if pattern.fullmatch(name)), "alu")
    return Operation(kind, jumps=kind in ("call", "jump"), name=name)


def instruction(lines: Lines, k: int) -> Instruction:
    """The effect of the instruction in row k on control flow and stack."""
    _, name, operands, _ = lines.rows[k]
    if name == "nop":
        return Instruction(flow="pad")
    if name == "ret" or (name == "br" and operands in _LINKAGE):
        return Instruction(flow="return")
    if name in ("b", "bl"):
        return Instruction(flow="jump" if name == "b" else "call", target=place(operands))
    if name in ("br", "blr"):
        return Instruction(flow="computed" if name == "br" else "register")
    if name.startswith(("b.", "cb", "tb")) and place(operands) is not None:
        return Instruction(flow="branch", target=place(operands))
    return _on_stack(lines, k, name, operands)


def _on_stack(lines: Lines, k: int, name: str, operands: str) -> Instruction:
    """The effect of an instruction on the stack pointer, if any."""
    if moved := _MOVED.search(operands):
        return Instruction(-int(moved[1] or moved[2]))
    parts = [part.strip() for part in operands.split(",", 2)]
    if parts[0] != "sp" or name not in ("add", "sub", "mov"):
        return Instruction()
    if name == "mov" or parts[1] != "sp":
        return Instruction(flow="unbounded")
    found = _AMOUNT.fullmatch(parts[2])
    value = int(found[1], 0) << int(found[2] or 0) if found else constant(lines, k, parts[2], _loaded)
    return Instruction(flow="unbounded") if value == UNBOUNDED else Instruction(growth(value, name))


def _loaded(lines: Lines, mnemonic: str, parts: Sequence[str], note: str) -> int | None:
    found = _AMOUNT.fullmatch(parts[1]) if mnemonic == "mov" else None
    return int(found[1], 0) if found else None


ISA = InstructionSet(
    name="aarch64",
    comments="/",
    longest_bytes=4,
    instruction=instruction,
    operation=operation,
    unwind=(".eh_frame",),
    feature_needs={"dotprod": frozenset({"neon"}), "neon": frozenset({"fpu"}), "fma": frozenset({"fpu"})},
)
