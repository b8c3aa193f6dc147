# SPDX-License-Identifier: Apache-2.0
"""Instruction sets are chosen by boards and found; images of 64 bits are read; a set from outside needs no edit."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from mcugen.boards import isa, target
from mcugen.errors import ToolError, UsageError
from mcugen.machines.toolchain.disassembly import disassemble
from mcugen.machines.toolchain.elf import read_elf
from mcugen.machines.toolchain.process import run_checked
from mcugen.machines.toolchain.stack import bound
from tests.support.cores import CORES, SAMPLED
from tests.support.plugin import install

BOARD = """
title = "RISC-V of 64 bits"
[cpu]
isa = "{isa}"
features = []
[toolchain]
prefix = "riscv64-unknown-elf-"
package = "gcc-riscv64-unknown-elf"
flags = ["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"]
link_flags = ["-nostdlib", "-Wl,-Ttext=0x100000000", "-Wl,-e,entry"]
startup = []
"""
SOURCE = """
long table[5] = {1, 2, 3, 4, 5};
__attribute__((noinline)) static long inner(const long *p, long n)
{
    volatile long kept[200];
    kept[n] = p[n];
    return kept[n] / n;
}
long entry(long n) { return inner(table, n) + 1; }
"""
STUB = '''
"""Just enough of an instruction set: what moves the stack pointer, calls and returns."""
from mcugen.ext import Instruction, InstructionSet, Operation, place

def instruction(lines, k):
    _, name, operands, note = lines.rows[k]
    name = name.removeprefix("c.")
    if name == "ret":
        return Instruction(flow="return")
    if name in ("jal", "jalr"):
        return Instruction(flow="call", target=place(operands + note))
    if operands.startswith("sp,sp,"):
        return Instruction(-int(operands.split(",")[2]))
    return Instruction()

ISA = InstructionSet("stub", "#", 4, instruction, lambda name, operands: Operation("alu", name=name))
'''


def image(folder: Path, name: str) -> tuple[Path, target.Target]:
    """An image of 64 bits above 4 GiB, and its board, with the instruction set of that name."""
    (folder / "board").mkdir()
    (folder / "board" / "board.toml").write_text(BOARD.format(isa=name))
    board = target.load(str(folder / "board"))
    chain = board.toolchain
    (folder / "image.c").write_text(SOURCE)
    elf = folder / "image.elf"
    run_checked([chain.cc, *chain.flags, "-O1", "-fstack-usage", *chain.link_flags, folder / "image.c", "-o", elf])
    return elf, board


def frames(folder: Path) -> int:
    """The bytes that gcc says the functions of the image take."""
    (usage,) = folder.glob("*.su")
    return sum(int(line.split("\t")[1]) for line in usage.read_text().splitlines())


def test_every_core_names_its_instruction_set() -> None:
    assert {target.load(core).isa for core in CORES} == {"aarch64", "arm", "riscv"} <= set(isa.names())
    assert target.load("nucleo-h743zi").isa == "arm" and target.load("host").isa == ""
    for name in ("aarch64", "arm", "riscv"):
        assert isa.load(name).name == name


def test_the_sampled_cores_have_every_instruction_set_and_feature() -> None:
    assert {*SAMPLED} <= {*CORES}
    for names in (lambda core: {core.isa}, lambda core: core.features):
        every, sampled = ({name for core in part for name in names(target.load(core))} for part in (CORES, SAMPLED))
        assert sampled == every


def test_a_64_bit_image_is_read(tmp_path: Path) -> None:
    elf, board = image(tmp_path, "riscv")
    found = read_elf(elf)
    address, size = found.symbols["table"]
    data = found.sections[".data"]
    assert address > 1 << 32 and size == 40 and data.size_bytes >= 40
    start = address - data.address
    values = data.data[start : start + size]
    assert [int.from_bytes(values[k : k + 8], "little") for k in range(0, 40, 8)] == [1, 2, 3, 4, 5]
    assert found.sections[".text"].address == found.symbols["inner"][0] == 1 << 32
    deepest = bound(elf, board, "entry")
    assert deepest.path == ("entry", "inner")
    assert deepest.nbytes == frames(tmp_path) > 1600


def test_what_is_read_of_64_bit_registers() -> None:
    load = isa.load("riscv").operation("ld", "a0,8(sp)")
    assert (load.kind, load.reads, load.writes) == ("load", {"sp"}, {"a0"})
    store = isa.load("riscv").operation("sd", "ra,8(sp)")
    assert (store.kind, store.writes) == ("store", frozenset())
    assert isa.load("riscv").operation("remuw", "a0,a1,a2").kind == "div"


def test_an_instruction_set_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "their_stub", "mcugen.isa", "stub", **{"__init__.py": STUB})
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    assert isa.names() == ("aarch64", "arm", "riscv", "stub")
    elf, board = image(tmp_path, "stub")
    assert board.isa == "stub" and disassemble(elf, board).isa.name == "stub"
    deepest = bound(elf, board, "entry")
    assert (deepest.nbytes, deepest.path) == (frames(tmp_path), ("entry", "inner"))


def test_an_unknown_instruction_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cpu\.isa is 'risc', expected one of aarch64, arm, riscv"):
        image(tmp_path, "risc")
    with pytest.raises(UsageError, match="no instruction set named 'risc'") as caught:
        isa.load("risc")
    assert "did you mean riscv?" in caught.value.hint


def test_a_broken_instruction_set_is_named_where_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "their_broken", "mcugen.isa", "broken", **{"__init__.py": "import absent"})
    install(tmp_path / "site", "their_empty", "mcugen.isa", "empty")
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    assert isa.load("riscv").name == "riscv"
    with pytest.raises(UsageError, match=r"plugin 'broken' of their_broken 1\.0 fails at import: ModuleNotFoundError"):
        isa.load("broken")
    with pytest.raises(UsageError, match="their_empty has no InstructionSet named ISA"):
        isa.load("empty")


def test_a_board_without_instruction_set_has_no_listing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="host names no instruction set"):
        disassemble(tmp_path / "x.elf", target.load("host"))


def test_images_of_other_kinds_are_refused(tmp_path: Path) -> None:
    elf, _ = image(tmp_path, "riscv")
    data = elf.read_bytes()
    for place, value in ((4, 3), (5, 2)):
        (tmp_path / "other.elf").write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
        with pytest.raises(ToolError, match="not a little-endian ELF image"):
            read_elf(tmp_path / "other.elf")
