# SPDX-License-Identifier: Apache-2.0
"""One program on a Cortex-M4, linked with TensorFlow Lite Micro and then with a build: arena, flash and instructions.

python -m tests.exports.tflm_figures --clones FOLDER --library ARCHIVE --headers FOLDER...
    [--models FOLDER] [--only TEXT] [--optimize PRESET]

FOLDER holds the clones of clones/figures.toml; ARCHIVE and its folders of headers are those of TensorFlow Lite Micro as
firmware has it, compiled for a Cortex-M4 with hard floats, TF_LITE_STATIC_MEMORY and TF_LITE_STRIP_ERROR_STRINGS;
--models is a collection with models that no clone holds, without which they are left out. The program registers the
operators of the model and runs it three times; the build's C is compiled with -O2. A failure: other output, an arena
above the table's limit, or a missing clone. The compiler needs headers of the C++ library, of its own or where
CPLUS_INCLUDE_PATH says.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcugen
from mcugen.builds.adopt import programs
from mcugen.emit import EXAMPLE
from mcugen.errors import ToolError
from mcugen.formats import read
from mcugen.formats.tflite import read as flatbuffer
from mcugen.machines.toolchain import count
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.system import resources
from mcugen.system.tabular import TableColumn, TextTable
from tests.exports.tflm_clones import HERE, wrong_clones

CASES: dict[str, Any] = tomllib.loads((HERE / "figures.toml").read_text())
CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-ffunction-sections", "-fdata-sections")
CPP = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-w")
RELEASE = ("-DNDEBUG", "-DTF_LITE_STATIC_MEMORY", "-DTF_LITE_STRIP_ERROR_STRINGS", "-DCMSIS_NN", "-DMCUGEN_TFLM_LEAN")
QEMU = ("qemu-system-arm", "-M", "mps2-an386", "-semihosting-config", "enable=on,target=native", "-display", "none")
RESULT = re.compile(r"sum ([0-9a-f]{8}) used ([0-9a-f]{8})")
COLUMNS = tuple(TableColumn(head, right=k > 0) for k, head in enumerate((
    "model", "arena asked", "TFLM takes", "needed", "flash", "flash here", "instructions", "here"
)))  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """A program's run. outputs: a sum of all output bytes; arena_bytes: taken; flash_bytes: the whole image."""

    outputs: str
    arena_bytes: int
    flash_bytes: int
    instructions: int


def compiled(source: Path, include: Sequence[Path], made: Path, *flags: str) -> Path:
    is_cpp = source.suffix in (".cc", ".cpp")
    own = ["-std=c++17", *CPP] if is_cpp else ["-std=c99", "-ffp-contract=off", "-w"]
    compiler = "arm-none-eabi-g++" if is_cpp else "arm-none-eabi-gcc"
    folders = [f"-I{folder}" for folder in include]
    done = run([compiler, *CORE, *own, *RELEASE, *flags, *folders, "-c", source, "-o", made], timeout_s=120)
    if done.returncode:
        raise ToolError("does not compile", where=str(source), output=done.text)
    return made


def names_of(data: bytes) -> list[str]:
    """The methods of a resolver that register a model's operators."""
    known = (resources.templates() / "exports" / "tflm" / "ops.h.j2").read_text(encoding="utf-8")
    methods = {programs.plain_name(name): name for name in re.findall(r"MCUGEN_TFLM_OP\((\w+)\)", known)}
    return sorted(methods[programs.plain_name(name)] for name in {*flatbuffer.operators(data)})


def ran(objects: Sequence[Path], out: Path) -> Figures:
    """The figures of a program. Raises ToolError."""
    image = out / "firmware.elf"
    link = ["-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-Wl,--gc-sections,--no-warn-rwx-segments"]
    drivers = HERE / "drivers"
    run_checked(["arm-none-eabi-gcc", *CORE, *link, f"-T{drivers / 'figures.ld'}", *objects, "-lm", "-o", image])
    count.write_marks(count.read_marks(image), out / "marks.txt")
    options = f"file={count.plugin()},marks={out / 'marks.txt'},counts={out / 'counts.txt'}"
    done = run([*QEMU, "-plugin", options, "-kernel", image], timeout_s=300)
    result = RESULT.search(done.text)
    if result is None:
        raise ToolError("the program did not reach its end", where=str(image), output=done.text)
    text, data, *_ = run_checked(["arm-none-eabi-size", image]).text.splitlines()[1].split()
    instructions = count.read_counts(out / "counts.txt")[0].total
    return Figures(result[1], int(result[2], 16), int(text) + int(data), instructions)


@dataclass(frozen=True)
class Library:
    """TensorFlow Lite Micro as firmware has it."""

    archive: Path
    headers: tuple[Path, ...]


def measured(case: dict[str, Any], data: bytes, tflm: Library, out: Path, preset: str) -> Iterator[Figures]:
    """The figures with the library, then those with a build."""
    model, drivers = out / "network.tflite", HERE / "drivers"
    model.write_bytes(data)
    boards = resources.boards() / "_common"
    names = names_of(data)
    (out / "operators.h").write_text("".join(f"resolver.Add{name}();\n" for name in names))
    sizes = [f"-DARENA={case['asked']}", f"-DVARIABLES={case.get('variables', 0)}", f"-DOPERATORS={len(names)}"]
    common = [*sizes, "-Os", "-include", str(boards / "sim_step.h")]
    (out / "array.s").write_text(
        f'.section .rodata.g_model\n.balign 16\n.global g_model\ng_model:\n.incbin "{model}"\n'
    )
    run_checked(["arm-none-eabi-gcc", *CORE, "-c", out / "array.s", "-o", out / "array.o"])
    main = compiled(drivers / "figures.cc", [out, *tflm.headers], out / "before.o", *common)
    yield ran([main, out / "array.o", tflm.archive], out)
    made = mcugen.compile(
        model, name="network", board="cortex-m4", export=("tflm",), symbol=("g_model",), optimize=preset, no_report=True
    )
    made.write(out / "build")
    paths = [path for path in made.emitted if path.endswith(".c") and path != EXAMPLE]
    sources = [out / "build" / path for path in (*paths, "network_tflm.cc")]
    folders = [out, out / "build"]
    objects = [compiled(drivers / "figures.cc", folders, out / "after.o", *common)]
    objects += [
        compiled(source, folders, out / f"model{k}.o", "-O2" if source.suffix == ".c" else "-Os")
        for k, source in enumerate(sources)
    ]
    assert made.view.tflm is not None
    after = ran(objects, out)
    yield Figures(after.outputs, made.view.tflm.arena_bytes, after.flash_bytes, after.instructions)


def failure_of(case: dict[str, Any], before: Figures, after: Figures) -> str:
    if before.outputs != after.outputs and "other" not in case:
        return f"{case['name']}: outputs differ: {before.outputs} with the library, {after.outputs} with the build"
    if after.arena_bytes > case.get("most", sys.maxsize):
        return f"{case['name']}: needs an arena of {after.arena_bytes:,} bytes, and {case['most']:,} were enough"
    return ""


def data_of(case: dict[str, Any], clones: Path, collection: Path | None) -> bytes:
    """The flatbuffer of a case: a file, or an array in a source."""
    if case["file"][0] == "@":
        assert collection is not None
        return (collection / case["file"][1:] / "model.tflite").read_bytes()
    path: Path = clones / case["clone"] / case["file"]
    content = path.read_bytes()
    if path.suffix == ".tflite":
        return content
    return next(values for _, values in read.arrays(content) if values[4:8] == b"TFL3")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--headers", type=Path, nargs="+", required=True)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--optimize", default="ram")
    asked = parser.parse_args()
    cases = [case for case in CASES["model"] if asked.only in case["name"] and (asked.models or "clone" in case)]
    wanted = sorted({case["clone"] for case in cases if "clone" in case})
    failures = [*wrong_clones(asked.clones, wanted, CASES["commits"])]
    rows, tflm = [], Library(asked.library, tuple(asked.headers))
    for case in cases if not failures else ():
        with tempfile.TemporaryDirectory() as folder:
            data = data_of(case, asked.clones, asked.models)
            before, after = measured(case, data, tflm, Path(folder), asked.optimize)
        failures += [text] if (text := failure_of(case, before, after)) else []
        figures = (case["asked"] + case.get("variables", 0), before.arena_bytes, after.arena_bytes)
        figures += (before.flash_bytes, after.flash_bytes, before.instructions, after.instructions)
        rows.append((case["name"], *(f"{figure:,}" for figure in figures)))
        print(f"{'FAILED' if text else 'ok    '} {case['name']}", flush=True)
    print(TextTable(COLUMNS, tuple(rows)).text() if rows else "")
    print(*failures, f"{len(cases)} models, {len(failures)} failures", sep="\n")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as error:
        sys.exit(f"{error.explain()}\n{error.output}")
