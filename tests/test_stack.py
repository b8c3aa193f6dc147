"""The static bound of the stack: gcc's own frames, known paths, what has none; and the painted depth below it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import mcugen
from mcugen.boards import isa, target
from mcugen.boards.isa import Instruction
from mcugen.errors import ToolError
from mcugen.machines.toolchain import cross
from mcugen.machines.toolchain.disassembly import code_bytes, disassemble, parse
from mcugen.machines.toolchain.stack import Stack, bound
from mcugen.verify import check_report, emulated
from mcugen.verify.cases import cases
from tests.emit.built import model_file

ROOT = Path(__file__).resolve().parents[1]
ASSEMBLY = {"fault", "board_reset", "board_trap", "sim_stack_mark", "semihost", "__wrap_main"}
"""Start-up and simulation code that sets the stack pointer by hand."""
WITHOUT_BOUND = {"of_any_size", "through_pointer", "jumps_through_pointer"}


def holds(painted: int, limit: int) -> bool:
    """Whether a limit is at least the painted bytes, and not far above."""
    return painted <= limit <= 1.25 * painted + 64


def test_frames_equal_those_of_gcc_and_paths_add_up(emulated_core: str, tmp_path: Path) -> None:
    board = target.load(emulated_core)
    source = ROOT / "tests" / "machines" / "toolchain" / "frames.c"
    image = cross.build_image(board, [source], [], tmp_path, stack_bytes=12288)
    stack = Stack(disassemble(image.elf, board))
    told = {name: size for name, size in image.stack_usage.items() if name in stack.listing.labels.values()}
    told = {name: size for name, size in told.items() if name not in ASSEMBLY | WITHOUT_BOUND}
    assert len(told) > 15
    assert {name: stack.frame(name) for name in told} == told

    frame = stack.frame
    assert frame("large") >= 9000
    assert stack.bound("small").nbytes == frame("small") + frame("last")
    assert stack.bound("small").path == ("small", "last")
    both = frame("before_tail"), frame("last")
    # The frame is gone before the last call, except in Thumb-1, where gcc makes it an ordinary call.
    is_gone = emulated_core != "cortex-m0plus"
    assert stack.bound("before_tail").nbytes == (max(both) if is_gone else sum(both))
    deepest = stack.bound("chooses")
    assert deepest.nbytes == frame("chooses") + frame("large") + frame("small") + frame("last")
    assert deepest.path == ("chooses", "large", "small", "last")
    library = stack.bound("library")  # a division in software: RISC-V's needs no stack, and 64-bit Arm divides itself
    assert library.nbytes > frame("library") or emulated_core in {"rv32imc", "aarch64-linux"}
    assert bound(image.elf, board, "chooses") == deepest


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "rv32imc"])
def test_what_has_no_bound_is_refused(core: str, tmp_path: Path) -> None:
    board = target.load(core)
    source = ROOT / "tests" / "machines" / "toolchain" / "frames.c"
    image = cross.build_image(board, [source], [], tmp_path, stack_bytes=12288)
    for entry, reason in {
        "repeats": "repeats calls repeats",
        "through_pointer": "through a pointer",
        "jumps_through_pointer": "through a pointer",
        "of_any_size": "a variable amount",
        "absent": "no function 'absent'",
    }.items():
        with pytest.raises(ToolError, match=re.escape(reason)):
            Stack(disassemble(image.elf, board)).bound(entry)


ARM_LINES = {
    "push\t{r4, r5, lr}": Instruction(12),
    "vpush\t{d8-d15}": Instruction(64),
    "vpop\t{d8}": Instruction(-8),
    "str.w\tlr, [sp, #-4]!": Instruction(4),
    "ldr.w\tpc, [sp], #4": Instruction(flow="return"),
    "strd\tr4, r5, [sp, #-16]!": Instruction(16),
    "stmia.w\tsp, {r0, r1}": Instruction(),
    "subw\tsp, sp, #4012\t@ 0xfac": Instruction(4012),
    "add.w\tr1, sp, #8": Instruction(),
    "mov\tsp, r7": Instruction(flow="unbounded"),
    "popne\t{r4, pc}": Instruction(flow="return", falls_through=True),
    "bxeq\tlr": Instruction(flow="return", falls_through=True),
    "ldr\tpc, [r3, r2, lsl #2]": Instruction(flow="computed"),
    "bls.w\t2a <f+0x2a>": Instruction(flow="branch", target=0x2A),
    "le\tlr, 10 <f+0x10>": Instruction(flow="branch", target=0x10),
    "cbz\tr3, 8 <f+0x8>": Instruction(flow="branch", target=8),
    "ldr\tr3, [pc, #4]\t@ (8 <f+0x8>)": Instruction(),
}
RISCV_LINES = {
    "add\tsp,sp,-48": Instruction(48),
    "add\tsp,sp,48": Instruction(-48),
    "sw\tsp,0(a0)": Instruction(),
    "add\ts8,sp,4": Instruction(),
    "mv\tsp,s0": Instruction(flow="unbounded"),
    "jal\tt0,100 <__riscv_save_4>": Instruction(32, passing=32),
    "jal\tra,40 <g>": Instruction(flow="call", target=0x40),
    "jalr\t8(ra) # 40 <g>": Instruction(flow="call", target=0x40),
    "jr\t8(t1) # 40 <g>": Instruction(flow="jump", target=0x40),
    "jalr\ta5": Instruction(flow="register"),
    "bgeu\ta0,a1,20 <f+0x20>": Instruction(flow="branch", target=0x20),
    "ret": Instruction(flow="return"),
}


@pytest.mark.parametrize(("name", "lines"), [("arm", ARM_LINES), ("riscv", RISCV_LINES)])
def test_what_instructions_do_to_the_stack(name: str, lines: dict[str, Instruction]) -> None:
    listed = "".join(f"   {4 * k:x}:\t{line}\n" for k, line in enumerate(lines))
    found = parse(f"00000000 <f>:\n{listed}", isa.load(name))
    assert dict(zip(lines, found.instructions.values(), strict=True)) == lines
    assert found.labels == {0: "f"}


def test_functions_of_equal_names_are_kept_apart() -> None:
    body = "\tpush\t{r4, lr}", "\tpop\t{r4, pc}"
    text = "".join(f"000000{k}0 <{n}>:\n  {k}0:{body[0]}\n  {k}2:{body[1]}\n" for k, n in enumerate("fgf"))
    stack = Stack(parse(text, isa.load("arm")))
    assert stack.listing.labels == {0: "f", 16: "g", 32: "f"}
    assert stack.frame("g") == 8
    with pytest.raises(ToolError, match="several functions 'f'"):
        stack.frame("f")


def test_the_code_of_a_function_has_what_it_calls() -> None:
    """f, the part that the compiler split off, and what both call, once; neither f__other nor what nobody calls."""
    functions = {"f": "bl\t30 <g>", "f_row.part.0": "bl\t30 <g>", "f__other": "nop", "g": "b\t40 <h>", "h": "bx\tlr"}
    listed = [
        f"{16 * k:08x} <{n}>:\n  {16 * k:x}:\t{line}\n"
        for k, (n, line) in enumerate((functions | {"i": "nop"}).items())
    ]
    listing = parse("".join(listed), isa.load("arm"))
    assert [code_bytes(listing, name) for name in ("f", "g", "h", "f__other", "none")] == [64, 32, 16, 16, 0]


@pytest.mark.sampled(2)
def test_the_bound_of_a_model_is_at_and_not_far_above_the_painted_depth(emulated_core: str) -> None:
    artifact = mcugen.compile(ROOT / "examples" / "digits" / "digits.tflite", board=emulated_core)
    result = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert result.agrees
    assert holds(result.stack_bytes, result.stack_bound_bytes), (result.stack_bytes, result.stack_bound_bytes)
    assert result.stack_path[0] == "digits_run" and len(result.stack_path) > 1
    assert not [name for name, times in Counter(result.stack_path).items() if times > 1]
    assert check_report.simulate_dict(result)["stack_bound_bytes"] == result.stack_bound_bytes
    assert f"at most {result.stack_bound_bytes:,} on any path" in check_report.simulate_text(result)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "rv32imc"])
def test_the_bound_takes_in_the_math_library(core: str, tmp_path: Path) -> None:
    artifact = mcugen.compile(model_file("elu", tmp_path), board=core)
    result = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert holds(result.stack_bytes, result.stack_bound_bytes), (result.stack_bytes, result.stack_bound_bytes)
    assert any(not name.startswith(("mg_", "elu_")) for name in result.stack_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["rows", "frames"])
def test_the_bound_holds_where_input_is_pushed(mode: str) -> None:
    path = {"rows": "camera/shapes", "frames": "microphone/sweeps"}[mode]
    artifact = mcugen.compile(ROOT / "examples" / f"{path}.tflite", board="cortex-m4", input_mode=mode)
    result = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert holds(result.stack_bytes, result.stack_bound_bytes)
    assert result.stack_path[0].endswith(f"_push_{mode[:-1]}")
