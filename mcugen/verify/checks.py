"""The two checks as commands run them: `verify` on the host, and `simulate` on an emulated core."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcugen.emit.promise import stated
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node
from mcugen.ir.imports import Import
from mcugen.pipeline import Artifact
from mcugen.verify import c_checks, delivered, derived_constants, emulated, golden, helpers, host, witnesses
from mcugen.verify.cases import Case
from mcugen.verify.cases import cases as drawn_cases
from mcugen.verify.comparison import Verdict
from mcugen.verify.delivered import Delivered
from mcugen.verify.derived_constants import Constants
from mcugen.verify.emulated import Simulation
from mcugen.verify.simulated import Simulated
from mcugen.verify.witnesses import Ask
from mcugen.verify.witnesses.testimony import Testimony

REFERENCES = {"tflm": "TFLM", "litert": "LiteRT's reference kernels", "ort": "ONNX Runtime"}


@dataclass(frozen=True)
class Verification:
    """Result of `verify`: the C compared with the oracle, and the oracle with recordings, if any were given.

    recorded, traced, trace_differs: the oracle against a runtime's recorded outputs, and its trace of tensors. helpers:
    functions of the header that differ from the oracle. text: rules that the C breaks. refused: an operator that the
    claimed runtime has no kernel for; "" if none. heard: the oracle against other programs that computed the file
    itself; unheard: why others did not. simulated: the oracle against recorded real numbers, for a model of integers.
    delivered: the files compiled by the board's own compiler. promise: how outputs match the runtime's.
    """

    name: str
    reference: str
    c: Verdict
    recorded: Verdict | None
    traced: int
    trace_differs: tuple[str, ...]
    constants: Constants
    helpers: tuple[str, ...]
    text: tuple[str, ...]
    refused: str
    notes: tuple[str, ...]
    called: str = ""
    heard: tuple[Testimony, ...] = ()
    unheard: tuple[str, ...] = ()
    simulated: Simulated | None = None
    delivered: Delivered | None = None
    promise: str = ""

    @property
    def exact(self) -> bool:
        """Whether everything agrees, and no value is a float."""
        return self.agrees and self.c.exact

    @property
    def agrees(self) -> bool:
        """Whether integers are equal, floats are within the tolerance, and nothing else is wrong."""
        verdicts = (self.c, self.recorded, self.simulated, *self.heard)
        return all(v is None or v.agrees for v in verdicts) and not self.faults

    @property
    def faults(self) -> tuple[str, ...]:
        """All faults, apart from differences of tensors."""
        refused = f"the build promises the bits of a runtime that refuses {self.refused}" if self.refused else ""
        shapes = (fault for one in self.heard for fault in one.faults)
        differing = (f"recorded trace differs: {name}" for name in self.trace_differs)
        compiled = self.delivered.faults if self.delivered else ()
        return (
            *filter(None, [refused]),
            *compiled,
            *self.constants.differences,
            *self.helpers,
            *self.text,
            *differing,
            *shapes,
        )


def verify(
    artifact: Artifact,
    random: int,
    recording: Path | None,
    trace: Path | None,
    progress: Callable[[str], None],
    ask: Ask | None = None,
) -> Verification:
    """Compare C, oracle and recordings. Raises UsageError for a trace without the recording it belongs to.

    random: number of random inputs. ask: the model file for witnesses; if None, no witness is asked.
    """
    if trace and not recording:
        raise UsageError("--trace needs --golden", hint="the trace is of the first recorded input")
    imported, which = artifact.imported, artifact.view.reference
    cases = [*(golden.cases(recording, imported) if recording else ()), *drawn_cases(imported, random)]
    progress("recorded outputs")
    recorded, simulated = golden.judged(recording, imported, which) if recording else (None, None)
    traced, differing = golden.check_trace(trace, recording, imported) if trace and recording else (0, [])
    heard, unheard = witnesses.hear(ask, imported, which, cases, progress) if ask else ([], [])
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        progress("compiling")
        program = host.build_program(artifact, Path(place))
        return Verification(
            heard=tuple(heard),
            unheard=tuple(unheard),
            name=artifact.name,
            called=artifact.called,
            reference=which,
            c=host.compare(artifact, program, cases, progress),
            recorded=recorded,
            simulated=simulated,
            traced=traced,
            trace_differs=tuple(differing),
            constants=derived_constants.check(artifact),
            helpers=tuple(helpers.differences(artifact, program)),
            text=tuple(c_checks.violations(artifact, Path(place))),
            promise=_promise(artifact),
            delivered=delivered.check(artifact, Path(place)),
            refused=refused(artifact.imported, artifact.view.reference),
            notes=artifact.report.notes,
        )


def _promise(artifact: Artifact) -> str:
    """How outputs that agree match the runtime's: equal bits, or a tolerance."""
    view, halves = artifact.view, artifact.graph.stores_halves
    return stated(view.promises, [end.label for end in view.outputs], REFERENCES[view.reference], halves=halves)


def refused(graph: Graph, which: str) -> str:
    """The first operator of the file that the claimed runtime refuses, "" if none. Operators are checked again.

    An operator that was imported as other operators is skipped: their types do not show whether the runtime has it.
    """
    nodes = [node for node in graph.nodes if _is_itself(node)] if which in graph.refusals else []
    return next((node.source for node in nodes if node.op.refused_by(graph.call(node, which), which)), "")


def _is_itself(node: Node) -> bool:
    """Whether the file's operator was imported as this one operator."""
    direct = {entry.name for entry in node.op.imports if not (isinstance(entry, Import) and entry.expand)}
    return node.source.split(" ")[-1] in direct


def simulate(
    artifact: Artifact, count: int, recording: Path | None, optimize: str, progress: Callable[[str], None]
) -> Simulation:
    """Run the recorded inputs, or else `count` generated ones, on the emulated core."""
    recorded: list[Case] = golden.cases(recording, artifact.imported)[:count] if recording else []
    drawn = list(drawn_cases(artifact.imported, count))[:count]
    progress(f"running on {artifact.target.name}")
    return emulated.simulate(artifact, recorded or drawn, optimize=optimize)
