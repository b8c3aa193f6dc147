"""Conformance cases as data of one C program: its generated table, its input and what its output means."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.emit.view import ModelView
from tests.support.cases import Case

SUPPORT = Path(__file__).resolve().parent
TOLERANCE = 1e-5
"""Tolerance as a share of a float tensor's largest magnitude."""

ROUNDING = 2.0**-22
"""Tolerance as a share of the largest magnitude of float inputs: a few roundings of a float."""

_STATES = {
    1: "the outputs depend on garbage in the arena",
    2: "bytes of no buffer were written",
    3: "an input was lost",
}


@dataclass(frozen=True)
class Group:
    """The cases of one operator, in one translation unit `<name>_cases.c` that defines `<name>_cases[]`."""

    name: str
    cases: tuple[Case, ...]

    @property
    def views(self) -> list[ModelView]:
        return [case.view for case in self.cases]


def write_runtime(views: Iterable[ModelView], folder: Path) -> list[Path]:
    """Write the runtime of all models to `folder`; the kernels among it. Equal names are equal files."""
    files: dict[str, bytes] = {}
    for view in views:
        for path, content in view.runtime_files.items():
            assert files.setdefault(path, content) == content, path
    for path, content in files.items():
        if not (folder / path).exists():  # other processes may read it
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            part = folder / f"{path}.{os.getpid()}"
            part.write_bytes(content)
            part.replace(folder / path)
    return [folder / path for path in sorted(files) if path.endswith(".c")]


def write_group(group: Group, folder: Path) -> Path:
    """Write the emitted files and the translation unit that holds them all; return the latter."""
    lines = ['#include "harness.h"', ""]
    for case in group.cases:
        for path, content in case.files.items():
            if path.startswith(case.name):
                (folder / path).write_bytes(content)
        lines += _included(case)
    lines += [f"const harness_case {group.name}_cases[] = {{"]
    lines += [_row(case) for case in group.cases]
    unit = folder / f"{group.name}_cases.c"
    unit.write_text("\n".join([*lines, "};", ""]), encoding="ascii")
    return unit


_STATIC = re.compile(r"^static (?:MCUGEN_INLINE )?(?:const )?\w+ \*?(\w+)\(", re.MULTILINE)


def _included(case: Case) -> Iterator[str]:
    """One emitted model in the unit: its file-local names are renamed, for it shares the unit with others."""
    text = case.files[f"{case.name}.c"].decode("ascii")
    local = [*_STATIC.findall(text), "order", "started_mark", *(s.params for s in case.view.steps if s.params)]
    yield from (f"#define {name} {case.name}_{name}" for name in local)
    yield f'#include "{case.name}_weights.c"'
    yield f'#include "{case.name}.c"'
    yield from (f"#undef {name}" for name in local)
    yield f"static void {case.name}_call(void *model)"
    yield "{"
    yield f"    {case.name}_run(({case.name}_t *)model);"
    yield "}"
    parts = [(end.offset, end.nbytes) for end in case.view.ends] + [(a, b - a) for a, b in case.zones]
    yield f"static const harness_part {case.name}_parts[] = {{{', '.join(f'{{{a}u, {n}u}}' for a, n in parts)}}};"
    yield ""


def _row(case: Case) -> str:
    v = case.view
    counts = f"{v.arena_size}u, {len(v.inputs)}u, {len(v.outputs)}u, {len(case.zones)}u, {int(v.keep_input)}u"
    return f"    {{{case.name}_call, {case.name}_parts, {counts}}}, /* {case.label} */"


def write_table(groups: Sequence[Group], folder: Path) -> Path:
    """The table over all groups, and static memory for a firmware, which has no heap."""
    cases = [case for group in groups for case in group.cases]
    most = [max(sum(e.nbytes for e in ends) for ends in column) for column in _columns(cases)]
    lines = ['#include "harness.h"', ""]
    lines += [f"extern const harness_case {g.name}_cases[];" for g in groups]
    lines += ["const harness_group harness_groups[] = {"]
    lines += [f"    {{{g.name}_cases, {len(g.cases)}u}}," for g in groups]
    lines += ["};", f"const uint32_t harness_group_count = {len(groups)}u;", "#if defined(MCUGEN_SIMULATED)"]
    sizes = {"arena": max(c.view.arena_size for c in cases), "inputs": most[0], "outputs": most[1]}
    for name, size in sizes.items():
        lines += [f"extern uint8_t harness_{name}[];"]
        lines += [f"uint8_t harness_{name}[{max(size, 16)}] __attribute__((aligned(16)));"]
    table = folder / "table.c"
    table.write_text("\n".join([*lines, "#endif", ""]), encoding="ascii")
    return table


def _columns(cases: Sequence[Case]) -> tuple[list[list], list[list]]:  # type: ignore[type-arg]
    return [c.view.inputs for c in cases], [c.view.outputs for c in cases]


def records(cases: Sequence[Case], first: int = 0) -> bytes:
    """The input of the program: every case with every input set. first: the number of the first case in the table."""
    parts: list[bytes] = []
    for index, case in enumerate(cases, first):
        for inputs in case.inputs:
            parts += [struct.pack("<I", index), *(np.ascontiguousarray(a).tobytes() for a in inputs)]
    return b"".join(parts)


@dataclass(frozen=True)
class Difference:
    """The fault of a case: the first differing element, or how the program ended."""

    label: str
    what: str

    def __str__(self) -> str:
        return f"{self.label}: {self.what}"


def differences(cases: Sequence[Case], output: bytes, ending: str = "") -> list[Difference]:
    """Compare the program's output with the expected one. ending: why the program stopped early, "" if it did not."""
    found: list[Difference] = []
    at = 0
    for case in cases:
        size = 4 + sum(end.nbytes for end in case.view.outputs)
        for k in range(len(case.inputs)):
            record = output[at : at + size]
            at += size
            if len(record) < size:
                found.append(Difference(case.label, f"input {case.set_names[k]!r}: {ending or 'the output ends here'}"))
                return found
            problem = _problem(case, k, record)
            if problem:
                found.append(Difference(case.label, f"input {case.set_names[k]!r}: {problem}"))
                at += size * (len(case.inputs) - k - 1)
                break
    if not found and (ending or at != len(output)):
        found.append(Difference("program", ending or f"{len(output) - at} bytes too many"))
    return found


def _problem(case: Case, k: int, record: bytes) -> str:
    state = struct.unpack_from("<I", record)[0]
    for which, expected in case.expected.items():
        at = 4
        for number, want in enumerate(expected[k]):
            got = np.frombuffer(record, want.dtype, want.size, at)
            at += want.nbytes
            difference = first_difference(got, want, case.magnitude(k), exact=case.exact)
            if difference:
                return f"{which} output {number}: {difference}"
    return _STATES.get(state, "")


def first_difference(got: np.ndarray, want: np.ndarray, magnitude: float = 0.0, *, exact: bool = False) -> str:
    """The first difference of two tensors beyond the tolerance of their type; "" where there is none.

    magnitude: of what was added up to make them. Its rounding to float stays where large numbers cancel.
    exact: floats must be equal too, and zeros must have the same sign.
    """
    a, b = got.reshape(-1), want.reshape(-1)
    if want.dtype.kind != "f":
        wrong = a != b
    else:
        finite = np.isfinite(b)
        limit = 0.0 if exact else TOLERANCE * float(np.abs(b[finite]).max(initial=0.0)) + ROUNDING * magnitude
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(a.astype(np.float64) - b.astype(np.float64)) <= limit
        wrong = ~np.where(finite, near, (a == b) | (np.isnan(a) & np.isnan(b)))
        if exact:
            wrong |= (np.signbit(a) != np.signbit(b)) & ~np.isnan(b)
    if not wrong.any():
        return ""
    i = int(np.argmax(wrong))
    where = np.unravel_index(i, want.shape)
    index = [int(d) for d in where]
    return f"{int(wrong.sum())} of {want.size} differ, first at {index}: {a[i]} instead of {b[i]}"
