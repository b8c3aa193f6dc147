"""Asks the runtime whose bits are claimed itself, where it is installed, and compares the oracle with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen import reference
from mcugen.errors import ToolError, UsageError
from mcugen.graph import Graph, Tensor
from mcugen.layouts import in_file
from mcugen.options import RUNTIMES
from mcugen.reference.inputs import Case
from mcugen.toolchain.runtimes import PACKAGES, Answer, Runtime
from mcugen.verify.compare import Comparison, Verdict
from mcugen.verify.rebased import is_needed

SAME = "reference"
_INDEX = re.compile(r"t(\d+)")


@dataclass(frozen=True)
class Asked:
    """The oracle against the runtime: version of the runtime, verdict, and the inputs on which the runtime stopped."""

    version: str
    verdict: Verdict
    stopped: tuple[str, ...]


def check(model: Path, graph: Graph, which: str, wanted: str, cases: Sequence[Case]) -> Asked:
    """Compare every tensor that operators of the file compute. wanted: the runtime to ask, or SAME for `which`.

    Raises UsageError where the bits are another runtime's, ToolError where it is not installed or refuses the model.
    """
    if wanted not in (SAME, which):
        raise UsageError(f"the bits are those of {RUNTIMES[which]}", where="--runtime", hint=f"--reference {wanted}")
    if which not in PACKAGES:
        raise UsageError(f"{RUNTIMES[which]} cannot be asked", where="--runtime", hint="leave the option out")
    names = {name: int(found[1]) for node in graph.nodes for name in node.outputs if (found := _INDEX.fullmatch(name))}
    plain = {n: Tensor(n, graph.type(n), label=graph.tensors[n].label) for n in names}
    comparison = Comparison(Graph(graph.name, plain, (), (), ()), graph)
    stopped = []
    with Runtime(which) as runtime:
        for case in cases:
            answer = runtime.run(model.read_bytes(), [in_file(graph, graph.inputs, case.inputs)], tuple(names.values()))
            if answer.refused:
                stopped.append(_note_stop(case, answer, which))
                continue
            given = {n: answer.tensors[0][k].reshape(graph.type(n).shape) for n, k in names.items()}
            values = reference.run(graph, case.inputs, which, seen=given if is_needed(graph) else {})
            comparison.begin_case(case.name, values)
            for name, expected in given.items():
                place = f"{case.name} (oracle against {which})"
                comparison.tensor(place, -1, name, values[name], {**values, name: expected})
        version = runtime.version
    if len(stopped) == len(cases):
        raise ToolError(f"stopped on every input: {stopped[0]}", where=RUNTIMES[which])
    return Asked(version, comparison.verdict(), tuple(stopped))


def _note_stop(case: Case, answer: Answer, which: str) -> str:
    """The name of an input on which the runtime ends its process. Raises ToolError where it refuses the model."""
    if not answer.crashed:
        raise ToolError(f"refuses the model: {answer.refused}", where=RUNTIMES[which])
    return f"{case.name}: {answer.refused}"
