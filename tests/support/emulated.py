"""Conformance cases on an emulated core: all operators in as few firmware images as its flash allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mcugen.boards import target
from mcugen.boards.target import Target
from mcugen.errors import MemoryBudgetError, ToolError
from mcugen.ir.op import Op
from mcugen.machines.toolchain import cross, qemu
from tests.support import program
from tests.support.cases import Case, cases_of
from tests.support.conformance import CASE_WARNINGS, compiler_complaints
from tests.support.cores import Portion

SETS = 2
WHOLE = Portion()
_RUN_LIMIT_S = 60.0
_MOST_STACK_BYTES = 4096
"""Most stack that a case may use, which every image has. A change below it is a stray write: no one owns that RAM."""


def groups_for(core: Target, ops: Sequence[type[Op]], portion: Portion = WHOLE) -> tuple[program.Group, ...]:
    """The cases of each operator on the kernels that the core can run."""
    return _groups(core.features, tuple(ops), portion)


@cache
def _groups(features: frozenset[str], ops: tuple[type[Op], ...], portion: Portion) -> tuple[program.Group, ...]:
    """Made once for all cores of the same features. Raises AssertionError for an example that cannot be made into C."""
    made = []
    for op in ops:
        name = op.__name__.lower()
        cases, refused = cases_of(op, features, SETS, f"{name}_", variants=False, sample=portion.sample(op))
        if refused:
            raise AssertionError(f"{refused[0].label}: {refused[0].why}")
        if cases:
            made.append(program.Group(name, tuple(cases)))
    return tuple(made)


def check_core(name: str, ops: Sequence[type[Op]], folder: Path, portion: Portion = WHOLE) -> list[program.Difference]:
    """Run the cases of these operators on an emulated core and compare."""
    core = target.load(name)
    return run_groups(core, groups_for(core, ops, portion), folder)


def run_groups(
    core: Target,
    groups: Sequence[program.Group],
    folder: Path,
    changed: Mapping[str, Path] = MappingProxyType({}),
) -> list[program.Difference]:
    """One image for all groups; where they do not fit, one for each half. changed: sources to take for those
    of these names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        image = image_of(core, groups, folder, changed)
    except MemoryBudgetError:
        if len(groups) == 1:
            raise
        middle = len(groups) // 2
        halves = (groups[:middle], folder / "a"), (groups[middle:], folder / "b")
        return [problem for half, place in halves for problem in run_groups(core, half, place, changed)]
    except ToolError as error:
        return compiler_complaints(error)
    cases = [case for group in groups for case in group.cases]
    (folder / "input.bin").write_bytes(program.records(cases))
    return ran(core, image, cases, folder)


def ran(core: Target, image: cross.Image, cases: Sequence[Case], folder: Path) -> list[program.Difference]:
    """Run an image of these cases, whose input is in `folder`, and compare."""
    output = folder / "output.bin"
    output.unlink(missing_ok=True)
    try:
        ending = _ending(qemu.run_image(image, core, cwd=folder, timeout_s=_RUN_LIMIT_S, count=False))
    except ToolError as error:
        ending = error.explain()
    return program.differences(cases, output.read_bytes() if output.exists() else b"", ending)


def _ending(done: qemu.SimulatedRun) -> str:
    """The fault of the run as a whole, "" without one."""
    if done.exit_code:
        return f"exit code {done.exit_code}"
    deepest = done.stack_bytes
    return f"a write {deepest:,} bytes below the top of the stack" if deepest > _MOST_STACK_BYTES else ""


def image_of(
    core: Target,
    groups: Sequence[program.Group],
    folder: Path,
    changed: Mapping[str, Path] = MappingProxyType({}),
    flags: Sequence[str] = (),
) -> cross.Image:
    """The image of these cases. flags: further ones for the compiler."""
    runtime = program.write_runtime((v for g in groups for v in g.views), folder)
    sources = [changed.get(path.name, path) for path in runtime]
    sources += [program.write_group(group, folder) for group in groups]
    sources += [program.write_table(groups, folder), program.SUPPORT / "harness.c"]
    include = [program.SUPPORT, folder]
    return cross.build_image(core, sources, include, folder, flags=[*CASE_WARNINGS, *flags])
