"""Compiles a model with the host's gcc and sanitizers, runs it, and compares every tensor with the oracle."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from mcugen import reference
from mcugen.emit import sources_of
from mcugen.emit.environment import render
from mcugen.errors import InternalError, ToolError
from mcugen.pipeline import Artifact
from mcugen.reference.inputs import Case
from mcugen.toolchain import host, process
from mcugen.types import TensorType, row_count
from mcugen.verify.compare import Comparison, Verdict

OUTPUTS = 0xFFFFFFFF
_HEAD = struct.Struct("<4I")
_CASE_TIMEOUT_S = 120.0


def verify(artifact: Artifact, cases: Iterable[Case], progress: Callable[[str], None] = lambda text: None) -> Verdict:
    """Compare every tensor the C computes, and the outputs as the interface gives them, case by case.

    Raises ToolError where the C does not compile, or a sanitizer stops it.
    """
    comparison = Comparison(artifact.graph, artifact.imported)
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        progress("compiling")
        program = build_program(artifact, Path(folder))
        for case in cases:
            progress(case.name)
            oracle = reference.run(artifact.imported, case.inputs, artifact.view.reference)
            comparison.begin_case(case.name, oracle)
            for step, name, array in tensors_of(artifact, program, case):
                comparison.tensor(case.name, step, name, array, oracle)
    return comparison.verdict()


def build_program(artifact: Artifact, folder: Path) -> Path:
    """The verifying program: the emitted files, hooks, sanitizers."""
    for path, content in artifact.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "verify_main.c").write_bytes(render("verify_main.c.j2", m=artifact.view))
    (folder / "verify_hooks.h").write_bytes(render("verify_hooks.h.j2"))
    sources = [folder / path for path in sources_of(artifact.emitted)]
    flags = ["-O2", "-include", str(folder / "verify_hooks.h"), *host.STRICT_WARNINGS, *host.SANITIZE]
    return host.compile_program([*sources, folder / "verify_main.c"], folder / "verify", [folder], flags, timeout_s=600)


def tensors_of(artifact: Artifact, program: Path, case: Case) -> Iterator[tuple[int, str, np.ndarray]]:
    """(step, tensor, value) in the order completed, then the outputs with step -1.

    Rows are put together first; of a network that is fed frame by frame there is the newest row of each tensor.
    """
    stdin = b"".join(np.ascontiguousarray(a).tobytes() for a in case.inputs)
    done = process.run([program], stdin=stdin, timeout_s=_CASE_TIMEOUT_S)
    if done.returncode != 0:
        raise ToolError(f"the compiled model stopped on {case.name!r}", where="verify", output=done.text)
    parts: dict[tuple[int, int], _Rows] = {}
    at = 0
    while at < len(done.stdout):
        step, output, first, rows = _HEAD.unpack_from(done.stdout, at)
        at += _HEAD.size
        made = artifact.graph.outputs if step == OUTPUTS else artifact.schedule.steps[step].choice.node.outputs
        name = made[output]
        t = artifact.graph.type(name)
        part = parts.setdefault((step, output), _Rows(t))
        total = 1 if step == OUTPUTS else row_count(t.shape)
        at += part.add(total, first, rows, done.stdout, at)
        if artifact.schedule.streams and total > 1:
            part.complete = True
            yield step, name, part.value()[:, -1:]
        elif part.complete:
            yield -1 if step == OUTPUTS else step, name, part.value()
    missing = [f"{output} of step {step}" for (step, output), part in parts.items() if not part.complete]
    if missing:
        raise InternalError(f"rows of output {', '.join(missing)} are missing", where="verify")


class _Rows:
    """A tensor put together from rows, each of which must come once."""

    def __init__(self, t: TensorType) -> None:
        self._type = t
        self._data = bytearray(t.nbytes)
        self._seen: set[int] = set()
        self.complete = False

    def add(self, total: int, first: int, rows: int, data: bytes, at: int) -> int:
        """Take rows [first, first + rows) of `total` from data[at:]; the bytes taken."""
        size = self._type.nbytes // total
        new = set(range(first, first + rows))
        if new & self._seen or first + rows > total or at + rows * size > len(data):
            raise InternalError(f"rows {first}..{first + rows - 1} of {total} come twice or not whole", where="verify")
        self._seen |= new
        self._data[first * size : (first + rows) * size] = data[at : at + rows * size]
        self.complete = len(self._seen) == total
        return rows * size

    def value(self) -> np.ndarray:
        return np.frombuffer(bytes(self._data), self._type.np_dtype).reshape(self._type.shape)
