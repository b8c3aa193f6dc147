"""What each instruction of a firmware image does to the stack pointer and to the flow of control, from objdump's text.

Arm's Thumb and RISC-V. Only what moves the stack pointer or the program counter is told apart; all else goes on.
Source: Armv8-M Architecture Reference Manual (DDI0553), C2.4; The RISC-V Instruction Set Manual, volume I, RV32I and C.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

from mcugen.target import Toolchain
from mcugen.toolchain.process import run_checked

Flow = Literal["next", "pad", "branch", "jump", "call", "computed", "register", "return", "unbounded"]

_LABEL = re.compile(r"([0-9a-f]+) <(.+)>:")
_LINE = re.compile(r"\s*([0-9a-f]+):\t([^\t]*)\t?(.*)")
_PLACE = re.compile(r"\b([0-9a-f]+) <")
_CONDITION = "(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)"
_ARM_BRANCH = re.compile(rf"b{_CONDITION}|cbz|cbnz|le|letp|wls|wlstp\..*")
_ARM_STACK = re.compile(rf"(v?push|v?pop|v?stmdb|v?ldmia|subw?|addw?|strd?|ldrd?)({_CONDITION})?")
_ARM_BX = re.compile(rf"bx({_CONDITION})?")
_ARM_READS_ONLY = re.compile(r"cmp|cmn|tst|v?str.*|v?stm.*|v?ldm.*")
_RISCV_WRITES = re.compile(r"mv|lw|li|lui|auipc|add|addi|sub|and|andi")
_LONGEST_BYTES = 4
UNBOUNDED = 1 << 40
_RISCV_SAVE_BYTES = 64
"""What libgcc's __riscv_save helpers take before they give back what they do not need."""
_LITERALS = 12
"""How many instructions before its use the constant of a large frame is looked for."""


@dataclass(frozen=True)
class Instruction:
    """One instruction. grows: bytes by which the stack deepens here, negative where it shrinks. passing: and how many
    more it takes for the moment.

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
class Listing:
    """An image's instructions by address, the one that follows each, unless data or nothing does, and its functions.

    labels: address -> name; functions of one file may be named like those of another.
    """

    instructions: dict[int, Instruction]
    following: dict[int, int]
    labels: dict[int, str]


@dataclass
class _Lines:
    """Address, mnemonic and operands of each line, comments off; words of data by address."""

    rows: list[tuple[int, str, str, str]] = field(default_factory=list)
    words: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


def disassemble(elf: Path, chain: Toolchain) -> Listing:
    """The listing of an image, by the objdump of its toolchain.

    Raises ToolError where objdump fails.
    """
    command: list[str | Path] = [f"{chain.prefix}objdump", "-d", *chain.objdump_flags, "--no-show-raw-insn", elf]
    done = run_checked(command, package=chain.package, timeout_s=120)
    return parse(done.stdout.decode("utf-8", errors="replace"), is_arm=chain.prefix.startswith("arm"))


def parse(text: str, *, is_arm: bool) -> Listing:
    """The listing of objdump's text."""

    def decoded(k: int) -> Instruction:
        _, name, operands, _ = lines.rows[k]
        if name in ("nop", "nop.w"):
            return Instruction(flow="pad", name=name)
        return replace(_arm(lines, k) if is_arm else _riscv(lines, k), name=name, operands=operands)

    lines = _lines(text, "@;" if is_arm else "#")
    addresses = [row[0] for row in lines.rows]
    found = {address: decoded(k) for k, address in enumerate(addresses)}
    following = {a: b for a, b in pairwise(addresses) if b - a <= _LONGEST_BYTES}
    return Listing(found, following, lines.labels)


def _lines(text: str, comment: str) -> _Lines:
    lines = _Lines()
    for line in text.splitlines():
        if label := _LABEL.fullmatch(line):
            lines.labels.setdefault(int(label[1], 16), label[2])
        elif match := _LINE.fullmatch(line):
            address, mnemonic, rest = int(match[1], 16), match[2].strip(), match[3]
            operands, _, note = _cut(rest, comment)
            if mnemonic == ".word":
                lines.words[address] = int(operands, 16)
            elif not mnemonic.startswith("."):
                lines.rows.append((address, mnemonic, operands.strip(), note))
    return lines


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    at = min((text.index(m) for m in marks if m in text), default=len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def _place(text: str) -> int | None:
    match = _PLACE.search(text)
    return int(match[1], 16) if match else None


def _arm(lines: _Lines, k: int) -> Instruction:
    _, mnemonic, operands, _ = lines.rows[k]
    name = re.sub(r"\.[nw]$", "", mnemonic)
    if name in ("bl", "blx", "b"):
        target = _place(operands)
        if target is None:
            return Instruction(flow="register")
        return Instruction(flow="jump" if name == "b" else "call", target=target)
    if _ARM_BRANCH.fullmatch(name):
        return Instruction(flow="branch", target=_place(operands))
    if bx := _ARM_BX.fullmatch(name):
        returns = operands == "lr" or _was_popped(lines, k, operands)
        return Instruction(flow="return" if returns else "register", falls_through=bool(bx[1]))
    if name in ("tbb", "tbh") or (name in ("mov", "add") and operands.startswith("pc,")):
        return Instruction(flow="computed")
    return _arm_stack(lines, k, name, operands)


def _was_popped(lines: _Lines, k: int, register: str) -> bool:
    """Whether the register was just taken from the stack: how Thumb-1 returns where lr was saved."""
    return any(
        mnemonic == "pop" and re.search(rf"\b{register}\b", operands) is not None
        for _, mnemonic, operands, _ in lines.rows[max(0, k - 2) : k]
    )


def _arm_stack(lines: _Lines, k: int, name: str, operands: str) -> Instruction:
    """An instruction that pushes, pops, moves the stack pointer, loads the program counter, or does nothing to them."""
    match = _ARM_STACK.fullmatch(name)
    grows = _arm_growth(lines, k, match[1], operands) if match else None
    loads_pc = re.search(r"\bpc\b", operands.split("[")[0]) is not None and name.startswith(("pop", "ldr", "ldmia"))
    conditional = match is not None and bool(match[2])
    if loads_pc:
        from_stack = grows is not None
        return Instruction(flow="return" if from_stack else "computed", falls_through=conditional)
    if grows is None:
        if operands.startswith("sp!") or (operands.startswith("sp,") and not _ARM_READS_ONLY.fullmatch(name)):
            return Instruction(flow="unbounded")
        return Instruction()
    if grows == UNBOUNDED:
        return Instruction(flow="unbounded")
    return Instruction(max(grows, 0) if conditional else grows)


def _arm_growth(lines: _Lines, k: int, base: str, operands: str) -> int | None:
    """Bytes by which a stack instruction deepens the stack, or UNBOUNDED; None where it leaves the pointer alone."""
    if base in ("push", "vpush"):
        return _list_bytes(operands)
    if base in ("pop", "vpop"):
        return -_list_bytes(operands)
    if base in ("stmdb", "vstmdb", "ldmia", "vldmia"):
        if not operands.startswith("sp!"):
            return None
        return _list_bytes(operands) * (1 if base.endswith("db") else -1)
    if base in ("str", "strd", "ldr", "ldrd"):
        moved = re.search(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)", operands)
        return -int(moved[1] or moved[2]) if moved else None
    if not operands.startswith("sp,"):
        return None
    amount = operands.split(", ")[-1]
    value = int(amount[1:]) if amount.startswith("#") else _constant(lines, k, amount)
    return _signed(value, base)


def _signed(value: int, name: str) -> int:
    return UNBOUNDED if value == UNBOUNDED else value if name.startswith("sub") else -value


def _list_bytes(operands: str) -> int:
    """The bytes of a register list such as {r4, r5, lr} or {d8-d15}."""
    total = 0
    for item in operands[operands.index("{") + 1 : operands.index("}")].split(","):
        first, _, last = item.strip().partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * (8 if first.startswith("d") else 4)
    return total


def _riscv(lines: _Lines, k: int) -> Instruction:
    _, mnemonic, operands, note = lines.rows[k]
    name = mnemonic.removeprefix("c.")
    if name == "ret":
        return Instruction(flow="return")
    if name in ("j", "jal") or (name in ("jr", "jalr") and _place(note) is not None):
        if operands.startswith(("t0,", "t1,")):
            return _riscv_save(operands)
        place = operands if name in ("j", "jal") else note
        return Instruction(flow="jump" if name in ("j", "jr") else "call", target=_place(place))
    if name in ("jr", "jalr"):
        return Instruction(flow="computed" if name == "jr" else "register")
    if name.startswith("b") and _place(operands) is not None:
        return Instruction(flow="branch", target=_place(operands))
    if not operands.startswith("sp,") or not _RISCV_WRITES.fullmatch(name):
        return Instruction()
    if not operands.startswith("sp,sp,") or name not in ("add", "addi", "sub"):
        return Instruction(flow="unbounded")
    amount = operands.split(",")[2]
    value = int(amount) if re.fullmatch(r"-?\d+", amount) else _constant(lines, k, amount)
    return Instruction(flow="unbounded") if value == UNBOUNDED else Instruction(_signed(value, name))


def _riscv_save(operands: str) -> Instruction:
    """The call, at the start of a function, of libgcc's helper that saves ra and n of s0 to s11 for it."""
    saves = re.search(r"<__riscv_save_(\d+)>", operands)
    if saves is None:
        return Instruction(flow="register")
    stays = 16 * (int(saves[1]) // 4 + 1)
    return Instruction(stays, passing=_RISCV_SAVE_BYTES - stays)


def _constant(lines: _Lines, k: int, register: str) -> int:
    """The signed constant in a register, from the nearest instructions before that write it; UNBOUNDED for none."""
    added = 0
    for _, mnemonic, operands, note in reversed(lines.rows[max(0, k - _LITERALS) : k]):
        parts = [part.strip() for part in operands.split(",")]
        if parts[0] != register:
            continue
        value = _loaded(lines, mnemonic, parts, note)
        if value is not None:
            return (value + added + (1 << 31)) % (1 << 32) - (1 << 31)
        if mnemonic not in ("add", "addi") or parts[1] != register or not re.fullmatch(r"-?\d+", parts[2]):
            break
        added += int(parts[2])
    return UNBOUNDED


def _loaded(lines: _Lines, mnemonic: str, parts: Sequence[str], note: str) -> int | None:
    """The constant that one instruction loads, or None."""
    if mnemonic.startswith("ldr") and "[pc" in parts[1]:
        place = _place(note)
        return None if place is None else lines.words.get(place)
    if re.fullmatch(r"movs?(\.w)?|movw|li", mnemonic) and re.fullmatch(r"#?-?\d+", parts[1]):
        return int(parts[1].lstrip("#"))
    return int(parts[1], 16) << 12 if mnemonic == "lui" else None
