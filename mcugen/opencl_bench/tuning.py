"""`mcugen tune`: measures the kernels and tiles for a model's steps on a device, and stores the best of each.

Equal calls of several steps or models are measured once, and calls that are in the table are not measured again. The
table is written after each chunk of calls, so that an interrupted run can continue.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcugen import kernels, pipeline
from mcugen.boards.target import Target
from mcugen.emit.opencl import launches, program
from mcugen.errors import ToolError, UsageError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Grid, Kernel
from mcugen.machines.toolchain import opencl
from mcugen.options import Options
from mcugen.solve import device_kernels
from mcugen.solve.schedule import Choice

CHUNK = 600
"""Most launches in one program."""
FAR = 3.0
"""Candidates are skipped if the roofline predicts more than this multiple of the best candidate's time."""
MOST = 20
"""Most candidates for one call."""
ROW_S = "0.002"
"""Seconds of a series of launches; five series are timed."""
TOLERANCE = {"float32": 1e-4, "float16": 2e-3}
"""Largest difference between two kernels' float results, relative to the largest magnitude, by type."""


@dataclass(frozen=True, eq=False)
class TuningResult:
    """The result of a tuner run.

    entries: key of a call -> its best launch; measured, known: numbers of calls measured now, and before; refused:
    launches that failed or were wrong
    """

    table: Path
    entries: dict[str, dict[str, Any]]
    measured: int
    known: int
    refused: list[str]


def tune(models: Sequence[Path], options: Options, table: Path, progress: Callable[[str], None]) -> TuningResult:
    """Measure calls missing from the table, and write it. Raises UsageError if the board is no OpenCL device."""
    calls: dict[str, list[Choice]] = {}
    for path in models:
        progress(f"reading {path.name}")
        for key, choices in candidates(pipeline.prepare(path, options)):
            calls.setdefault(key, choices)
    return measure(calls, table, progress)


def measure(
    calls: Mapping[str, list[Choice]], table: Path, progress: Callable[[str], None], until: float = math.inf
) -> TuningResult:
    """Measure calls missing from the table, and write it after each chunk. until: `time.monotonic()` after which no
    chunk is started.
    """
    entries = read(table)
    waiting = {key: choices for key, choices in calls.items() if key not in entries}
    measured, refused = 0, list[str]()
    for number, chunk in enumerate(_chunks(waiting)):
        if time.monotonic() > until:
            progress(f"no time left for {len(waiting) - measured} calls")
            break
        progress(f"chunk {number + 1}: {sum(len(c) for _, c in chunk)} launches of {len(chunk)} calls")
        entries |= _measured(chunk, refused)
        measured += len(chunk)
        write(table, entries)
    return TuningResult(table, entries, measured, len(calls) - len(waiting), refused)


def candidates(prepared: pipeline.Prepared) -> Iterator[tuple[str, list[Choice]]]:
    """The calls of a model with more than one possible launch, each with the launches worth measuring."""
    target = prepared.board
    if target.device is None:
        raise UsageError(f"{target.name} is no OpenCL device", hint="use --backend opencl")
    seen: set[str] = set()
    for node in prepared.graph.nodes:
        call = prepared.graph.call(node, prepared.options.reference)
        key = device_kernels.key_of(call)
        if key in seen:
            continue
        seen.add(key)
        found = worth(call, target)
        if len(found) > 1:
            yield key, [Choice(node, call, kernel, "") for kernel in found]


def fitting(call: Call, target: Target) -> list[Kernel]:
    """The device kernels that accept a call."""
    return [k for k in kernels.on_device(type(call.op)) if not k.refusals(call, target.features)]


def worth(call: Call, target: Target) -> list[Kernel]:
    """The launches whose predicted time is close to the best by the roofline, best first."""
    device = device_kernels.device_of(target)
    every = [
        made
        for kernel in fitting(call, target)
        if isinstance(kernel.form, Grid)
        for made in device_kernels.launches(call, kernel, device)
    ]
    timed = sorted(every, key=lambda k: device_kernels.roofline(k.launch(call), call, device, k))
    if not timed:
        return []
    best = device_kernels.roofline(timed[0].launch(call), call, device, timed[0])
    return [k for k in timed if device_kernels.roofline(k.launch(call), call, device, k) <= FAR * best][:MOST]


def _chunks(calls: Mapping[str, list[Choice]]) -> Iterator[list[tuple[str, list[Choice]]]]:
    chunk: list[tuple[str, list[Choice]]] = []
    for key, choices in calls.items():
        if chunk and sum(len(c) for _, c in chunk) + len(choices) > CHUNK:
            yield chunk
            chunk = []
        chunk.append((key, choices))
    if chunk:
        yield chunk


@dataclass(frozen=True)
class TunedLaunch:
    """A launch in a chunk's program. operands: element types and sizes of the computed operands; result: its type."""

    key: str
    symbol: str
    tile: tuple[tuple[str, int], ...]
    text: str
    operands: tuple[tuple[str, int], ...]
    result: str


def written(chunk: Sequence[tuple[str, list[Choice]]], folder: Path) -> list[TunedLaunch]:
    """Write and compile the program of a chunk; returns its launches, grouped by call."""
    every = [(key, choice) for key, choices in chunk for choice in choices]
    opencl.compile_program(launches.files_of([choice for _, choice in every], str(folder)), folder)
    return [_launch(key, choice) for key, choice in every]


def _launch(key: str, choice: Choice) -> TunedLaunch:
    call, kernel = choice.call, choice.kernel
    computed = [call.input(k) for k in kernel.pointer_operands(call) if call.constants[k] is None]
    operands = tuple((t.np_dtype.name, t.size) for t in computed)
    return TunedLaunch(
        key, kernel.symbol, kernel.grid.tile, program.digest_of(choice), operands, call.output.np_dtype.name
    )


def timed(every: Sequence[TunedLaunch], folder: Path, refused: list[str]) -> dict[str, dict[str, Any]]:
    """The table entries from running a chunk's program: the fastest correct launch of each call."""
    made = folder / opencl.PROGRAM
    seconds = [float(line) for line in opencl.run(made, ["time", ROW_S, "0", str(len(every))]).split()]
    rows: dict[str, list[int]] = {}
    for k, launch in enumerate(every):
        rows.setdefault(launch.key, []).append(k)
    best = {key: _best(made, found, every, seconds, refused) for key, found in rows.items()}
    return {key: entry for key, entry in best.items() if entry is not None}


def _measured(chunk: Sequence[tuple[str, list[Choice]]], refused: list[str]) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        return timed(written(chunk, Path(place)), Path(place), refused)


def _best(
    made: Path, rows: Sequence[int], every: Sequence[TunedLaunch], seconds: Sequence[float], refused: list[str]
) -> dict[str, Any] | None:
    """The table entry of the fastest launch that agrees with the first one, which the roofline predicts to be best.

    None if no launch works. Launches that do not agree are added to `refused`.
    """
    for k in sorted((k for k in rows if seconds[k] > 0), key=lambda k: seconds[k]):
        found = every[k]
        if k == rows[0] or _agree(made, rows[0], k, found):
            return {"kernel": found.symbol, "tile": dict(found.tile), "seconds": seconds[k], "text": found.text}
        refused.append(f"{found.key}: {found.symbol} {dict(found.tile)}")
    return None


def _agree(made: Path, first: int, second: int, launch: TunedLaunch) -> bool:
    """Whether two launches of a call give the same result for the same operands."""
    rng = np.random.default_rng(1)
    operands = b""
    for dtype, size in launch.operands:
        is_float = np.dtype(dtype).kind == "f"
        drawn = rng.standard_normal(size, np.float32) if is_float else rng.integers(-100, 100, size)
        operands += drawn.astype(dtype).tobytes()
    try:
        output = opencl.run(made, ["check", str(first), str(second)], 2 * operands)
    except ToolError:
        return False
    a, b = np.frombuffer(output, launch.result).reshape(2, -1)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    own, other = a.astype(np.float32), b.astype(np.float32)
    return bool(np.abs(own - other).max(initial=0.0) <= TOLERANCE[launch.result] * np.abs(own).max(initial=0.0))


def read(table: Path) -> dict[str, dict[str, Any]]:
    """The entries of a table, {} if the file is missing. Raises UsageError if it is no table."""
    return dict(_read(table)["entries"]) if table.exists() else {}


def _read(table: Path) -> dict[str, Any]:
    try:
        found = json.loads(table.read_text(encoding="utf-8"))
        dict(found["entries"])
    except (ValueError, KeyError, TypeError) as error:
        hint = "give another file, or remove it to measure anew"
        raise UsageError(f"is no table of mcugen tune: {error}", where=str(table), hint=hint) from error
    return dict(found)


def write(table: Path, entries: Mapping[str, dict[str, Any]]) -> None:
    """Write a table atomically."""
    part = table.with_suffix(".part")
    part.write_text(json.dumps({"entries": dict(sorted(entries.items()))}, indent=1) + "\n", encoding="utf-8")
    part.replace(table)
