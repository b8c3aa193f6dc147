# SPDX-License-Identifier: Apache-2.0
"""Judges random models: import, oracle against the runtime, and the emitted C, many models in one program."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import mcugen
from mcugen.errors import InternalError, McugenError, ToolError
from mcugen.formats import registry
from mcugen.machines.toolchain.host_gcc import SANITIZE, compile_program
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify import host
from mcugen.verify.cases import Case as Inputs
from tests.random.drawing import Drawn, Kind, Sets, UnjudgedError, kind
from tests.support import conformance, draw, program
from tests.support.cases import Case

EQUAL, REFUSED, WRONG, UNCOMPILED = "equal", "refused", "wrong", "C fails"
TRACEBACK, SLOW, UNJUDGED = "traceback", "slow", "unjudged"
FAILURES = (WRONG, UNCOMPILED, TRACEBACK, SLOW)
CPU_SECONDS = 20.0
"""Processor time that a build may take."""
AT_ONCE = 48
"""Models in one program."""
_DRAWN_SETS = 2
_FLAGS = (*conformance.CASE_WARNINGS, "-O0", "-g1", *SANITIZE)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a seed, and why. seconds: processor time of the build."""

    seed: int
    label: str
    outcome: str
    why: str = ""
    seconds: float = 0.0


class _OvertimeError(BaseException):
    """The build took longer than it may; no handler of ordinary errors catches it."""


def _overtime(number: int, frame: FrameType | None) -> None:
    raise _OvertimeError


@dataclass(frozen=True, eq=False)
class _Built:
    """A model that was built and whose oracle equals the runtime; its C is still to be judged."""

    verdict: Verdict
    artifact: Artifact
    sets: Sets
    oracle: Sets
    exact: bool = False

    def case(self) -> Case:
        """The model as a part of a program."""
        view = self.artifact.view
        name = self.artifact.name
        return Case(
            name, self.verdict.label, view, dict(self.artifact.emitted), (),
            set_names=tuple(f"set {k}" for k in range(len(self.sets))),
            inputs=tuple([np.ascontiguousarray(a) for a in arrays] for arrays in self.sets),
            expected={view.reference: tuple(list(outputs) for outputs in self.oracle)}, exact=self.exact,
        )  # fmt: skip


def judged(kind_name: str, seeds: Sequence[int]) -> Iterator[Verdict]:
    """The verdicts on these seeds, in order; a process for each few, so that a crash is a verdict, too."""
    registry.load()  # before the fork, so that processes share it
    for module in getattr(kind(kind_name), "LOADS", ()):
        importlib.import_module(module)
    for k in range(0, len(seeds), AT_ONCE):
        yield from _in_a_process(kind_name, list(seeds[k : k + AT_ONCE]))


def _in_a_process(kind_name: str, seeds: list[int]) -> list[Verdict]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, kind_name, seeds))
    process.start()
    sender.close()
    try:
        found: list[Verdict] | Exception = receiver.recv()
    except EOFError:
        found = []
    process.join()
    if isinstance(found, Exception):
        raise found  # a defect of the generator or of the judge
    if found:
        return found
    if len(seeds) == 1:
        return [Verdict(seeds[0], "", TRACEBACK, f"the process ended with status {process.exitcode}")]
    return [verdict for seed in seeds for verdict in _in_a_process(kind_name, [seed])]


def _send(sender: Any, kind_name: str, seeds: list[int]) -> None:
    try:
        sender.send(judged_together(kind(kind_name), seeds))
    except Exception as error:
        sender.send(RuntimeError(f"seeds {seeds[0]} to {seeds[-1]}: {traceback.format_exc()}"))
        raise SystemExit(1) from error


def judged_together(made: Kind, seeds: Sequence[int]) -> list[Verdict]:
    """The verdicts on these seeds, in this process and with one program for all."""
    with tempfile.TemporaryDirectory(prefix="mcugen-") as name:
        folder = Path(name)
        found = [_import_and_compare(made, seed, folder) for seed in seeds]
        built = [one for one in found if isinstance(one, _Built)]
        plain = [one for one in built if not one.artifact.view.states]
        verdicts = {one.seed: one for one in (_of_c(plain, folder / "c") if plain else [])}
        verdicts |= {one.verdict.seed: _of_runs(one) for one in built if one.artifact.view.states}
    return [verdicts[one.verdict.seed] if isinstance(one, _Built) else one for one in found]


def _import_and_compare(made: Kind, seed: int, folder: Path) -> Verdict | _Built:
    """A verdict, or the build where all but its C is right."""
    drawn = made.draw(seed)
    verdict = Verdict(seed, drawn.label, EQUAL)
    path = folder / f"{seed}{Path(drawn.file).suffix}"
    path.write_bytes(drawn.data)
    artifact, verdict = _build(path, drawn, verdict)
    if artifact is None:
        return verdict
    try:
        graph = artifact.imported
        types = [graph.type(name) for name in graph.inputs]
        sets = drawn.sets or [arrays for _, arrays in draw.input_sets(types, seed % 2**32, _DRAWN_SETS)]
        values = interpreter.runs(graph, sets, artifact.view.reference)
        oracle = [[value[name] for name in graph.outputs] for value in values]
        why = made.differs(drawn, graph, oracle)
    except UnjudgedError as error:
        return replace(verdict, outcome=UNJUDGED, why=str(error))
    except McugenError as error:
        return replace(verdict, outcome=WRONG, why=f"the oracle: {error}")
    except Exception:
        return replace(verdict, outcome=TRACEBACK, why=traceback.format_exc())
    return replace(verdict, outcome=WRONG, why=why) if why else _Built(verdict, artifact, sets, oracle, drawn.exact)


def _build(path: Path, drawn: Drawn, verdict: Verdict) -> tuple[Artifact | None, Verdict]:
    """The build within the limit of processor time, or None and the verdict."""
    previous = signal.signal(signal.SIGPROF, _overtime)
    start = time.process_time()
    artifact, outcome, why = None, EQUAL, ""
    try:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        artifact = mcugen.compile(path, name=f"g{verdict.seed}", **drawn.choices)
    except _OvertimeError:
        outcome, why = SLOW, f"over {CPU_SECONDS:g} s"
    except (InternalError, ToolError) as error:
        outcome, why = TRACEBACK, error.explain()
    except McugenError as error:
        outcome, why = REFUSED, f"{type(error).__name__}: {error}"
    except Exception:
        outcome, why = TRACEBACK, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    return artifact, replace(verdict, outcome=outcome, why=why, seconds=time.process_time() - start)


def _of_c(built: Sequence[_Built], folder: Path) -> list[Verdict]:
    """The verdicts on the C of these models: one program, or one for each half where it does not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = [one.case() for one in built]
    try:
        binary = _program(program.Group("random", tuple(cases)), folder)
    except ToolError as error:
        if len(built) > 1:
            half = len(built) // 2
            return _of_c(built[:half], folder / "a") + _of_c(built[half:], folder / "b")
        why = "; ".join(d.what for d in conformance.compiler_complaints(error))
        return [replace(built[0].verdict, outcome=UNCOMPILED, why=why)]
    return [_run(binary, one, case, k) for k, (one, case) in enumerate(zip(built, cases, strict=True))]


def _program(group: program.Group, folder: Path) -> Path:
    """The program that runs the models. Raises ToolError."""
    sources = [*program.write_runtime(group.views, folder), program.write_group(group, folder)]
    sources += [program.write_table([group], folder), program.SUPPORT / "harness.c"]
    return compile_program(sources, folder / group.name, [folder, program.SUPPORT], _FLAGS, timeout_s=600)


def _run(binary: Path, one: _Built, case: Case, index: int) -> Verdict:
    """The verdict on a model of the program; floats that drift apart: by operator, as in `mcugen verify`."""
    problems = conformance.run_host(binary, [case], index)
    if not problems:
        return one.verdict
    if case.view.reference and not case.exact and _is_float(problems[0].what):
        checked = host.verify(one.artifact, [Inputs(f"set {k}", list(a)) for k, a in enumerate(one.sets)])
        if checked.agrees:
            return one.verdict
    return replace(one.verdict, outcome=WRONG, why=f"C: {problems[0].what}")


def _of_runs(one: _Built) -> Verdict:
    """The verdict on the C of a model with states: the sets are runs one after the other, in a program of its own."""
    first, *then = ([np.array(a, order="C") for a in arrays] for arrays in one.sets)
    try:
        checked = host.verify(one.artifact, [Inputs("runs", first, tuple(then))])
    except McugenError as error:
        return replace(one.verdict, outcome=UNCOMPILED, why=str(error))
    return one.verdict if checked.agrees else replace(one.verdict, outcome=WRONG, why=f"C: {checked}")


def _is_float(what: str) -> bool:
    """Whether a problem may be floats that drifted apart."""
    return " differ, first at " in what
