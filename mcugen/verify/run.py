"""The two checks as commands run them: on the host, and on an emulated core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import UsageError
from mcugen.pipeline import Artifact
from mcugen.reference.inputs import Case
from mcugen.reference.inputs import cases as drawn_cases
from mcugen.verify import emulated, golden, host
from mcugen.verify.compare import Verdict
from mcugen.verify.emulated import Simulation


@dataclass(frozen=True)
class Verification:
    """The C against the oracle, and, where recordings were given, the oracle against the runtime."""

    name: str
    reference: str
    c: Verdict
    recorded: Verdict | None
    traced: int
    trace_differs: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return self.c.exact and (self.recorded is None or self.recorded.exact) and not self.trace_differs


def verify(
    artifact: Artifact, random: int, recording: Path | None, trace: Path | None, tell: Callable[[str], None]
) -> Verification:
    """Compare C, oracle and recordings. Raises UsageError for a trace without the recording it belongs to."""
    if trace and not recording:
        raise UsageError("--trace needs --golden", hint="the trace is of the first recorded input")
    imported, which = artifact.imported, artifact.view.reference
    cases = [*(golden.cases(recording, imported) if recording else ()), *drawn_cases(imported, random)]
    tell("recorded outputs")
    recorded = golden.check(recording, imported, which) if recording else None
    traced, wrong = golden.check_trace(trace, recording, imported) if trace and recording else (0, [])
    verdict = host.verify(artifact, cases, tell)
    return Verification(artifact.name, which, verdict, recorded, traced, tuple(wrong), artifact.report.notes)


def simulate(
    artifact: Artifact, count: int, recording: Path | None, optimize: str, tell: Callable[[str], None]
) -> Simulation:
    """Run the recorded and `count` drawn inputs on the emulated core."""
    recorded: list[Case] = golden.cases(recording, artifact.imported)[:count] if recording else []
    drawn = list(drawn_cases(artifact.imported, count))[:count]
    tell(f"running on {artifact.target.name}")
    return emulated.simulate(artifact, recorded or drawn, optimize=optimize)
