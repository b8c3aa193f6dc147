# SPDX-License-Identifier: Apache-2.0
"""Kernels compile whatever the level of optimisation: assembly must leave a debug build enough registers."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

import pytest

from mcugen.boards import target
from tests.support import emulated, program
from tests.support.cores import Portion
from tests.test_conformance import OPS

LEVELS = {
    "cortex-m55": ("-O0", "-Og", "-O1", "-Os", "-O3"),
    "cortex-m4": ("-O0", "-Os", "-O3"),
    "cortex-m0plus": ("-O0", "-O3"),
    "rv32imc": ("-O0", "-O3"),
}
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-S", "-o", "-")


def sources_of(core: target.Target, folder: Path, portion: Portion) -> list[Path]:
    """The files of kernels that have assembly, or whose headers have."""
    groups = emulated.groups_for(core, [OPS[name] for name in sorted(OPS)], portion)
    written = program.write_runtime((view for group in groups for view in group.views), folder)
    return [path for path in written if has_assembly(path, folder)]


def has_assembly(path: Path, folder: Path) -> bool:
    text = path.read_text(encoding="ascii")
    included = re.findall(r'#include "(mcugen/\w+\.h)"', text)
    return "__asm__" in text or any(has_assembly(folder / name, folder) for name in included)


def complaint(core: target.Target, source: Path, folder: Path, level: str) -> str:
    """The compiler's message on a file, "" where it compiles."""
    command = [f"{core.toolchain.prefix}gcc", *core.toolchain.flags, *FLAGS, level, f"-I{folder}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{source.name} {level}: {done.stderr[:300]}" if done.returncode else ""


def jobs_of(name: str, folder: Path) -> list[tuple[Path, str]]:
    """Files, each with a level to compile it at: the first example of each kernel at all levels, others without an
    optimizer, which needs the most registers, and at one of the other levels in turn.
    """
    core, levels = target.load(name), LEVELS[name]
    firsts = sources_of(core, folder, Portion(True))
    rest = sorted({*sources_of(core, folder, emulated.WHOLE)} - {*firsts})
    others = [level for level in levels if level != "-O0"]
    turns = [(source, level) for k, source in enumerate(rest) for level in ("-O0", others[k % len(others)])]
    return [*product(firsts, levels), *turns]


@pytest.mark.whole
def test_kernels_compile_at_all_levels(tmp_path: Path) -> None:
    for name in LEVELS:
        jobs = jobs_of(name, tmp_path / name)
        assert len({source for source, _ in jobs}) > 20
        said = [complaint(target.load(name), source, tmp_path / name, level) for source, level in jobs]
        assert not any(said), "\n".join(filter(None, said))


def test_assembly_with_too_many_operands_is_noticed(tmp_path: Path) -> None:
    core, names = target.load("cortex-m55"), [f"a{k}" for k in range(12)]
    operands = ", ".join(f'"r"({name})' for name in names)
    (tmp_path / "a.c").write_text(f'void f({", ".join(f"int {n}" for n in names)}) {{ __asm__("" : : {operands}); }}\n')
    assert "-O0" in complaint(core, tmp_path / "a.c", tmp_path, "-O0")
