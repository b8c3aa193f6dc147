"""Tries mutants of the kernels on the conformance cases of the operators that use them."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcugen.emit import bundle
from mcugen.errors import ToolError
from mcugen.machines.toolchain.host_gcc import SANITIZE
from mcugen.machines.toolchain.process import run, run_checked
from tests.support import program
from tests.support.conformance import CASE_WARNINGS
from tests.support.mutants import Mutant

RUN_LIMIT_S = 5.0
PLAIN = ("-O2", *CASE_WARNINGS)
SANITIZED = ("-O0", "-std=c11", *SANITIZE)


@dataclass(frozen=True)
class Unit:
    """A source of an operator's program: a kernel, or the generated models themselves."""

    path: Path
    name: str


@dataclass(frozen=True, eq=False)
class Bench:
    """One operator's program, built once: its objects by unit name, its input and its right output."""

    group: program.Group
    folder: Path
    units: dict[str, Unit]
    records: bytes
    built: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def objects(self, flags: tuple[str, ...]) -> Path:
        """The folder of all objects under these flags, compiled on first use."""
        place = self.folder / ("sanitized" if flags == SANITIZED else "plain")
        with self.lock:
            if flags not in self.built:
                place.mkdir()
                for unit in self.units.values():
                    compile_unit(unit, [], [self.folder], flags, place / f"{unit.name}.o")
                done = self._run(self._link({}, place, flags))
                problems = program.differences(self.group.cases, done[0], done[1])
                if problems:
                    raise ToolError(f"the kernels are wrong before any mutation: {problems[0]}", where=self.group.name)
                self.built[flags] = done[0]
        return place

    def catches(self, changed: dict[str, Path], flags: tuple[str, ...], scratch: Path) -> bool:
        """Whether the program with these objects in place of its own gives other outputs, or fails."""
        place = self.objects(flags)
        output, ending = self._run(self._link(changed, place, flags, scratch))
        if not ending and output == self.built[flags]:
            return False
        return bool(program.differences(self.group.cases, output, ending))

    def _link(self, changed: dict[str, Path], place: Path, flags: tuple[str, ...], scratch: Path | None = None) -> Path:
        objects = [changed.get(name, place / f"{name}.o") for name in self.units]
        binary = (scratch or place) / f"{self.group.name}.exe"
        run_checked(["gcc", *flags, *map(str, objects), "-o", str(binary), "-lm"], timeout_s=120)
        return binary

    def _run(self, binary: Path) -> tuple[bytes, str]:
        try:
            done = run([binary], stdin=self.records, timeout_s=RUN_LIMIT_S)
        except ToolError as error:
            return b"", str(error)
        return done.stdout, f"ended with {done.returncode}" if done.returncode else ""


def bench(group: program.Group, folder: Path) -> Bench:
    """Write an operator's program; it is compiled when it is first needed."""
    folder.mkdir(parents=True)
    paths = program.write_runtime(group.views, folder)
    paths += [program.write_group(group, folder), program.write_table([group], folder), program.SUPPORT / "harness.c"]
    units = {path.stem: Unit(path, path.stem) for path in paths}
    return Bench(group, folder, units, program.records(group.cases))


def compile_unit(
    unit: Unit, first: Sequence[Path], last: Sequence[Path], flags: Iterable[str], out: Path, source: Path | None = None
) -> None:
    """Compile a unit, or `source` in its place; folders `first` go before the runtime's headers."""
    folders = [*first, program.SUPPORT, *last]
    command = ["gcc", *flags, *(f"-I{f}" for f in folders), "-c", str(source or unit.path), "-o", str(out)]
    run_checked(command, timeout_s=120)


@dataclass(frozen=True)
class Trial:
    """The outcome of a mutant: "caught", "survived", "equivalent" or "refused" (by the compiler)."""

    mutant: Mutant
    outcome: str


@dataclass(frozen=True, eq=False)
class Laboratory:
    """All benches, and the files of the runtime in them."""

    benches: Sequence[Bench]

    @functools.cached_property
    def sources(self) -> dict[str, str]:
        """Path in a build -> text, for every kernel and every header."""
        found = (path for b in self.benches for path in b.folder.glob("*/*.[ch]"))
        return {f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8") for path in sorted(found)}

    def reachable(self) -> set[str]:
        """The files that some operator's kernels consist of."""
        return {path for b in self.benches for unit in b.units.values() for path in self._closure(unit)}

    def try_mutant(self, mutant: Mutant, scratch: Path) -> Trial:
        """Compile what the mutant changes, and run the operators that use it until one notices."""
        scratch.mkdir(parents=True)
        changed_file = scratch / mutant.file
        changed_file.parent.mkdir(parents=True, exist_ok=True)
        changed_file.write_text(mutant.applied(self.sources[mutant.file]), encoding="utf-8")
        seen: dict[str, Path | None] = {}
        affected: list[tuple[Bench, list[Unit]]] = []
        for b in self._by_relevance(mutant):
            try:
                changed = {
                    u.name: o for u in self._units(b, mutant) if (o := self._compiled(u, b, mutant, seen, scratch))
                }
            except ToolError:
                return Trial(mutant, "refused")
            if changed:
                if b.catches(changed, PLAIN, scratch):
                    return Trial(mutant, "caught")
                affected.append((b, [b.units[name] for name in changed]))
        if not affected:
            return Trial(mutant, "equivalent")
        return Trial(mutant, self._sanitized(mutant, affected, scratch))

    def _sanitized(self, mutant: Mutant, affected: Sequence[tuple[Bench, list[Unit]]], scratch: Path) -> str:
        for b, units in affected:
            changed = {unit.name: scratch / f"{unit.name}_sanitized.o" for unit in units}
            for unit in units:
                self._compile(unit, b, mutant, SANITIZED, changed[unit.name], scratch)
            if b.catches(changed, SANITIZED, scratch):
                return "caught"
        return "survived"

    def _compiled(
        self, unit: Unit, b: Bench, mutant: Mutant, seen: dict[str, Path | None], scratch: Path
    ) -> Path | None:
        """The unit's object with the mutant, None where it is the same as without; kernels are compiled once."""
        key = f"{b.group.name}/{unit.name}" if unit.name.endswith("_cases") else unit.name
        if key not in seen:
            out = scratch / f"{key.replace('/', '-')}.o"
            self._compile(unit, b, mutant, PLAIN, out, scratch)
            same = out.read_bytes() == (b.objects(PLAIN) / f"{unit.name}.o").read_bytes()
            seen[key] = None if same else out
        return seen[key]

    def _compile(self, unit: Unit, b: Bench, mutant: Mutant, flags: Sequence[str], out: Path, scratch: Path) -> None:
        source = scratch / mutant.file if mutant.file == f"kernels/{unit.path.name}" else None
        compile_unit(unit, [scratch], [b.folder], flags, out, source)

    def _by_relevance(self, mutant: Mutant) -> list[Bench]:
        using = [b for b in self.benches if self._units(b, mutant)]
        return sorted(
            using, key=lambda b: (not any(self._mentions(u, mutant) for u in self._units(b, mutant)), len(b.records))
        )

    def _mentions(self, unit: Unit, mutant: Mutant) -> bool:
        """Whether the unit's own files name the mutated function."""
        texts = [self.sources[path] for path in self._closure(unit) if path != mutant.file]
        return any(re.search(rf"\b{mutant.function}\b", text) for text in texts) or unit.name.endswith("_cases")

    def _units(self, b: Bench, mutant: Mutant) -> list[Unit]:
        return [unit for unit in b.units.values() if mutant.file in self._closure(unit)]

    def _closure(self, unit: Unit) -> set[str]:
        """The known files that a unit consists of; the generated models use the functions of runtime.h alone."""
        if unit.name.endswith("_cases"):
            return {bundle.of([]).path(bundle.RUNTIME)}
        wanted, found = [f"{unit.path.parent.name}/{unit.path.name}"], set()
        while wanted:
            name = wanted.pop()
            if name in self.sources and name not in found:
                found.add(name)
                wanted += [f"mcugen/{header}" for header in bundle.includes(self.sources[name])]
        return found
