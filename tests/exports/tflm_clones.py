# SPDX-License-Identifier: Apache-2.0
"""Public firmware of TensorFlow Lite Micro, compiled unedited on builds of its models, with what each printed before.

python -m tests.exports.tflm_clones --clones FOLDER [--models FOLDER] [--only TEXT]

FOLDER holds a clone of each repository of clones/cases.toml; --models a collection with models that no clone holds,
without which their programs are left out. Every program is compiled with the sanitizers and run. A clone that is
missing, at another commit or changed is a failure.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
import tempfile
import tomllib
import wave
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcugen
from mcugen.emit import EXAMPLE
from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.pipeline import Artifact

HERE = Path(__file__).parent / "clones"
CASES: dict[str, Any] = tomllib.loads((HERE / "cases.toml").read_text())
C_FLAGS = ("-std=c99", "-O1", "-ffp-contract=off")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=address")
CPP_FLAGS = ("-std=c++17", "-O1", "-g", "-w", *SANITIZERS, "-include", "cstdint", "-include", "cstdio")


@dataclass(frozen=True)
class Ran:
    """How a program ended. arena: the bytes that a 32-bit core needs, of each model."""

    failure: str
    arena: dict[str, int]


def array_of(path: Path) -> str:
    """The header that a repository's build makes of a file: an array, which of a model is only declared."""
    name = f"g_{path.stem}"
    if path.suffix == ".tflite":
        name += "_model_data"
        return f"constexpr unsigned {name}_size = {path.stat().st_size};\nextern const unsigned char {name}[];\n"
    if path.suffix == ".wav":
        with wave.open(str(path)) as file:
            count = file.getnframes()
            values: Sequence[int] = struct.unpack(f"<{count}h", file.readframes(count))
        return _header("int16_t", f"{name}_audio_data", values)
    return _header("unsigned char", f"{name}_image_data", list(_image(path.read_bytes())))


def _image(data: bytes) -> bytes:
    """The bytes of a picture of 8 bits for a point, from the top row down, with the palette applied."""
    start, width, height = struct.unpack_from("<I4xii", data, 10)
    (header,) = struct.unpack_from("<I", data, 14)
    palette = data[14 + header : start]
    assert struct.unpack_from("<H", data, 28) == (8,) and palette
    pitch = (width + 3) // 4 * 4
    rows = [data[start + pitch * y :][:width] for y in range(abs(height))]
    grey = [palette[4 * value] for row in (reversed(rows) if height > 0 else rows) for value in row]
    return bytes(grey)


def _header(c_type: str, name: str, values: Sequence[int]) -> str:
    size = f"#include <cstdint>\nconstexpr unsigned {name}_size = {len(values)};\n"
    return f"{size}alignas(16) static const {c_type} {name}[] = {{{', '.join(map(str, values))}}};\n"


def models_of(case: dict[str, Any], clone: Path, collection: Path | None, out: Path) -> list[Artifact]:
    """The builds of a case's models, each in a folder of its name."""
    made = []
    for name, (place, symbol) in case["models"].items():
        path = collection / place[1:] / "model.tflite" if collection and place[0] == "@" else clone / place
        names = {"symbol": (symbol,)} if symbol else {"find": True}
        made.append(mcugen.compile(path, name=name, export=("tflm",), optimize="ram", no_report=True, **names))
        made[-1].write(out / name)
    return made


def program(case: dict[str, Any], clone: Path, models: Sequence[Artifact], out: Path) -> Path:
    """The linked program of a case. Raises ToolError."""
    for header, place in case.get("arrays", {}).items():
        path = out / "made" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(array_of(clone / place))
    folders = [out / made.name for made in models] + [out / "made", HERE / "stubs"]
    folders += [clone / place for place in case.get("include", ())] + [clone]
    include = [f"-I{folder}" for folder in folders]
    defines = [f"-D{name}" for name in case.get("defines", ())]
    paths = {path: out / made.name / path for made in models for path in made.emitted}
    objects = []
    for k, source in enumerate(place for path, place in paths.items() if path.endswith(".c") and path != EXAMPLE):
        objects.append(out / f"c{k}.o")
        run_checked(["gcc", *C_FLAGS, *include, "-c", source, "-o", objects[-1]])
    sources = [clone / place for place in case["sources"]]
    sources += [HERE / "drivers" / case["driver"]] if "driver" in case else []
    sources += [out / made.name / f"{made.name}_tflm.cc" for made in models]
    sketch = ["-include", "Arduino.h"] if any(source.suffix == ".ino" for source in sources) else []
    for k, source in enumerate(sources):
        objects.append(out / f"cpp{k}.o")
        kind = ["-x", "c++", *sketch]
        run_checked(["g++", *CPP_FLAGS, *defines, *include, *kind, "-c", source, "-o", objects[-1]], timeout_s=300)
    run_checked(["g++", *SANITIZERS, *objects, "-lm", "-o", out / "program"])
    return out / "program"


def ran(case: dict[str, Any], clone: Path, collection: Path | None) -> Ran:
    """The failure of a case, "" for none."""
    with tempfile.TemporaryDirectory() as folder:
        models = models_of(case, clone, collection, Path(folder))
        arena = {made.name: made.view.tflm.arena_bytes for made in models if made.view.tflm}
        try:
            done = run([program(case, clone, models, Path(folder))], timeout_s=120)
        except ToolError as error:
            return Ran(f"does not compile: {error.explain()}\n{error.output[:3000]}", arena)
    at = 0
    for expected in case["expect"]:
        found = re.compile(expected).search(done.text, at)
        if found is None:
            return Ran(f"did not print {expected!r}: status {done.returncode}\n{done.text[-3000:]}", arena)
        at = found.end()
    most = case.get("most_bytes", sys.maxsize)
    if max(arena.values()) > most:
        return Ran(f"needs an arena of {max(arena.values()):,} bytes, and {most:,} were enough", arena)
    status = f"ended with status {done.returncode}\n{done.text[-3000:]}" if done.returncode else ""
    return Ran(status, arena)


def wrong_clones(clones: Path, names: Sequence[str], commits: Mapping[str, str]) -> Iterator[str]:
    """The faults of the clones of these names, which are to be at these commits."""
    for name in names:
        if not (clones / name / ".git").exists():
            yield f"{name}: no clone in {clones}"
            continue
        git = ["git", "-C", str(clones / name)]
        head = run_checked([*git, "rev-parse", "HEAD"]).text.strip()
        if not head.startswith(commits[name]):
            yield f"{name}: at {head[:7]}, and the outputs are those of {commits[name]}"
        if run_checked([*git, "diff", "--stat", "HEAD", "--diff-filter=MA"]).text.strip():
            yield f"{name}: files were edited: git diff is not empty"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    needs = {id(case): any(place[0] == "@" for place, _ in case["models"].values()) for case in CASES["case"]}
    cases = [
        case
        for case in CASES["case"]
        if asked.only in f"{case['clone']} {case['name']}" and (asked.models or not needs[id(case)])
    ]
    names = sorted({case["clone"] for case in cases})
    failures = [*wrong_clones(asked.clones, names, CASES["commits"])]
    missing = {text.split(":")[0] for text in failures if "no clone" in text}
    for case in (case for case in cases if case["clone"] not in missing):
        result = ran(case, asked.clones / case["clone"], asked.models)
        called = f"{case['clone']} {case['name']}"
        needs_text = ", ".join(f"{name} needs {size:,}" for name, size in result.arena.items())
        print(f"{'FAILED' if result.failure else 'ok    '} {called}: {needs_text}", flush=True)
        failures += [f"{called}: {result.failure}"] if result.failure else []
    after = wrong_clones(asked.clones, sorted({*names} - missing), CASES["commits"])
    failures += [text for text in after if text not in failures]
    print(*failures, f"{len(cases)} programs, {len(failures)} failures", sep="\n")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
