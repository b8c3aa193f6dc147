# SPDX-License-Identifier: Apache-2.0
"""Models of a folder, each of which once showed a fault, built by the command line and compared with their runtime.

usage: python -m tests.formats.faults FOLDER [NAME ...]
Each file is built with every preset for two cores. Its C runs on this machine, and every element of its results is
compared with ONNX Runtime, or with LiteRT for .tflite. Ends with exit status 1 where results differ, where `build` ends
with an internal error, takes over 5 s of processor time of a usual core, or refuses what the runtime runs. With NAMEs
only files whose names contain one of them.
"""

from __future__ import annotations

import importlib
import json
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mcugen.machines.toolchain.process import run
from tests.support.clock import slowness

CORES = ("host", "cortex-m0plus")
PRESETS = ("speed", "balanced", "ram", "flash")
SECONDS = 5.0
SETS = 3
TOLERANCE = 1e-5
"""Largest error of floats, relative to the largest result."""

OPTIONS = {"amalgamate": ("--amalgamate",)}
"""Options for the files whose names have a word."""

REFUSED = {
    "if_hides_unsupported_gru": r"\bGRU\b",
    "traceback_linear_sum": r"\bnode \d+ \w+: .*\bscale\b.* too fine",
    "traceback_staircase": r"\bQuantizeLinear\b.*\bscale\b",
}
"""The files that a build refuses though the runtime runs them, and what its message names."""

Arrays = list[np.ndarray]
Oracle = Callable[[Arrays], Arrays]


def onnx_runtime(path: Path) -> tuple[list[tuple[tuple[int, ...], np.dtype]], Oracle]:
    """The inputs of a model as shapes and types, and ONNX Runtime on it, without optimizations. Raises its errors."""
    onnxruntime = importlib.import_module("onnxruntime")
    choices = onnxruntime.SessionOptions()
    choices.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    choices.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), choices)
    names = {"float": "f4", "double": "f8", "bool": "?"}
    ends = []
    for end in session.get_inputs():
        kind = end.type.removeprefix("tensor(").rstrip(")")
        shape = tuple(n if isinstance(n, int) else 1 for n in end.shape)
        ends.append((shape, np.dtype(names.get(kind, kind))))
    return ends, lambda x: session.run(None, {e.name: a for e, a in zip(session.get_inputs(), x, strict=True)})


def litert(path: Path) -> tuple[list[tuple[tuple[int, ...], np.dtype]], Oracle]:
    """The inputs of a model as shapes and types, and LiteRT's reference kernels on it."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kind = OpResolverType.BUILTIN_REF
    model = Interpreter(str(path), experimental_op_resolver_type=kind, num_threads=1)
    model.allocate_tensors()
    given, results = model.get_input_details(), model.get_output_details()

    def computed(x: Arrays) -> Arrays:
        for end, array in zip(given, x, strict=True):
            model.set_tensor(end["index"], array)
        model.invoke()
        return [model.get_tensor(end["index"]) for end in results]

    return [(tuple(int(n) for n in end["shape"]), np.dtype(end["dtype"])) for end in given], computed


def drawn(ends: Sequence[tuple[tuple[int, ...], np.dtype]], k: int) -> Arrays:
    """Inputs of set k: whole numbers that rise, then random ones."""
    rng = np.random.default_rng(k)
    found = []
    for shape, dtype in ends:
        if dtype.kind == "f":
            rising = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            found.append((rising if k == 0 else 3 * rng.standard_normal(shape)).astype(dtype))
        elif dtype.kind == "b":
            found.append(rng.random(shape) < 0.5)
        else:
            limits = np.iinfo(dtype)
            found.append(rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True))
    return found


def program(folder: Path) -> Path:
    """A program of a build from all inputs on stdin to all outputs on stdout. Raises ValueError with gcc's words."""
    name = json.loads((folder / "report.json").read_text())["name"]
    header = (folder / f"{name}.h").read_text()
    ends = list(dict.fromkeys(re.findall(rf"^static inline .*\*({name}_(?:input|output)(?:_\d+)?)\(", header, re.M)))
    calls = [f"if (fread({e}(&m), {e.upper()}_SIZE, 1, stdin) != 1) return 1;" for e in ends if "_input" in e]
    calls += [f"{name}_run(&m);"]
    calls += [f"fwrite({e}(&m), {e.upper()}_SIZE, 1, stdout);" for e in ends if "_output" in e]
    text = [
        f'#include <stdio.h>\n#include "{name}.h"\nstatic {name}_t m;',
        "int main(void)",
        "{",
        *calls,
        "return 0;",
        "}",
    ]
    (folder / "driver.c").write_text("\n".join([*text, ""]))
    sources = [*folder.glob("*.c"), *folder.glob("kernels/*.c")]
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-O1"]
    done = run(["gcc", *warnings, f"-I{folder}", *sources, "-lm", "-o", folder / "driver"])
    if done.returncode:
        raise ValueError(f"the C does not compile: {done.text.strip().splitlines()[0]}")
    return folder / "driver"


def difference(got: bytes, expected: Arrays) -> str:
    """The first element that differs from the runtime's, or "" where none does."""
    if len(got) != sum(a.nbytes for a in expected):
        return f"{len(got)} bytes of results, the runtime's have {sum(a.nbytes for a in expected)}"
    at = 0
    for k, array in enumerate(expected):
        mine = np.frombuffer(got[at : at + array.nbytes], array.dtype)
        at += array.nbytes
        theirs = array.reshape(-1)
        if array.dtype.kind == "f":
            finite = np.abs(theirs[np.isfinite(theirs)])
            same = np.isclose(mine, theirs, rtol=0, atol=TOLERANCE * finite.max(initial=1.0), equal_nan=True)
        else:
            same = mine == theirs
        if not same.all():
            first = int(np.argmin(same))
            return f"output {k}[{first}] is {mine[first]}, not {theirs[first]}; {(~same).sum()} of {same.size} differ"
    return ""


def judged(path: Path, core: str, preset: str, cases: list[tuple[Arrays, Arrays]], refusal: str) -> tuple[bool, str]:
    """Whether a build is as it should be, and how it ended. refusal: the runtime's own error, "" where it runs."""
    extra = [option for word, options in OPTIONS.items() if word in path.name for option in options]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "mcugen",
            "build",
            path,
            "-o",
            folder,
            "--board",
            core,
            "--optimize",
            preset,
        ]
        done = run([*command, *extra])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if seconds > SECONDS and (usual := seconds / slowness()) > SECONDS:
            return False, f"takes {usual:.1f} s of processor time"
        if done.returncode:
            words = " ".join(done.text.split())
            named = REFUSED.get(path.stem)
            stated = named is not None and re.search(named, words) is not None
            return done.returncode != 70 and (bool(refusal) or stated), f"exit {done.returncode}: {words[:150]}"
        if refusal:
            return True, f"built; the runtime refuses: {refusal[:100]}"
        try:
            runs = program(folder)
        except ValueError as error:
            return False, str(error)
        for inputs, expected in cases:
            result = run([runs], stdin=b"".join(a.tobytes() for a in inputs))
            wrong = f"exit {result.returncode}" if result.returncode else difference(result.stdout, expected)
            if wrong:
                return False, wrong
        return True, f"agrees, {seconds:.1f} s"


def oracle(path: Path) -> tuple[list[tuple[Arrays, Arrays]], str]:
    """Inputs with the runtime's results; or none, and the runtime's error."""
    try:
        ends, compute = onnx_runtime(path) if path.suffix == ".onnx" else litert(path)
        cases = [drawn(ends, k) for k in range(SETS)]
        return [(inputs, [a.copy() for a in compute(inputs)]) for inputs in cases], ""
    except Exception as error:  # runtimes have no error of their own
        return [], " ".join(str(error).split()) or type(error).__name__


def main(folder: Path, names: Sequence[str] = ()) -> int:
    """Judge the files, print a line for each, and return the exit status."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".onnx", ".tflite"))
    files = [p for p in files if not names or any(name in p.name for name in names)]
    failed = 0
    for path in files:
        cases, refusal = oracle(path)
        verdicts = {(core, preset): judged(path, core, preset, cases, refusal) for core in CORES for preset in PRESETS}
        wrong = {where: text for where, (passes, text) in verdicts.items() if not passes}
        failed += bool(wrong)
        first = next(iter(wrong or {where: text for where, (_, text) in verdicts.items()}))
        where = f"{first[0]} {first[1]}" + (f", and {len(wrong) - 1} others" if len(wrong) > 1 else "")
        print(f"{'FAILED' if wrong else 'ok'} {path.name}: {verdicts[first][1]} ({where})", flush=True)
    print(f"{len(files)} files, {failed} failed")
    return int(bool(failed or not files))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
