"""Checks the C of an operator: every example on every kernel that takes it, with sanitizers, against the oracle.

    python -m tests.support.conformance [--keep FOLDER] [OpName ...]

prints a line per operator, and for each case that fails the first difference.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mcugen import kernels
from mcugen.emit import bundle
from mcugen.errors import ToolError
from mcugen.formats import registry
from mcugen.ir import element
from mcugen.ir.op import Op
from mcugen.machines.toolchain.host_gcc import SANITIZE, STRICT_WARNINGS
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.system import resources
from tests.support import program
from tests.support.cases import Case, Refused, Sample, cases_of, folded

# Several models share a translation unit, and C99 has no repeated typedef, which their assertions need.
CASE_WARNINGS = tuple("-std=c11" if flag == "-std=c99" else flag for flag in STRICT_WARNINGS)
_RUN_LIMIT_S = 60.0
_HEADER = re.compile(r'"([\w/]+\.h)"')
_KEPT = tempfile.TemporaryDirectory(prefix="mcugen-")


@dataclass(frozen=True)
class Result:
    """The result of one operator."""

    op: str
    cases: int
    folded: int
    refused: list[Refused]
    problems: list[program.Difference]
    seconds: float


def operators() -> dict[str, type[Op]]:
    """Every operator with examples, by class name: also those that imports and passes make, and no format names."""
    own = [op for op in registry.own() if "examples" in vars(op)]
    return {op.__name__: op for op in (*registry.load().ops, *own)}


def operators_using(files: Iterable[str]) -> list[str]:
    """The operators whose kernels, or whose own module, consist of one of these files of the repository.

    A header counts for kernels made of expressions where their operator's module names it, or one that many share.
    """
    names = {Path(file).name for file in files if file.startswith(("c_runtime/", "templates/elements/"))}
    names |= {name for name, file in resources.c_files().items() if file.path.name in names}
    changed = {str(file) for file in files}
    return [name for name, op in sorted(operators().items()) if _module(op) in changed or names & _sources(op)]


def _module(op: type[Op]) -> str:
    return f"{op.__module__.replace('.', '/')}.py"


def _sources(op: type[Op]) -> set[str]:
    """The names of the files in c_runtime and templates that an operator's kernels consist of."""
    names, loops = set[str](), set[str]()
    for kernel in (kernel for kernel in kernels.of(op) if kernel.has_code):
        names |= {*kernel.text.helpers}
        if kernel.text.generate:
            names |= _named_headers(Path(inspect.getfile(op)))
            loops = {path.name for path in (resources.templates() / "elements").iterdir()}
        else:
            names |= {
                bundle.header_of(kernel),
                bundle.template_of(kernel) if kernel.text.variant else kernel.source_name,
            }
    return loops.union(*map(bundle.of([]).hashed, names))


@functools.cache
def _named_headers(module: Path) -> set[str]:
    """The headers that an operator's module names, or a module that several operators share."""
    texts = (
        path.read_text(encoding="utf-8") for path in (Path(element.__file__), module, *module.parent.glob("_*.py"))
    )
    return {name for text in texts for name in _HEADER.findall(text) if name in resources.c_files()}


def include_flags(folder: Path) -> list[str]:
    return [f"-I{p}" for p in (program.SUPPORT, folder)]


def compile_host(
    group: program.Group,
    folder: Path,
    flags: Sequence[str] = ("-O0", "-g1", *SANITIZE),
    kernels: Mapping[str, Path] = MappingProxyType({}),
) -> Path:
    """The program that runs the cases of one operator. kernels: sources to take for others. Raises ToolError."""
    unit = program.write_group(group, folder)
    table = program.write_table([group], folder)
    jobs = [(kernels.get(path.name, path), STRICT_WARNINGS) for path in program.write_runtime(group.views, folder)]
    jobs += [(unit, CASE_WARNINGS), (table, CASE_WARNINGS)]
    objects = [folder / f"{source.stem}.o" for source, _ in jobs]
    include = include_flags(folder)

    def compile_one(job: tuple[Path, tuple[str, ...]], out: Path) -> None:
        run_checked(["gcc", *job[1], *flags, *include, "-c", str(job[0]), "-o", str(out)], timeout_s=300)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, jobs, objects))
    out = folder / group.name
    run_checked(["gcc", *flags, *objects, _harness(tuple(flags)), "-o", out, "-lm"], timeout_s=120)
    return out


@functools.cache
def _harness(flags: tuple[str, ...]) -> Path:
    """The object of the harness, which is the same for all operators."""
    out = Path(_KEPT.name) / f"harness{len(list(Path(_KEPT.name).iterdir()))}.o"
    source = program.SUPPORT / "harness.c"
    run_checked(["gcc", *CASE_WARNINGS, *flags, f"-I{program.SUPPORT}", "-c", source, "-o", out], timeout_s=120)
    return out


def compiler_complaints(error: ToolError) -> list[program.Difference]:
    """The first errors a compiler printed."""
    lines = error.explain().splitlines()
    return [program.Difference("compiler", line) for line in ([x for x in lines if " error: " in x] or lines)[:5]]


def run_host(binary: Path, cases: Sequence[Case], first: int = 0) -> list[program.Difference]:
    """Run the program on some cases; a crash is a difference of the case at which it came. first: the number of the
    first of them in the program.
    """
    try:
        done = run([binary], stdin=program.records(cases, first), timeout_s=_RUN_LIMIT_S)
    except ToolError as error:
        return [program.Difference("program", str(error))]
    ending = "" if done.returncode == 0 else _first_complaint(done.stderr.decode(errors="replace"), done.returncode)
    return program.differences(cases, done.stdout, ending)


def _first_complaint(text: str, returncode: int) -> str:
    """The sanitizer's message and the innermost place in a kernel or model."""
    lines = [line for line in text.splitlines() if "runtime error" in line or "ERROR: AddressSanitizer" in line]
    places = re.findall(r"#\d+ \S+ in (\w+ [^\s]*\.[ch]:\d+)", text)
    return " ".join([f"ended with {returncode}", *lines[:1], *places[:1]])


def check(op: type[Op], folder: Path, sample: Sample | None = None) -> Result:
    """The cases of an operator, compiled and run on the host. sample: which of them; None for all."""
    start = time.monotonic()
    # Kernels for cores with more have a meaning in plain C.
    cases, refused = cases_of(op, kernels.features(), sample=sample)
    problems: list[program.Difference] = []
    if cases:
        group = program.Group(op.__name__.lower(), tuple(cases))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            problems = run_host(compile_host(group, folder), cases)
        except ToolError as error:
            problems = compiler_complaints(error)
    known = sum(folded(example) is not None for example in op.examples())
    return Result(op.__name__, len(cases), known, refused, problems, time.monotonic() - start)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*", help="class names, e.g. Conv2D; all by default")
    parser.add_argument("--keep", type=Path, help="folder for the programs and their sources")
    options = parser.parse_args(arguments)
    known = operators()
    unknown = sorted(set(options.ops) - set(known))
    if unknown:
        parser.error(f"no operator {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.ops or sorted(known):
            result = check(known[name], (options.keep or Path(scratch)) / name)
            bad = bool(result.problems or result.refused)
            failed += bad
            print(f"{'FAIL' if bad else 'ok  '} {name}: {result.cases} cases, {result.seconds:.1f} s", flush=True)
            for refusal in result.refused:
                print(f"  not run: {refusal.label}: {refusal.why}")
            for problem in result.problems:
                print(f"  {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
