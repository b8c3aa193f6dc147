"""`mcugen bench`: a model's time on an OpenCL device, in total and per step, beside the profile's roofline."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.emit.environment import render
from mcugen.errors import UsageError
from mcugen.machines.toolchain import opencl
from mcugen.pipeline import Artifact
from mcugen.solve import device_kernels
from mcugen.system import tabular

INPUT, OUTPUT = "input.bin", "output.bin"
ROW_S = 0.002
"""Seconds for which the launches of one step are repeated to time them."""


@dataclass(frozen=True, eq=False)
class Benched:
    """Results of a run. facts: times, and memory traffic and MACs of the steps; outputs: the model's outputs."""

    facts: dict[str, Any]
    outputs: tuple[np.ndarray, ...]


def bench(artifact: Artifact, runs: int, inputs: Sequence[np.ndarray] | None = None) -> Benched:
    """Build and run the program that times a model, on random inputs if none are given.

    Raises UsageError for a model in C.
    """
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        write(artifact, Path(place), inputs)
        return run(artifact, Path(place), runs)


def write(artifact: Artifact, folder: Path, inputs: Sequence[np.ndarray] | None = None) -> Path:
    """Write and compile the program in a folder. inputs: in the model's order."""
    if artifact.view.device is None:
        raise UsageError(f"{artifact.name} is built as C, not for an OpenCL device", hint="use --backend opencl")
    program = _program(artifact, folder)
    (folder / INPUT).write_bytes(bytes_of(artifact, inputs))
    return program


def bytes_of(artifact: Artifact, inputs: Sequence[np.ndarray] | None) -> bytes:
    """The bytes of all inputs in order; of random ones if none are given."""
    given = inputs or [_drawn(artifact, name) for name in artifact.imported.inputs]
    return b"".join(np.ascontiguousarray(a).tobytes() for a in given)


def run(artifact: Artifact, folder: Path, runs: int, row_s: float = ROW_S) -> Benched:
    """Run the program. row_s: seconds of launches per step, 0 to leave the steps out."""
    files = [str(folder / INPUT), str(folder / OUTPUT)]
    text = opencl.run(folder / opencl.PROGRAM, [str(runs), str(row_s), *files])
    found: dict[str, Any] = json.loads(text)
    measured = found.pop("each")
    found["name"], found["steps"] = artifact.name, _steps(artifact, measured) if measured else []
    return Benched(found, _outputs(artifact, (folder / OUTPUT).read_bytes()))


def _program(artifact: Artifact, folder: Path) -> Path:
    files = {path: text for path, text in artifact.emitted.items() if not path.startswith("examples/")}
    files["bench_main.c"] = render("opencl/bench_main.c.j2", m=artifact.view, d=artifact.view.device)
    define = f'-D{artifact.view.macro}_WEIGHTS_FILE="{folder}/{artifact.name}_weights.bin"'
    timed = ("-DclGetPlatformIDs=bench_platforms", "-DclCreateContext=bench_context")
    return opencl.compile_program(files, folder, (*opencl.FLAGS, define, *timed))


def _drawn(artifact: Artifact, name: str) -> np.ndarray:
    t, rng = artifact.graph.type(name), np.random.default_rng(0)
    if t.is_float:
        return rng.standard_normal(t.shape).astype(t.np_dtype)
    return rng.integers(*t.limits, t.shape, endpoint=True).astype(t.np_dtype)


def _outputs(artifact: Artifact, data: bytes) -> tuple[np.ndarray, ...]:
    found, at = [], 0
    for name in artifact.graph.outputs:
        t = artifact.graph.type(name)
        found.append(np.frombuffer(data[at : at + t.nbytes], t.np_dtype).reshape(t.shape))
        at += t.nbytes
    return tuple(found)


def _steps(artifact: Artifact, measured: list[float]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for facts, seconds in zip(step_facts(artifact), measured, strict=True):
        rate = 1.0 / seconds if seconds > 0 else 0.0
        rates = {"flops_per_s": 2.0 * facts["macs"] * rate, "roofline_share": facts["least_seconds"] * rate}
        found.append({**facts, "seconds": seconds, **rates})
    return found


def step_facts(artifact: Artifact) -> list[dict[str, Any]]:
    """The known properties of each step. least_seconds: its time by the roofline of the device's profile."""
    found: list[dict[str, Any]] = []
    profile = device_kernels.device_of(artifact.target)
    for step in artifact.schedule.steps:
        kernel, macs, moved = (
            step.choice.kernel,
            artifact.schedule.macs(step),
            device_kernels.bytes_moved(step.choice.call),
        )
        found.append(
            {
                "title": artifact.view.steps[step.index].title,
                "kernel": kernel.symbol,
                "tile": dict(kernel.grid.tile),
                "on_device": step.on_device,
                "macs": macs,
                "bytes": moved,
                "least_seconds": max(2.0 * macs / profile.flops, moved / profile.bandwidth),
            }
        )
    return found


def to_first_result(facts: dict[str, Any]) -> float:
    """Seconds from initialization to the end of the first run, without the driver's time to create its context."""
    return float(facts["init"] - facts["context"] + facts["first_run"])


def as_parts(facts: dict[str, Any]) -> tabular.Parts:
    """The times as text: of the whole run first, then of the steps."""
    alone, runs = facts["steps_alone"], facts["runs"]
    lines = [
        f"{facts['name']} on {facts['device']}: {1e3 * runs['p50']:.3f} ms a run, driver {facts['driver']}",
        f"  init       {1e3 * facts['init']:10.3f} ms  {'from the cache' if facts['from_cache'] else 'built'}",
        f"    context  {1e3 * facts['context']:10.3f} ms  platforms and context, which are the driver's",
        f"  first run  {1e3 * facts['first_run']:10.3f} ms",
        f"  both       {1e3 * to_first_result(facts):10.3f} ms  initialization and first run, context apart",
        f"  steps      {1e3 * alone['p50']:10.3f} ms  p99 {1e3 * alone['p99']:.3f}, mean {1e3 * alone['mean']:.3f}",
        f"  whole run  {1e3 * runs['p50']:10.3f} ms  p99 {1e3 * runs['p99']:.3f}, mean {1e3 * runs['mean']:.3f}",
    ]
    if "c" in facts:
        c = facts["c"]
        times = f"p99 {1e3 * c['p99']:.3f}, mean {1e3 * c['mean']:.3f} of {c['count']} runs"
        lines.append(f"  C, 1 core  {1e3 * c['p50']:10.4g} ms  {times}")
    return [*lines, "", _table(facts["steps"])] if facts["steps"] else lines


def _table(steps: list[dict[str, Any]]) -> tabular.TextTable:
    """A row for each step; the slowest ones are marked."""
    total = sum(s["seconds"] for s in steps)
    columns = (
        tabular.TableColumn("step", right=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("us", right=True),
        tabular.TableColumn("share", right=True),
        tabular.TableColumn("GB/s", right=True, optional=True),
        tabular.TableColumn("GFLOP/s", right=True),
        tabular.TableColumn("of roofline", right=True),
        tabular.TableColumn("kernel", optional=True),
    )
    rows = []
    for k, s in enumerate(steps):
        times = (f"{1e6 * s['seconds']:.2f}", f"{s['seconds'] / total:.1%}", f"{s['bytes'] / s['seconds'] / 1e9:.1f}")
        rates = (f"{s['flops_per_s'] / 1e9:.1f}", f"{s['roofline_share']:.1%}")
        rows.append((str(k), s["title"], *times, *rates, s["kernel"]))
    return tabular.TextTable(columns, tuple(rows), tabular.largest([s["seconds"] for s in steps]))
