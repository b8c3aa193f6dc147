# SPDX-License-Identifier: Apache-2.0
"""Kernels that jump to addresses they compute land there wherever a linker places them, at any optimisation level."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.machines.toolchain.process import run_checked
from tests.support import runtime

_FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)*)", re.MULTILINE)
_TAKES_AN_ADDRESS = re.compile(r"\tadd[w.]*\t\w+, pc, #|\tsubw?\t\w+, pc, #|\tadr")


@pytest.mark.parametrize("level", ["-Os", "-O1", "-O2"])
@pytest.mark.parametrize("kernel", ["dense_s8__mve", "dense_s8__mve_linear", "dense_s8__mve_long"])
def test_functions_that_take_addresses_of_code_are_aligned(kernel: str, level: str, tmp_path: Path) -> None:
    chain = target.load("cortex-m55").toolchain
    source = runtime.include() / "mcugen" / f"{kernel}.c"
    out = tmp_path / "kernel.o"
    command = [chain.cc, *chain.flags, level, "-ffunction-sections", f"-I{runtime.include()}"]
    run_checked([*command, "-c", source, "-o", out])
    dump = [f"{chain.prefix}objdump", "--no-show-raw-insn", "-m", "armv8.1-m.main"]
    text = run_checked([*dump, "-h", "-w", out]).stdout.decode()
    aligned = {name: 1 << int(power) for name, power in re.findall(r"\.text\.(\w+) .*2\*\*(\d+)", text)}
    listing = run_checked([*dump, "-d", out]).stdout.decode()
    jumping = [name for name, body in _FUNCTION.findall(listing) if _TAKES_AN_ADDRESS.search(body)]
    assert len(jumping) >= 2
    assert {name: aligned[name] for name in jumping} == dict.fromkeys(jumping, 4)
