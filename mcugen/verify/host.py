"""Compiles a model with the host's gcc and sanitizers, runs it, and compares every tensor with the oracle."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mcugen.emit import sources_of
from mcugen.emit.environment import render
from mcugen.errors import InternalError, ToolError
from mcugen.ir.types import TensorType, row_count
from mcugen.machines.toolchain import host_gcc, process
from mcugen.oracle.interpreter import HALF_TOLERANCE
from mcugen.pipeline import Artifact
from mcugen.verify import device
from mcugen.verify.cases import RECORDED, Case
from mcugen.verify.comparison import Comparison, Verdict
from mcugen.verify.rebased import Rebased, is_needed
from mcugen.verify.runs import PIECES, OracleRun, runs_of

OUTPUTS = 0xFFFFFFFF
DECISIONS = 0xFFFFFFFE
_HEAD = struct.Struct("<4I")
_CASE_TIMEOUT_S = 120.0
_QUICK = ("-Og", "-Wno-maybe-uninitialized")
"""Compiles in half the time of -O2. The disabled warning has false positives at low optimization."""

Computed = tuple[int, str, np.ndarray]
"""(step, tensor, value); step -1 for an output of the interface."""


def verify(artifact: Artifact, cases: Iterable[Case], progress: Callable[[str], None] = lambda text: None) -> Verdict:
    """Compare every tensor that the C computes, and the outputs of the interface, case by case.

    Raises ToolError if the C does not compile, or if a sanitizer stops it.
    """
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        progress("compiling")
        return compare(artifact, build_program(artifact, Path(folder)), cases, progress)


def compare(artifact: Artifact, program: Path, cases: Iterable[Case], progress: Callable[[str], None]) -> Verdict:
    """Compare the tensors of the verifying program with the oracle's. Raises ToolError if a sanitizer stops it.

    Float errors may grow from operator to operator, in long sums of one sign and in differences of nearly equal
    numbers. If the outputs disagree for this reason, each operator is compared on its actual operands instead, except
    for outputs of recorded inputs. If tensors are stored as half, or if a run pushes several windows of samples, only
    the whole network is compared.
    """
    given, whole = list(cases), artifact.graph.stores_halves or artifact.view.samples is not None
    needed = is_needed(artifact.imported) and artifact.view.samples is None
    verdict = _compared(artifact, program, given, progress, by_operator=needed)
    if verdict.agrees or not verdict.floats or needed or whole:
        return verdict
    return replace(_compared(artifact, program, given, progress, by_operator=True), by_operator=True)


def _compared(
    artifact: Artifact, program: Path, cases: Iterable[Case], progress: Callable[[str], None], *, by_operator: bool
) -> Verdict:
    """The verdict on all cases. by_operator: each operator is compared on its actual operands."""
    whole = HALF_TOLERANCE if artifact.graph.stores_halves else None
    comparison = Comparison(artifact.graph, artifact.imported, whole, by_operator=by_operator)
    for case in cases:
        progress(case.name)
        runs = runs_of(artifact, case)
        again = Rebased(artifact) if by_operator else None
        for k, tensors in enumerate(tensors_of(artifact, program, case.name, runs)):
            name = f"{case.name}, run {k}" if len(runs) > 1 else case.name
            oracle = again.oracle(runs[k], tensors) if again else runs[k].oracle
            comparison.begin_case(name, oracle)
            is_recorded = case.name.startswith(RECORDED) and not is_needed(artifact.imported)
            for step, tensor, array in tensors:
                if step == DECISIONS:
                    comparison.decisions(name, runs[k].decisions, int(array[0]))
                    continue
                comparison.tensor(name, step, tensor, array, runs[k].oracle if is_recorded and step < 0 else oracle)
    return comparison.verdict()


def build_program(artifact: Artifact, folder: Path) -> Path:
    """The verifying program: the emitted files with hooks and sanitizers."""
    for path, content in artifact.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    if artifact.view.device is not None:
        return device.build_program(artifact, folder)
    samples = artifact.view.samples
    most = max(*PIECES, samples.hop) if samples else 0
    (folder / "verify_main.c").write_bytes(render("verify_main.c.j2", m=artifact.view, most=most))
    (folder / "verify_hooks.h").write_bytes(render("verify_hooks.h.j2"))
    sources = [folder / path for path in sources_of(artifact.emitted)]
    flags = ["-include", "verify_hooks.h", *host_gcc.STRICT_WARNINGS, *_QUICK, *host_gcc.SANITIZE]
    return host_gcc.compile_program(
        [*sources, folder / "verify_main.c"], folder / "verify", [folder], flags, timeout_s=600
    )


def tensors_of(artifact: Artifact, program: Path, name: str, runs: Sequence[OracleRun]) -> Iterator[list[Computed]]:
    """The tensors that each run of a case computes, in order of completion, then the outputs with step -1.

    Rows are joined to whole tensors. For a network fed frame by frame, only the newest row of each tensor is given.
    """
    done = process.run([program], stdin=_stdin(artifact, runs), timeout_s=_CASE_TIMEOUT_S)
    if done.returncode != 0:
        raise ToolError(f"the compiled model stopped on {name!r}", where="verify", output=done.text)
    at = 0
    for _ in runs:
        found, at = _tensors_of_run(artifact, done.stdout, at)
        yield found
    if at != len(done.stdout):
        raise InternalError(f"{len(done.stdout) - at} bytes more than the runs should write", where="verify")


def _stdin(artifact: Artifact, runs: Sequence[OracleRun]) -> bytes:
    """The inputs of the runs. If the model has states, a stream of samples or no inputs, each run begins with its start
    mode.
    """
    parts: list[bytes] = []
    view = artifact.view
    for run in runs:
        parts += [struct.pack("<I", run.start)] if view.states or view.samples or not view.inputs else []
        parts += [run.head] if view.samples else []
        parts += [np.ascontiguousarray(a).tobytes() for a in run.inputs]
    return b"".join(parts)


def _tensors_of_run(artifact: Artifact, data: bytes, at: int) -> tuple[list[Computed], int]:
    """The tensors of one run, read from data[at:], and the position of the next run."""
    found: list[Computed] = []
    latest: dict[tuple[int, int], Computed] = {}
    parts: dict[tuple[int, int], _Rows] = {}
    while (OUTPUTS, len(artifact.graph.outputs) - 1) not in parts:
        if at >= len(data):
            raise InternalError("the outputs of a run are missing", where="verify")
        step, output, first, rows = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if step == DECISIONS:
            found.append((step, "", np.frombuffer(data, np.uint32, 1, at)))
            at += 4
            continue
        names = artifact.graph.outputs if step == OUTPUTS else artifact.schedule.steps[step].choice.node.outputs
        name = names[output]
        t = artifact.graph.type(name)
        if artifact.view.samples and (known := parts.get((step, output))) and known.complete:
            del parts[step, output]  # a later window of the same run
        part = parts.setdefault((step, output), _Rows(t))
        total = 1 if step == OUTPUTS else row_count(t.shape)
        at += part.add(total, first, rows, data, at)
        if artifact.schedule.streams and total > 1:
            part.complete = True
            found.append((step, name, part.value()[:, -1:]))
        elif part.complete:
            latest[step, output] = (-1 if step == OUTPUTS else step, name, part.value())
    missing = [f"{output} of step {step}" for (step, output), part in parts.items() if not part.complete]
    if missing:
        raise InternalError(f"rows of output {', '.join(missing)} are missing", where="verify")
    return [*found, *latest.values()], at


class _Rows:
    """A tensor assembled from rows. Each row must arrive exactly once."""

    def __init__(self, t: TensorType) -> None:
        self._type = t
        self._data = bytearray(t.nbytes)
        self._seen: set[int] = set()
        self.complete = False

    def add(self, total: int, first: int, rows: int, data: bytes, at: int) -> int:
        """Take rows [first, first + rows) of `total` from data[at:]. Returns the number of bytes taken."""
        size = self._type.nbytes // total
        new = set(range(first, first + rows))
        if new & self._seen or first + rows > total or at + rows * size > len(data):
            raise InternalError(
                f"rows {first}..{first + rows - 1} of {total} come twice or are incomplete", where="verify"
            )
        self._seen |= new
        self._data[first * size : (first + rows) * size] = data[at : at + rows * size]
        self.complete = len(self._seen) == total
        return rows * size

    def value(self) -> np.ndarray:
        return np.frombuffer(bytes(self._data), self._type.np_dtype).reshape(self._type.shape)
