# SPDX-License-Identifier: Apache-2.0
"""Public repositories, switched by `mcugen adopt`: the patch applies, and their programs print what they did before.

python -m tests.exports.adopt_clones --clones FOLDER [--only TEXT]

FOLDER holds the clones that clones/adopted.toml names. Copies are patched by git, and programs compiled with the
sanitizers. A clone that is missing, at another commit or changed is a failure. The table has what firmware asked for
before and needs after, with the smallest arena that TensorFlow Lite Micro's package allocates on this machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcugen.builds.adopt import adoption, adoption_report
from mcugen.errors import McugenError, ToolError
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.options import Options
from mcugen.system.tabular import TableColumn, TextTable
from tests.exports.tflm_clones import C_FLAGS, CPP_FLAGS, HERE, SANITIZERS, wrong_clones

CASES: dict[str, Any] = tomllib.loads((HERE / "adopted.toml").read_text())
SEARCH = """
import sys
from tflite_micro import runtime
data, low, high = open(sys.argv[1], "rb").read(), 0, 1 << 22
def allocates(size):
    try:
        return runtime.Interpreter.from_bytes(data, arena_size=size) is not None
    except RuntimeError:
        return False
assert allocates(high)
while high - low > 16:
    middle = (low + high) // 2
    low, high = (low, middle) if allocates(middle) else (middle, high)
print(high)
"""
"""A search in a process of its own, for the package may end it."""
IGNORED = shutil.ignore_patterns(".git")
_SOURCES = {".cc", ".cpp", ".ino"}
COLUMNS = tuple(TableColumn(head, right=k > 1) for k, head in enumerate(
    ("repository", "model", "arena asked", "TFLM takes", "needed", "flatbuffer", "constants"))
)  # fmt: skip


def failures_of(case: dict[str, Any], clones: Path, rows: list[tuple[str, ...]]) -> Iterator[str]:
    """The fault of a case, "" for none; its models are added to the rows of the table."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / (Path(case["folder"]).name or case["clone"])
        shutil.copytree(clones / case["clone"] / case["folder"], copy, symlinks=True, ignore=IGNORED)
        try:
            result = adoption.adopt(copy, Options(optimize="ram"))
        except McugenError as error:
            reasons = str(error)
        else:
            reasons = " ".join(reason for program in result.refused for reason in program.refusals)
            yield from _after(case, result, clones, copy)
            rows += _rows(case["clone"], result)
        yield from (f"does not refuse {text!r}: {reasons}" for text in case.get("refused", ()) if text not in reasons)
        if "programs" in case and not any(row[0] == case["clone"] for row in rows):
            yield f"is not switched: {reasons}"


def _after(case: dict[str, Any], result: adoption.Adoption, clones: Path, copy: Path) -> Iterator[str]:
    """Failures of the patched copy and its programs."""
    patch = adoption.patch_path(copy)
    patch.write_bytes(result.patch)
    try:
        run_checked(["git", "-C", copy, "apply", "--whitespace=nowarn", patch])
    except ToolError as error:
        yield f"the patch does not apply: {error.output[:2000]}"
        return
    facts = adoption_report.as_dict(result, patch.name, written=True)
    for name, program in case["programs"].items():
        try:
            done = run(
                [_program(program, facts, clones / case["clone"], copy, copy.parent / f"{name}_build")], timeout_s=120
            )
        except ToolError as error:
            yield f"{name} does not compile: {error.explain()}\n{error.output[:3000]}"
            continue
        at = 0
        for expected in program["expect"]:
            found = re.compile(expected).search(done.text, at)
            if found is None:
                yield f"{name} did not print {expected!r}: status {done.returncode}\n{done.text[-2000:]}"
                break
            at = found.end()
    adoption.take_back(copy)
    if any(path.read_bytes() != file.before for file in result.patched if (path := copy / file.path).exists()):
        yield "is not as before after --undo"


def _program(program: dict[str, Any], facts: dict[str, Any], clone: Path, copy: Path, out: Path) -> Path:
    """The linked program: its sources, the files of the arrays, and the code that the patch adds. Raises ToolError."""
    out.mkdir()
    owner = next(each for each in facts["programs"] if program["sources"][0].startswith(each["program"].lstrip(".")))
    arrays = [model["file"] for model in owner["models"] if Path(model["file"]).suffix in _SOURCES]
    sources = [copy / name for name in (*owner["sources"], *program["sources"], *arrays)]
    sources += [HERE / "drivers" / program["driver"]] if "driver" in program else []
    folders = [] if "arduino" in owner["systems"] else [copy / owner["code"]]
    folders += [*(copy / name for name in program.get("include", ())), HERE / "stubs"]
    folders += [clone / name for name in program.get("outside", ())] + [copy / owner["code"]]
    include = [f"-I{folder}" for folder in dict.fromkeys(folders)]
    defines = [f"-D{name}" for name in program.get("defines", ())]
    objects = [out / f"{k}.o" for k in range(len(sources))]
    sketch = ["-include", "Arduino.h"] if any(source.suffix == ".ino" for source in sources) else []
    for source, made in zip(sources, objects, strict=True):
        if source.suffix == ".c":
            run_checked(["gcc", *C_FLAGS, *include, "-c", source, "-o", made])
        else:
            kind = ["-x", "c++", *sketch]
            run_checked(["g++", *CPP_FLAGS, *defines, *include, *kind, "-c", source, "-o", made], timeout_s=300)
    run_checked(["g++", *SANITIZERS, *objects, "-lm", "-o", out / "program"])
    return out / "program"


def _rows(clone: str, result: adoption.Adoption) -> Iterator[tuple[str, ...]]:
    for each in result.adopted:
        for model in each.program.models:
            asked = adoption_report.asked(each.program, model)
            figures = (asked, _taken(model.data), adoption_report.needed(model), len(model.data))
            figures += (model.built.report.weights_bytes,)
            yield (clone, model.name, *("-" if size is None else f"{size:,}" for size in figures))


def _taken(data: bytes) -> int | None:
    """The smallest arena, to 16 bytes, in which the package allocates a model; None where it does not run it."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(data)
        file.flush()
        done = run([sys.executable, "-c", SEARCH, file.name], timeout_s=120)
    return int(done.text.split()[-1]) if done.returncode == 0 else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    cases = [case for case in CASES["case"] if asked.only in case["clone"]]
    failures = [*wrong_clones(asked.clones, [case["clone"] for case in cases], CASES["commits"])]
    missing = {text.split(":")[0] for text in failures if "no clone" in text}
    rows: list[tuple[str, ...]] = []
    for case in (case for case in cases if case["clone"] not in missing):
        wrong = [f"{case['clone']}: {text}" for text in failures_of(case, asked.clones, rows)]
        print(f"{'FAILED' if wrong else 'ok    '} {case['clone']}", flush=True)
        failures += wrong
    print(TextTable(COLUMNS, tuple(rows)).text() if rows else "")
    print(*failures, f"{len(cases)} repositories, {len(failures)} failures", sep="\n")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
