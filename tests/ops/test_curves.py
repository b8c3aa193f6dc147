# SPDX-License-Identifier: Apache-2.0
"""exp, tanh and erf of floats (curves.h): their errors over all floats, and the same bits on every core."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.machines.toolchain import cross, host_gcc, qemu
from mcugen.machines.toolchain.process import run_checked
from tests.support import runtime

HERE = Path(__file__).parent
FUNCTIONS = ("mg_exp", "mg_tanh", "mg_erf")
EVERY = 1
SOME = 4_001
FEW = 800_011
"""Steps between the floats that are tried, as integers: prime to 2, so that all exponents and signs occur."""


def printed(source: str, step: int, folder: Path) -> str:
    """The text that a program prints on this computer."""
    flags = [*host_gcc.STRICT_WARNINGS, "-O2", "-ffp-contract=off", f"-DSTEP={step}u"]
    program = host_gcc.compile_program([HERE / source], folder / "program", [runtime.include()], flags)
    return run_checked([program], timeout_s=3600.0).stdout.decode()


def stated() -> dict[str, float]:
    """The bounds that the header states, by function."""
    text = (runtime.include() / "mcugen" / "curves.h").read_text()
    return {name: float(bound) for name, bound in re.findall(r"^ \*   (mg_\w+) +([\d.]+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("step", [SOME, pytest.param(EVERY, marks=[pytest.mark.whole, pytest.mark.long])])
def test_errors_are_as_stated(step: int, tmp_path: Path) -> None:
    """The errors of all 2^32 floats are tried with --whole."""
    found = dict(zip(FUNCTIONS, map(str.split, printed("curves_errors.c", step, tmp_path).splitlines()), strict=True))
    assert tuple(stated()) == FUNCTIONS
    for name, bound in stated().items():
        error, where = map(float, found[name])
        assert bound - 0.2 <= error <= bound, f"{name}({where:.9g}) is {error} units of the last place away"


def test_every_core_gives_the_same_bits(emulated_core: str, tmp_path: Path) -> None:
    core = target.load(emulated_core)
    defines = [f"STEP={FEW}u", f"WANTED={printed('curves_bits.c', FEW, tmp_path)}"]
    image = cross.build_image(core, [HERE / "curves_bits.c"], [runtime.include()], tmp_path, defines=defines)
    assert qemu.run_image(image, core, cwd=tmp_path, count=False).exit_code == 0
