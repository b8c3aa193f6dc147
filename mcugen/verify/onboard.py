"""Checks a model on a board over a serial line: outputs against the oracle, constants against the build."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.pipeline import Artifact
from mcugen.system import tabular
from mcugen.verify.cases import Case
from mcugen.verify.comparison import Comparison, Verdict
from mcugen.verify.emulated import outputs_of
from mcugen.verify.runs import first_run
from mcugen.verify.serial import SerialLine


@dataclass(frozen=True)
class Validation:
    """The result of a check on a board. changed: constants that differ from the build, with their descriptions."""

    name: str
    outputs: Verdict
    changed: tuple[str, ...]
    constants: int
    called: str

    @property
    def agrees(self) -> bool:
        return self.outputs.agrees and not self.changed


def longest_request(artifact: Artifact) -> int:
    """Size of the longest request in bytes: the inputs or samples up to the first outputs, and the framing."""
    return 10 + artifact.view.request_bytes


def validate(
    artifact: Artifact, line: SerialLine, cases: Sequence[Case], progress: Callable[[str], None]
) -> Validation:
    """Check the firmware on a line. Raises UsageError if it contains another model."""
    about = line.ask("I").decode(errors="replace")
    expected = f"{artifact.name} {artifact.view.sha256[:16]}"
    if about != expected:
        hint = "give the model and the options that the firmware was built with"
        raise UsageError(f"the board runs {about!r}, but this build is {expected!r}", where="--port", hint=hint)
    changed, known = _changed(artifact, line.ask("W"))
    comparison = Comparison(artifact.graph, artifact.imported)
    for case in cases:
        progress(case.name)
        run = first_run(artifact, case)
        answer = line.ask("R", b"".join(np.ascontiguousarray(a).tobytes() for a in run.inputs))
        comparison.begin_case(case.name, run.oracle)
        for tensor, array in outputs_of(artifact.graph, answer):
            comparison.tensor(case.name, -1, tensor, array, run.oracle)
    return Validation(artifact.name, comparison.verdict(), changed, known, artifact.called)


def _changed(artifact: Artifact, answer: bytes) -> tuple[tuple[str, ...], int]:
    """The constants whose checksums differ, and the number of constants compared."""
    sums = struct.unpack(f"<{len(answer) // 4}I", answer[: len(answer) // 4 * 4])
    arrays = artifact.view.arrays
    if sums and len(sums) != len(arrays):
        raise UsageError(
            f"the board has {len(sums)} constants, this build {len(arrays)}",
            where="--port",
            hint="give the model and the options that the firmware was built with",
        )
    pairs = zip(sums, arrays, strict=False)
    found = (a for crc, a in pairs if crc != zlib.crc32(np.ascontiguousarray(a.data).tobytes()))
    return tuple(f"{a.symbol}, {a.note}" for a in found), len(sums)


def as_dict(found: Validation) -> dict[str, Any]:
    """The result as a dictionary with stable keys for JSON."""
    return {
        "name": found.name,
        "agrees": found.agrees,
        "cases": found.outputs.cases,
        "largest_difference": found.outputs.max_abs_diff,
        "constants": found.constants,
        "changed_constants": list(found.changed),
    }


def as_parts(found: Validation) -> tabular.Parts:
    """The result as text for the terminal."""
    lines = [f"{found.called} on the board: {'OK' if found.agrees else 'DIFFERENT'}"]
    lines.append(f"  outputs of {found.outputs.cases} inputs, largest difference {found.outputs.max_abs_diff:g}")
    lines += [f"  constant changed: {text}" for text in found.changed]
    lines += [f"  {found.constants} constants as in the build"] if found.constants and not found.changed else []
    return lines
