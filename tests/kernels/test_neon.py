# SPDX-License-Identifier: Apache-2.0
"""Kernels for 64-bit Arm: the same bits with NEON, with its dot products and in plain C, on each emulated processor."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import kernels
from mcugen.boards import target
from mcugen.boards.machine import UserMode
from mcugen.ir.op import Op
from mcugen.kernels.simd import DOTPROD, FAMILY, NEON, byte_dots
from mcugen.ops.conv2d import Conv2D
from mcugen.system import resources
from tests.kernels.test_x86 import DIGITS, OPERATORS, ROOT, layer
from tests.kernels.test_x86_floats import OPERATORS as FLOATS
from tests.support import emulated, program
from tests.support.cases import cases_of, graph_of

CORE = "aarch64-linux"
SETS = {"cortex-a53": 1, "cortex-a72": 1, "cortex-a76": 2, "max": 2}
"""The best set of each processor that QEMU emulates, by its number in the C."""
HIDES = """
unsigned long getauxval(unsigned long type);
unsigned long getauxval(unsigned long type)
{
    return 0ul * type;
}
"""
ASKS = '#include "mcugen/simd.h"\nint main(void)\n{\n    return (int)mg_simd_set();\n}\n'


def on_neon(operator: type[Op]) -> type[Op]:
    """The operator with its examples, on kernels for NEON."""
    own = tuple(kernel for kernel in kernels.of(operator.__base__) if kernel.needs & NEON)  # type: ignore[type-var]
    return type(operator.__name__, (operator,), {"kernels": own})


def compiled(source: Path, folder: Path, *flags: str) -> Path:
    """A program for 64-bit Arm, with the headers of the family."""
    headers = folder / "mcugen"
    headers.mkdir(exist_ok=True)
    for name, file in resources.c_files().items():
        if file.path.parent.name in ("simd", "mcugen"):
            (headers / name).write_text(file.text)
    made = folder / source.stem
    cc = target.load(CORE).toolchain.cc
    subprocess.run([cc, "-O2", *flags, f"-I{folder}", source, "-o", made], check=True)
    return made


def run(made: Path, cpu: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program, on an emulated processor."""
    emulator = target.load(CORE).emulator
    assert isinstance(emulator, UserMode)
    command = [emulator.system, "-L", emulator.root, "-cpu", cpu, made, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_results_equal_the_oracle_with_each_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with the examples of all operators runs in plain C, with NEON, and with its dot products."""
    served = {op for op, able in FAMILY.serves.items() if any(kernel.needs & NEON for kernel in able)}
    assert {operator.__base__ for operator in OPERATORS} == served
    core, groups = target.load(CORE), []
    for place, operator in enumerate((*map(on_neon, OPERATORS), *FLOATS)):
        name = f"{operator.__name__.lower()}{place}"
        cases, refused = cases_of(operator, core.features, emulated.SETS, f"{name}_", variants=False)
        assert not refused and len(cases) >= len(operator.examples())
        groups.append(program.Group(name, tuple(cases)))
    flags = ("-includestdlib.h", '-DMCUGEN_SIMD_MOST=(unsigned)atoi(getenv("MOST"))')
    image = emulated.image_of(core, groups, tmp_path, flags=flags)
    every = [case for group in groups for case in group.cases]
    (tmp_path / "input.bin").write_bytes(program.records(every))
    for most in range(3):
        monkeypatch.setenv("MOST", str(most))
        assert not emulated.ran(core, image, every, tmp_path), f"set {most}"


def test_each_set_equals_plain_c_on_random_layers(tmp_path: Path) -> None:
    made = compiled(ROOT / "tests/kernels/simd_sets.c", tmp_path)
    for cpu, best in SETS.items():
        done = run(made, cpu, "12", "5", "1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(done.stdout.splitlines()) == 1 + best


def test_the_processor_is_asked_when_the_model_runs(tmp_path: Path) -> None:
    """MCUGEN_SIMD_MOST limits the sets, and a system that names no feature runs what every processor has."""
    source = tmp_path / "asks.c"
    source.write_text(ASKS)
    for flags, most in (((), 3), (("-DMCUGEN_SIMD_MOST=1u",), 1), (("-DMCUGEN_SIMD_MOST=0u",), 0)):
        made = compiled(source, tmp_path, *flags)
        assert {cpu: run(made, cpu).returncode for cpu in SETS} == {cpu: min(k, most) for cpu, k in SETS.items()}
    source.write_text(ASKS + HIDES)
    assert run(compiled(source, tmp_path), "max").returncode == 1


@pytest.mark.parametrize(("board", "how"), [("raspberry-pi-4", "neon"), ("raspberry-pi-5", "dotprod")])
def test_a_model_runs_on_the_board_with_the_bits_of_portable_c(board: str, how: str) -> None:
    built = mcugen.compile(DIGITS, board=board, name="digits")
    assert any(how in step.choice.kernel.symbol for step in built.schedule.steps)
    samples = np.load(ROOT / "examples/digits/digits_test.npz")["inputs"][:20]
    assert np.array_equal(built.run(samples), mcugen.load(DIGITS).run(samples))


def test_boards_have_the_sets_of_their_processors() -> None:
    for name in ("raspberry-pi-zero2", "raspberry-pi-3", "raspberry-pi-4", "raspberry-pi-5", CORE):
        board = target.load(name)
        assert isinstance(board.emulator, UserMode)
        assert ("dotprod" in board.features) == (SETS[board.emulator.cpu] > 1) and "neon" in board.features
    assert not target.load(CORE, ["-neon"]).features & DOTPROD


def test_weights_of_minus_128_are_left_to_other_kernels() -> None:
    """Two products of -128 and -128 exceed the 16 bits of their sum."""
    made = layer(Conv2D(), (1, 4, 4, 8), (8, 3, 3, 8))
    graph = graph_of(made)
    call = graph.call(graph.nodes[0], "tflm")
    least = np.array(call.constants[1])
    assert byte_dots.no_least_weight(call) == (least > -128).all()
    least.flat[0] = -128
    assert not byte_dots.no_least_weight(replace(call, constants=(None, least, *call.constants[2:])))
