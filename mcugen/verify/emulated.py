"""Runs the firmware on an emulated core: bits, instructions per step, stack, flash and RAM."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen import reference
from mcugen.emit.environment import render
from mcugen.errors import UsageError
from mcugen.pipeline import Artifact
from mcugen.reference.inputs import Case
from mcugen.toolchain import cross, qemu, stack
from mcugen.verify.compare import Comparison, Verdict

OUTSIDE = -1
_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class SimulatedStep:
    """Executed instructions of a step in the first inference; cycles where there is a model of the core."""

    index: int
    op: str
    kernel: str
    instructions: int
    cycles_estimate: int | None


@dataclass(frozen=True)
class Simulation:
    """What a firmware did on an emulated core. Units: bytes; instructions of the first inference.

    text_bytes, rodata_bytes: the image without the simulation's own main is not separable, so they are of the image
    that holds the model, start-up code and a main that prints nothing; rodata_bytes includes weights_bytes.
    stack_bytes: painted depth below main during a run. stack_bound_bytes: the most that any path can take, from the
    image; stack_path: the functions on the path that takes it. Interrupts are in neither.
    repeatable: a second run with other garbage gave the same bytes.
    """

    board: str
    machine: str
    exact: bool
    repeatable: bool
    instructions: int
    cycles_estimate: int | None
    steps: tuple[SimulatedStep, ...]
    text_bytes: int
    rodata_bytes: int
    weights_bytes: int
    ram_bytes: int
    stack_bytes: int
    stack_bound_bytes: int
    stack_path: tuple[str, ...]
    verdict: Verdict
    notes: tuple[str, ...]


def simulate(artifact: Artifact, cases: Sequence[Case], *, optimize: str = "-O2") -> Simulation:
    """Run the cases on the artifact's board. Raises ToolError, MemoryBudgetError, UsageError (no emulated machine)."""
    board = artifact.target
    if not board.emulators:
        raise UsageError(f"{board.name} has no emulated machine", hint="choose a board or core from `mcugen boards`")
    with tempfile.TemporaryDirectory(prefix="mcugen-") as name:
        folder = Path(name)
        sources = _write(artifact, folder)
        image = cross.build_image(
            board, [*sources, folder / "simulate_main.c"], [folder], folder / "simulated", optimize=optimize
        )
        plain = cross.build_image(
            board, [*sources, folder / "plain_main.c"], [folder], folder / "plain", optimize=optimize, simulated=False
        )
        feed = b"".join(_bytes(case.inputs) * 2 for case in cases)
        (folder / "in.bin").write_bytes(feed)
        ran = qemu.run_image(image, board, cwd=folder, timeout_s=_TIMEOUT_S)
        bound = stack.bound(image.elf, board.toolchain, _entry(artifact))
        verdict, repeatable = _compare(artifact, cases, (folder / "out.bin").read_bytes())
    counts = ran.counts[0] if ran.counts else {}
    return Simulation(
        board=board.name,
        machine=image.emulator.machine,
        exact=verdict.exact,
        repeatable=repeatable,
        instructions=sum(counts.values()),
        cycles_estimate=None,
        steps=_steps(artifact, counts),
        text_bytes=plain.text_bytes,
        rodata_bytes=plain.rodata_bytes,
        weights_bytes=artifact.report.weights_bytes,
        ram_bytes=artifact.report.ram_bytes,
        stack_bytes=ran.stack_bytes,
        stack_bound_bytes=bound.nbytes,
        stack_path=bound.path,
        verdict=verdict,
        notes=(*artifact.report.notes, *((image.note,) if image.note else ())),
    )


def _entry(artifact: Artifact) -> str:
    """The function that computes: run, or what takes in a row or a frame."""
    if artifact.view.push is None:
        return f"{artifact.name}_run"
    return f"{artifact.name}_push_frame" if artifact.view.streams else f"{artifact.name}_push_row"


def _write(artifact: Artifact, folder: Path) -> list[Path]:
    for path, content in artifact.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    size = sum(end.nbytes for end in artifact.view.inputs)
    (folder / "simulate_main.c").write_bytes(render("simulate_main.c.j2", m=artifact.view, input_size=size))
    (folder / "plain_main.c").write_bytes(render("plain_main.c.j2", m=artifact.view))
    return [folder / path for path in sorted(artifact.files) if path.endswith(".c") and path != "main.c"]


def _bytes(arrays: Sequence[np.ndarray]) -> bytes:
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def _compare(artifact: Artifact, cases: Sequence[Case], output: bytes) -> tuple[Verdict, bool]:
    """The verdict on the outputs of every first run, and whether every second run gave the same bytes."""
    graph = artifact.graph
    comparison = Comparison(graph)
    size = sum(graph.type(name).nbytes for name in graph.outputs)
    repeatable = len(output) == 2 * size * len(cases)
    for k, case in enumerate(cases):
        first, second = output[2 * k * size : (2 * k + 1) * size], output[(2 * k + 1) * size : (2 * k + 2) * size]
        repeatable = repeatable and first == second
        oracle = reference.run(artifact.imported, case.inputs, artifact.view.reference)
        comparison.begin_case()
        at = 0
        for name in graph.outputs:
            t = graph.type(name)
            comparison.tensor(
                case.name, -1, name, np.frombuffer(first, t.np_dtype, t.size, at).reshape(t.shape), oracle
            )
            at += t.nbytes
    return comparison.verdict(), repeatable


def _steps(artifact: Artifact, counts: dict[int, int]) -> tuple[SimulatedStep, ...]:
    return tuple(SimulatedStep(s.index, s.op, s.kernel, counts.get(s.index, 0), None) for s in artifact.report.steps)
