"""The instructions of a firmware image, read from the output of objdump.

Only changes of the stack pointer and of the program counter are interpreted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from mcugen.boards import isa
from mcugen.boards.isa import Instruction, InstructionSet, Lines
from mcugen.boards.target import Target
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run_checked

_LAST = 4
"""Most bytes of an image's last instruction."""
_LABEL = re.compile(r"([0-9a-f]+) <(.+)>:")
_LINE = re.compile(r"\s*([0-9a-f]+):\t([^\t]*)\t?(.*)")


@dataclass(frozen=True)
class Listing:
    """The instructions of an image, by address.

    following: address -> address of the next instruction; none before data or a gap. labels: address -> function name;
    functions of different files may share a name. isa: instruction set.
    """

    instructions: dict[int, Instruction]
    following: dict[int, int]
    labels: dict[int, str]
    isa: InstructionSet


def disassemble(elf: Path, target: Target) -> Listing:
    """The listing of an image, made with the objdump of the target's toolchain.

    Raises ToolError if objdump fails, UsageError for a target that names no instruction set.
    """
    if not target.isa:
        raise UsageError(f"{target.name} names no instruction set", hint="add `isa` to [cpu] in its board.toml")
    chain = target.toolchain
    command: list[str | Path] = [f"{chain.prefix}objdump", "-d", *chain.objdump_flags, "--no-show-raw-insn", elf]
    done = run_checked(command, package=chain.package, timeout_s=120)
    return parse(done.stdout.decode("utf-8", errors="replace"), isa.load(target.isa))


def code_bytes(listing: Listing, name: str) -> int:
    """Code size in bytes of a function, its compiler-made clones, and all functions that they call.

    0 if the image has no such function, e.g. because it was inlined.
    """
    starts, addresses = sorted(listing.labels), sorted(listing.instructions)
    ends = dict(pairwise(starts)) | ({starts[-1]: addresses[-1] + _LAST} if starts else {})
    own = re.compile(rf"{re.escape(name)}(?:\.\w.*|_(?!_).*)?")
    ahead, seen = [address for address, label in listing.labels.items() if own.fullmatch(label)], set[int]()
    while ahead:
        start = ahead.pop()
        if start in seen:
            continue
        seen.add(start)
        inside = addresses[bisect_left(addresses, start) : bisect_left(addresses, ends[start])]
        called = (listing.instructions[address].target for address in inside)
        ahead += [starts[bisect_right(starts, t) - 1] for t in called if t is not None and t >= starts[0]]
    return sum(ends[start] - start for start in seen)


def parse(text: str, known: InstructionSet) -> Listing:
    """The listing for the text that objdump printed."""
    lines = _lines(text, known.comments)
    addresses = [row[0] for row in lines.rows]
    found = {
        address: replace(known.instruction(lines, k), name=name, operands=operands)
        for k, (address, name, operands, _) in enumerate(lines.rows)
    }
    following = {a: b for a, b in pairwise(addresses) if b - a <= known.longest_bytes}
    return Listing(found, following, lines.labels, known)


def _lines(text: str, comment: str) -> Lines:
    lines = Lines()
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
