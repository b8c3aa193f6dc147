"""Conformance cases on an emulated core: all operators in as few firmware images as its flash allows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mcugen import kernels
from mcugen.boards import target
from mcugen.boards.target import Target
from mcugen.errors import MemoryBudgetError, ToolError
from mcugen.ir.op import Op
from mcugen.machines.toolchain import cross, qemu
from tests.support import program
from tests.support.cases import cases_of
from tests.support.conformance import CASE_WARNINGS, compiler_complaints
from tests.support.cores import Portion

SETS = 2
WHOLE = Portion()
_RUN_LIMIT_S = 60.0


def groups_for(core: Target, ops: Sequence[type[Op]], portion: Portion = WHOLE) -> tuple[program.Group, ...]:
    """The cases of each operator on the kernels that the core can run."""
    asked = frozenset(feature for op in ops for kernel in kernels.of(op) for feature in kernel.needs)
    return _groups(core.features & asked, tuple(ops), portion)


@cache
def _groups(features: frozenset[str], ops: tuple[type[Op], ...], portion: Portion) -> tuple[program.Group, ...]:
    """Made once for all cores of which the kernels cannot tell the difference."""
    made = []
    for op in ops:
        name = op.__name__.lower()
        cases, _ = cases_of(op, features, SETS, f"{name}_", variants=False, sample=portion.sample(op))
        if cases:
            made.append(program.Group(name, tuple(cases)))
    return tuple(made)


def check_core(name: str, ops: Sequence[type[Op]], folder: Path, portion: Portion = WHOLE) -> list[program.Difference]:
    """Run the cases of these operators on an emulated core and compare."""
    core = target.load(name)
    return run_groups(core, groups_for(core, ops, portion), folder)


def run_groups(core: Target, groups: Sequence[program.Group], folder: Path) -> list[program.Difference]:
    """One image for all groups; where they do not fit, one for each half."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        image = _image(core, groups, folder)
    except MemoryBudgetError:
        if len(groups) == 1:
            raise
        middle = len(groups) // 2
        return run_groups(core, groups[:middle], folder / "a") + run_groups(core, groups[middle:], folder / "b")
    except ToolError as error:
        return compiler_complaints(error)
    cases = [case for group in groups for case in group.cases]
    (folder / "input.bin").write_bytes(program.records(cases))
    ending = ""
    try:
        done = qemu.run_image(image, core, cwd=folder, timeout_s=_RUN_LIMIT_S, count=False)
        ending = f"exit code {done.exit_code}" if done.exit_code else ""
    except ToolError as error:
        ending = error.explain()
    output = folder / "output.bin"
    return program.differences(cases, output.read_bytes() if output.exists() else b"", ending)


def _image(core: Target, groups: Sequence[program.Group], folder: Path) -> cross.Image:
    sources = program.write_runtime((v for g in groups for v in g.views), folder)
    sources += [program.write_group(group, folder) for group in groups]
    sources += [program.write_table(groups, folder), program.SUPPORT / "harness.c"]
    include = [program.SUPPORT, folder]
    return cross.build_image(core, sources, include, folder, flags=CASE_WARNINGS)
