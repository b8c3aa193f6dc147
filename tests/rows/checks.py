# SPDX-License-Identifier: Apache-2.0
"""Builds random networks in every mode and compares their C with the oracle, their traces with a model of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import mcugen
from mcugen import kernels
from mcugen.emit import emit
from mcugen.errors import McugenError, ToolError, UsageError
from mcugen.ir.graph import Node
from mcugen.ir.kernel import Ring
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve import schedule
from mcugen.solve.plan import check, plan
from mcugen.solve.schedule import Choice
from mcugen.verify.cases import cases
from tests.rows import memory
from tests.rows.graphs import BOARDS, RandomGraph, board_of
from tests.rows.program import Arrays, Model, Wanted, Workshop, problem, wanted_of

MODES: dict[str, dict[str, Any]] = {
    "whole": {"no_rows": True},
    "ram": {"optimize": "ram"},
    "kept": {"optimize": "ram", "keep_input": True},
    "rows": {"input_mode": "rows"},
    "grouped": {"no_rows": True},
    "grouped_rows": {"input_mode": "rows"},
    "grouped_anew": {"no_rows": True},
}
"""Options of each mode; the grouped ones run all steps row by row, in random groups, also where it saves nothing, and
`grouped_anew` with kernels that keep no converted rows.
"""

RANDOM_SETS = 2
EXTREMES = ("all minimum", "alternating by element", "alternating by row")


@dataclass(frozen=True, eq=False)
class Built:
    """A network in one mode."""

    graph: RandomGraph
    mode: str
    artifact: Artifact

    def model(self) -> Model:
        a = self.artifact
        label = f"seed {self.graph.seed} ({self.graph.kind}) {self.mode}"
        return Model(
            label,
            a.view,
            dict(a.files),
            a.imported,
            a.graph,
            a.schedule.steps,
            a.schedule.buffers(),
            a.plan,
            a.schedule.trace,
        )


def built(graph: RandomGraph, mode: str, folder: Path) -> Built | None:
    """The network in one mode; None where rows cannot be pushed: an input of a single row."""
    path = folder / f"{graph.name}.tflite"
    path.write_bytes(graph.data)
    try:
        made = mcugen.compile(path, name=f"{graph.name}_{mode}", board=board_of(graph.seed), **MODES[mode])
    except UsageError:
        if not mode.endswith("rows"):
            raise
        return None
    if mode.startswith("grouped"):
        made = grouped(made, graph.seed, keeps=mode != "grouped_anew")
    return Built(graph, mode, made)


def grouped(made: Artifact, seed: int, *, keeps: bool) -> Artifact:
    """The network with every possible step in a group, regardless of savings: one group, or several random ones.

    keeps: whether kernels keep the rows that they convert.
    """
    choices = [_choice(made, node) for node in made.graph.nodes]
    if not keeps:
        choices = [replace(c, kernel=c.kernel.refilling) if isinstance(c.kernel.form, Ring) else c for c in choices]
    count, rng = len(made.schedule.steps), Random(seed)
    inner = [] if seed % 2 else sorted(rng.sample(range(1, count), min(2, count - 1)))
    cuts = [0, *inner, count]
    groups = [range(a, b) for a, b in pairwise(cuts)]
    order = schedule.build(made.graph, choices, groups, keep_input=False, pushed=made.schedule.pushed)
    buffers = order.buffers()
    memory_plan = plan(buffers)
    check(buffers, memory_plan)
    options = Options(reference=made.view.reference, input_mode="whole" if made.view.push is None else "rows")
    view, files = emit(order, memory_plan, made.imported, options, made.name)
    return replace(made, schedule=order, plan=memory_plan, view=view, files=files)


def _choice(made: Artifact, node: Node) -> Choice:
    """The kernel that the build chose, or for steps without code, the first that fits."""
    chosen = [step.choice for step in made.schedule.steps if step.choice.node is node]
    if chosen:
        return chosen[0]
    call = made.graph.call(node, made.view.reference)
    return Choice(node, call, next(k for k in kernels.of(node.op) if not k.refusals(call, made.target.features)), "")


def input_sets(artifact: Artifact) -> list[Arrays]:
    """Random inputs, and extremes that make borders and row order show."""
    found = list(cases(artifact.imported, RANDOM_SETS))
    return [case.inputs for case in found if case.name.startswith("random") or case.name in EXTREMES]


def sampled(seed: int) -> list[str]:
    """Every other mode, from the first on or from the second; each core sees all of them within twice the cores."""
    return list(MODES)[(seed + seed // len(BOARDS)) % 2 :: 2]


def every_mode(seed: int) -> list[str]:
    """No sample but all of them."""
    return list(MODES)


def failures(
    graphs: Sequence[RandomGraph], workshop: Workshop, folder: Path, modes: Callable[[int], list[str]] = every_mode
) -> list[str]:
    """The faults of these networks. modes: those of a seed."""
    found: list[str] = []
    models: list[Built] = []
    folder.mkdir(parents=True, exist_ok=True)
    for graph in graphs:
        for mode in modes(graph.seed):
            try:
                made = built(graph, mode, folder)
            except McugenError as error:
                found.append(f"seed {graph.seed} ({graph.kind}) {mode}: {error}")
                continue
            if made is not None:
                models.append(made)
                found += _faults(made)
    return found + _differences(models, workshop, folder)


def _faults(made: Built) -> list[str]:
    a = made.artifact
    return [f"{made.model().label}: {fault}" for fault in memory.faults(a.graph, a.schedule, a.plan)[:3]]


def _differences(models: Sequence[Built], workshop: Workshop, folder: Path) -> list[str]:
    compiled = [made.model() for made in models]
    found: list[str] = []
    try:
        program = workshop.program(compiled, folder)
    except ToolError as error:
        if len(models) > 1:  # which one it is
            return [what for k, made in enumerate(models) for what in _differences([made], workshop, folder / f"{k}")]
        return [f"{compiled[0].label}: {error.explain()}"]
    wanted: dict[tuple[int, str], list[Wanted]] = {}
    for k, (made, model) in enumerate(zip(models, compiled, strict=True)):
        sets = input_sets(made.artifact)
        key = made.graph.seed, made.artifact.view.reference
        if key not in wanted:
            wanted[key] = wanted_of(made.artifact.imported, sets, key[1])
        what = problem(program, k, model, sets, wanted[key])
        found += [f"{model.label}: {what}"] if what else []
    return found
