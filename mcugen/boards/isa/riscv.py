"""RISC-V: RV32 and RV64 with the extensions M and C.

Sources: The RISC-V Instruction Set Manual, volume I; libgcc, config/riscv/save-restore.S, for its register-saving
helpers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mcugen.boards.isa import UNBOUNDED, Instruction, InstructionSet, Lines, Operation, constant, growth, place

_KINDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        ("nop", "nop"),
        ("jalr?|call", "call"),
        ("j|jr|ret", "jump"),
        ("(beq|bne|blt|bge|bltu|bgeu|ble|bgt|bleu|bgtu)z?", "branch"),
        ("l[bh]u?", "load_narrow"),
        ("lwu?|ld", "load"),
        ("s[bhwd]", "store"),
        ("mulw?|mulhs?u?|mulhsu", "mul"),
        ("(div|rem)u?w?", "div"),
    )
)
_REGISTER = re.compile(r"\b([ast]\d+|ra|sp|gp|tp|zero)\b")
_WRITES = re.compile(r"mv|lw|ld|li|lui|auipc|addi?w?|subw?|andi?")
_SAVE_BYTES = 64
"""Stack bytes that libgcc's __riscv_save helpers allocate before they release the part they do not need."""


@lru_cache(maxsize=65536)
def operation(name: str, operands: str) -> Operation:
    """The operation of the instruction that objdump prints as `name operands`."""
    name = name.removeprefix("c.")
    kind = next((kind for pattern, kind in _KINDS if pattern.fullmatch(name)), "alu")
    parts = _REGISTER.findall(re.sub(r"<[^>]*>", "", operands))
    results = parts[:1] if kind not in ("store", "branch", "jump") else []
    reads = frozenset(parts[len(results) :])
    return Operation(kind, reads, frozenset(results) - {"zero"}, jumps=kind in ("call", "jump"), name=name)


def instruction(lines: Lines, k: int) -> Instruction:
    """The effect of the instruction in row k on control flow and stack."""
    _, mnemonic, operands, note = lines.rows[k]
    name = mnemonic.removeprefix("c.")
    if name == "nop":
        return Instruction(flow="pad")
    if name == "ret":
        return Instruction(flow="return")
    if name in ("j", "jal") or (name in ("jr", "jalr") and place(note) is not None):
        if operands.startswith(("t0,", "t1,")):
            return _save(operands)
        where = operands if name in ("j", "jal") else note
        return Instruction(flow="jump" if name in ("j", "jr") else "call", target=place(where))
    if name in ("jr", "jalr"):
        return Instruction(flow="computed" if name == "jr" else "register")
    if name.startswith("b") and place(operands) is not None:
        return Instruction(flow="branch", target=place(operands))
    if not operands.startswith("sp,") or not _WRITES.fullmatch(name):
        return Instruction()
    return _moved(lines, k, name, operands)


def _moved(lines: Lines, k: int, name: str, operands: str) -> Instruction:
    """The effect of an instruction that writes the stack pointer."""
    if not operands.startswith("sp,sp,") or name not in ("add", "addi", "sub"):
        return Instruction(flow="unbounded")
    amount = operands.split(",")[2]
    value = int(amount) if re.fullmatch(r"-?\d+", amount) else constant(lines, k, amount, _loaded)
    return Instruction(flow="unbounded") if value == UNBOUNDED else Instruction(growth(value, name))


def _save(operands: str) -> Instruction:
    """The effect of a call to libgcc's __riscv_save_n, which saves ra and n registers of s0 to s11 at a function's
    start.
    """
    saves = re.search(r"<__riscv_save_(\d+)>", operands)
    if saves is None:
        return Instruction(flow="register")
    stays = 16 * (int(saves[1]) // 4 + 1)
    return Instruction(stays, passing=_SAVE_BYTES - stays)


def _loaded(lines: Lines, mnemonic: str, parts: Sequence[str], note: str) -> int | None:
    if mnemonic == "li" and re.fullmatch(r"-?\d+", parts[1]):
        return int(parts[1])
    return int(parts[1], 16) << 12 if mnemonic == "lui" else None


ISA = InstructionSet(
    name="riscv",
    comments="#",
    longest_bytes=4,
    instruction=instruction,
    operation=operation,
    machine_flags=("-bios", "none"),
)
