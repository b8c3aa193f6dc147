"""Runs the firmware on an emulated core: results, instructions per step, stack, flash and RAM."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.boards.machine import Energy
from mcugen.boards.target import Target
from mcugen.emit import sources_of
from mcugen.emit.environment import render
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.machines import cycles
from mcugen.machines.cycles import Interval
from mcugen.machines.toolchain import cross, qemu
from mcugen.machines.toolchain.count import Counts, Fetches
from mcugen.machines.toolchain.disassembly import Listing, code_bytes, disassemble
from mcugen.machines.toolchain.stack import Stack, StackBound
from mcugen.pipeline import Artifact
from mcugen.verify import assembled
from mcugen.verify.cases import Case
from mcugen.verify.comparison import Comparison, Verdict
from mcugen.verify.runs import OracleRun, sequence_of

OUTSIDE = -1
_COUNT = 4
"""Bytes of the number of decisions that a run of a stream of samples writes before its outputs."""
_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class SimulatedStep:
    """Executed instructions of a step in the first inference, and its cycles if the core has a cycle model.

    cycles: the estimate, widened by the errors that measurements on chips showed. core: cycles of the instructions
    alone. name: the model's name of the layer. code_bytes: size of its kernel's functions and all that they call.
    waits: most cycles that reads of slow memories add, with 0, 1, 2, ... wait states of the flash; empty if the board's
    file describes no such memory.
    """

    index: int
    op: str
    sizes: str
    kernel: str
    function: str
    macs: int
    instructions: int
    cycles: Interval | None
    core: Interval | None = None
    name: str = ""
    code_bytes: int = 0
    waits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """Measurements of firmware on an emulated core. Units: bytes; instructions and cycles of the first inference.

    cycles: an estimate; None without a cycle model of the core. clock_hz: the board's clock; None for a bare core.
    wait_states: of the flash, in the most cycles; None if the board's file does not describe its reads. energy: of the
    chip per cycle; None if the board's file does not state it.

    text_bytes, rodata_bytes: of an image with the model, start-up code and an empty main; rodata_bytes includes
    weights_bytes. ram_regions: bytes of the arena per region. stack_bytes: stack used below main, found by painting.
    stack_bound_bytes: the most stack on any path in the image; stack_path: the functions on it. Interrupts are not
    included. agrees: integers equal the oracle's, floats are within the tolerance. exact: agrees, without floats.
    repeatable: a second run with other initial memory gave the same bytes. outputs: per case, the outputs of its last
    run, as the core stored them.
    """

    board: str
    machine: str
    agrees: bool
    exact: bool
    repeatable: bool
    instructions: int
    macs: int
    cycles: Interval | None
    clock_hz: int | None
    steps: tuple[SimulatedStep, ...]
    text_bytes: int
    rodata_bytes: int
    weights_bytes: int
    ram_bytes: int
    ram_regions: tuple[tuple[str, int], ...]
    stack_bytes: int
    stack_bound_bytes: int
    stack_path: tuple[str, ...]
    verdict: Verdict
    outputs: tuple[tuple[np.ndarray, ...], ...]
    notes: tuple[str, ...]
    wait_states: int | None
    energy: Energy | None = None


_Compared = tuple[Verdict, bool, tuple[tuple[np.ndarray, ...], ...]]


@dataclass(frozen=True)
class _Trial:
    """The parts of one simulation: the images, QEMU's counts, the code, and the compared outputs."""

    image: cross.Image
    plain: cross.Image
    ran: qemu.SimulatedRun
    listing: Listing
    bound: StackBound
    verdict: Verdict
    repeatable: bool
    outputs: tuple[tuple[np.ndarray, ...], ...]


def require_machine(board: Target) -> None:
    """Raise UsageError if a board's core is not emulated."""
    if not board.emulators:
        hint = "name a board or core of `mcugen boards` with --board"
        raise UsageError(f"{board.name} has no emulated machine", hint=hint)


def simulate(artifact: Artifact, cases: Sequence[Case], *, optimize: str = "-O2") -> Simulation:
    """Run the cases on the artifact's board. Raises ToolError, MemoryBudgetError, and UsageError without an emulated
    machine.
    """
    board = artifact.target
    require_machine(board)
    trial = _run(artifact, cases, optimize)
    counts = trial.ran.counts[0] if trial.ran.counts else Counts()
    cores, notes = _estimates(board, trial.listing, counts)
    estimates = {step: _within(core, counts.fetches.get(step), board) for step, core in cores.items()}
    return Simulation(
        board=board.name,
        machine=trial.image.emulator.machine,
        agrees=trial.verdict.agrees,
        exact=trial.verdict.exact,
        repeatable=trial.repeatable,
        instructions=counts.total,
        macs=artifact.report.macs,
        cycles=sum(estimates.values(), Interval(0, 0)) if estimates else None,
        clock_hz=board.clock_hz,
        energy=board.energy,
        steps=_steps(artifact, counts, estimates, cores, trial.listing),
        text_bytes=trial.plain.text_bytes,
        rodata_bytes=trial.plain.rodata_bytes + trial.plain.data_bytes,
        weights_bytes=artifact.report.weights_bytes,
        ram_bytes=artifact.report.ram_bytes,
        ram_regions=tuple((region.name, region.size) for region in artifact.view.regions),
        stack_bytes=trial.ran.stack_bytes,
        stack_bound_bytes=trial.bound.nbytes,
        stack_path=trial.bound.path,
        verdict=trial.verdict,
        outputs=trial.outputs,
        notes=(*artifact.report.notes, *(n for n in (trial.image.note, *_per_second(artifact, counts), *notes) if n)),
        wait_states=_wait_states(board) if counts.fetches else None,
    )


def counted(artifact: Artifact, case: Case, runs: Sequence[OracleRun]) -> tuple[int, bool]:
    """The instructions of the first inference, and whether the outputs of all runs equal the oracle's.

    Faster than `simulate`: sequences are not repeated, reads of slow memories are not followed, and constants are
    linked as bytes. runs: `sequence_of` the case, which all schedules of a model share.
    """
    with tempfile.TemporaryDirectory(prefix="mcugen-") as name:
        _, _, ran, (verdict, repeatable, _) = _firmware(artifact, [case], [runs], Path(name), "-O2", brief=True)
    return (ran.counts[0] if ran.counts else Counts()).total, verdict.agrees and repeatable


def _run(artifact: Artifact, cases: Sequence[Case], optimize: str) -> _Trial:
    """Build the firmware, run every case's sequence twice, and analyse its code."""
    with tempfile.TemporaryDirectory(prefix="mcugen-") as name:
        sequences = [sequence_of(artifact, case) for case in cases]
        sources, image, ran, compared = _firmware(artifact, cases, sequences, Path(name), optimize)
        plain = _image(artifact, Path(name), sources, "plain", optimize)
        listing = disassemble(image.elf, artifact.target)
        bound = Stack(listing).bound(_entry(artifact))
    return _Trial(image, plain, ran, listing, bound, *compared)


def _firmware(
    artifact: Artifact,
    cases: Sequence[Case],
    sequences: Sequence[Sequence[OracleRun]],
    folder: Path,
    optimize: str,
    *,
    brief: bool = False,
) -> tuple[list[Path], cross.Image, qemu.SimulatedRun, _Compared]:
    """Build firmware that counts, and run every case's sequence twice, with different initial memory.

    brief: run it once, link the constants as bytes, and do not follow reads of slow memories.
    """
    times = 1 if brief else 2
    sources = _write(artifact, folder, sequences, times)
    if brief:
        sources = assembled.in_place_of_c(artifact.view, sources, folder)
    image = _image(artifact, folder, sources, "simulate", optimize)
    heads = artifact.view.samples is not None
    feed = (b"".join((run.head if heads else b"") + _bytes(run.inputs) for run in r) * times for r in sequences)
    (folder / "in.bin").write_bytes(b"".join(feed))
    ran = qemu.run_image(image, artifact.target, cwd=folder, timeout_s=_TIMEOUT_S, reads=not brief)
    return sources, image, ran, _compare(artifact, cases, sequences, (folder / "out.bin").read_bytes(), times)


def _image(artifact: Artifact, folder: Path, sources: Sequence[Path], main: str, optimize: str) -> cross.Image:
    """The firmware with one of two mains: "simulate" counts and prints, "plain" does neither."""
    return cross.build_image(
        artifact.target,
        [*sources, folder / f"{main}_main.c"],
        [folder],
        folder / main,
        optimize=optimize,
        defines=_constant_sections(artifact),
        simulated=main == "simulate",
        constants=[place.region for place in artifact.view.weight_places],
    )


def _estimates(board: Target, listing: Listing, counts: Counts) -> tuple[dict[int, Interval], tuple[str, ...]]:
    """Step -> cycles of its instructions; empty without a cycle model of the core. Then notes for the user."""
    model = cycles.load(board.core)
    if model is None:
        return {}, (f"no cycles: no model of {board.core}",)
    estimator = cycles.Estimator(model, listing)
    found = {step: estimator.cycles(runs) for step, runs in counts.runs.items()}
    return found, (model.note, *_waits_notes(board), _checked_note(board))


def _per_second(artifact: Artifact, counts: Counts) -> list[str]:
    """A note on what a stream takes per second of samples."""
    samples = artifact.view.samples
    if samples is None:
        return []
    rate = samples.rate / (samples.hop * samples.stride)
    total = f"{rate * counts.total:,.0f} instructions per second"
    return [f"an inference is one decision, after {samples.stride * samples.hop:,} samples: {total} of samples"]


def _within(core: Interval, fetches: Fetches | None, board: Target) -> Interval:
    """The cycles of a step. Least: the time to fetch its constants, if that is more. Most: with every wait state."""
    waits, streamed = (fetches.waits, fetches.streamed) if fetches else (0, 0)
    return Interval(*board.estimation.ends(core.low, core.high + waits, streamed))


def _wait_states(board: Target) -> int | None:
    flash = board.flash_regions()[0]
    return flash.wait_states if flash.has_waits else None


def _waits_notes(board: Target) -> list[str]:
    if board.is_core:
        return []
    unknown = f"cycles are without waits for the flash, which are not known of {board.name}"
    found = [] if board.flash_regions()[0].has_waits else [unknown]
    for memory in (r for r in board.regions if r.has_waits):
        code = f"{memory.code_cache_bytes:,} bytes for code and " if memory.kind == "flash" else ""
        ahead = ", code read a line ahead" if memory.prefetch else ""
        found.append(
            f"the most cycles include {memory.waits_text} for each {memory.line_bytes} bytes read from {memory.name} "
            f"past caches of {code}{memory.data_cache_bytes:,} for data{ahead}"
        )
    return found


def _checked_note(board: Target) -> str:
    checked = board.estimation.checked
    return f"cycles were checked against {checked}" if checked else f"cycles of {board.core} were not checked on a chip"


def _entry(artifact: Artifact) -> str:
    """The function to analyse: `run`, or the function that takes a row or a frame."""
    if artifact.view.samples:
        return f"{artifact.name}_push"
    if artifact.view.push is None:
        return f"{artifact.name}_run"
    return f"{artifact.name}_push_frame" if artifact.view.streams else f"{artifact.name}_push_row"


def _sections(artifact: Artifact) -> dict[str, str]:
    """Region -> section of its arena. The region of the stack and other variables has none."""
    further = artifact.target.ram_regions()[0 if artifact.target.is_core else 1 :]
    return {region.name: f".ram.{region.name}" for region in further}


def _constant_sections(artifact: Artifact) -> list[str]:
    """Defines that put constants in the region of variables into a section that start-up code initialises."""
    if artifact.target.is_core:
        return []
    first = artifact.target.ram_regions()[0].name
    places = [p for p in artifact.view.weight_places if p.region == first]
    return [f'{place.macro}=MCUGEN_SECTION(".mcugen.data")' for place in places]


def _write(artifact: Artifact, folder: Path, sequences: Sequence[Sequence[OracleRun]], times: int) -> list[Path]:
    """The sources of the firmware. After each sequence of runs, the model is reset. times: how often each is run."""
    for path, content in artifact.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    size = sum(end.nbytes for end in artifact.view.inputs)
    places = _sections(artifact)
    counts = {"runs": len(sequences[0]), "sets": times * sum(map(len, sequences))}
    most = max(min(run.piece, run.inputs[0].size) for runs in sequences for run in runs) if artifact.view.samples else 0
    main = render("simulate_main.c.j2", m=artifact.view, input_size=size, sections=places, most=most, **counts)
    (folder / "simulate_main.c").write_bytes(main)
    (folder / "plain_main.c").write_bytes(render("plain_main.c.j2", m=artifact.view, sections=places))
    return [folder / path for path in sources_of(artifact.emitted)]


def _bytes(arrays: Sequence[np.ndarray]) -> bytes:
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def _compare(
    artifact: Artifact, cases: Sequence[Case], sequences: Sequence[Sequence[OracleRun]], output: bytes, times: int
) -> _Compared:
    """The verdict on every first sequence, whether repeated sequences gave equal bytes, and the last outputs."""
    graph = artifact.graph
    comparison = Comparison(graph, artifact.imported)
    counted = _COUNT if artifact.view.samples else 0
    size = counted + sum(graph.type(name).nbytes for name in graph.outputs)
    repeatable = len(output) == times * size * sum(map(len, sequences))
    at, last = 0, []
    for case, runs in zip(cases, sequences, strict=True):
        length = size * len(runs)
        first = output[at : at + length]
        repeatable = repeatable and output[at : at + times * length] == first * times
        at += times * length
        for k, run in enumerate(runs):
            name = f"{case.name}, run {k}" if len(runs) > 1 else case.name
            comparison.begin_case(name, run.oracle)
            if counted:
                comparison.decisions(name, run.decisions, int.from_bytes(first[k * size :][:_COUNT], "little"))
            outputs = list(outputs_of(graph, first[k * size + counted :]))
            for tensor, array in outputs:
                comparison.tensor(name, -1, tensor, array, run.oracle)
        last.append(tuple(array for _, array in outputs))
    return comparison.verdict(), repeatable, tuple(last)


def outputs_of(graph: Graph, data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """The outputs of a run, which are at the start of `data`."""
    at = 0
    for name in graph.outputs:
        t = graph.type(name)
        yield name, np.frombuffer(data, t.np_dtype, t.size, at).reshape(t.shape)
        at += t.nbytes


def _steps(
    artifact: Artifact,
    counts: Counts,
    estimates: Mapping[int, Interval],
    cores: Mapping[int, Interval],
    listing: Listing,
) -> tuple[SimulatedStep, ...]:
    none = Interval(0, 0) if estimates else None
    instructions = counts.instructions
    code = {name: code_bytes(listing, name) for name in {s.function for s in artifact.report.steps}}
    return tuple(
        SimulatedStep(
            s.index,
            s.op,
            s.sizes,
            s.kernel,
            s.function,
            s.macs,
            instructions.get(s.index, 0),
            estimates.get(s.index, none),
            cores.get(s.index, none),
            s.name,
            code[s.function],
            counts.fetches[s.index].by_states if s.index in counts.fetches else (),
        )
        for s in artifact.report.steps
    )
