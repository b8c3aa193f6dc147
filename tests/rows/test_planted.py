# SPDX-License-Identifier: Apache-2.0
"""Faults planted in order and memory: the poisoned arena and the model of memory both find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcugen.emit import emit
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve.schedule import INPUT, Schedule
from tests.rows import checks, memory
from tests.rows.graphs import random_graph
from tests.rows.program import Model, Workshop, problem, wanted_of

PLACES = ((16, "grouped_rows"), (13, "grouped"))
Planted = Iterator[tuple[str, Model, list[str]]]


def rebuilt(made: Artifact, schedule: Schedule, offset: dict[str, int], name: str) -> tuple[Model, list[str]]:
    """The C of a changed schedule or plan, held to what the sound one allows; and what the model of memory says."""
    plan = replace(made.plan, offset=offset, nbytes=made.plan.nbytes + 64)
    options = Options(reference=made.view.reference, input_mode="whole" if made.view.push is None else "rows")
    view, files = emit(schedule, plan, made.imported, options, name)
    sound = checks.Built(random_graph(0), name, made).model()
    arena = replace(made.plan, nbytes=plan.nbytes)
    return replace(sound, view=view, files=files, plan=arena), memory.faults(made.graph, schedule, plan)


def shifted(made: Artifact, name: str) -> Planted:
    """Every buffer of some size a few bytes further."""
    for k, buffer in enumerate(made.schedule.buffers()):
        if buffer.nbytes >= 16:
            offset = dict(made.plan.offset)
            offset[buffer.name] += buffer.align
            yield (f"{buffer.name} shifted", *rebuilt(made, made.schedule, offset, f"{name}_s{k}"))


def shrunk(made: Artifact, name: str) -> Planted:
    """Every ring of more than one row a row shorter."""
    for k, (key, buffer) in enumerate(made.schedule.row_buffers.items()):
        if 1 < buffer.kept < buffer.rows:
            buffers = made.schedule.row_buffers | {key: replace(buffer, kept=buffer.kept - 1)}
            schedule = replace(made.schedule, row_buffers=buffers)
            yield (f"ring of {key} shrunk", *rebuilt(made, schedule, dict(made.plan.offset), f"{name}_r{k}"))


def swapped(made: Artifact, name: str) -> Planted:
    """An event before one that it needs: it changes places with the next, which reads what it writes."""
    trace, steps = made.schedule.trace, made.schedule.steps
    for t in range(len(trace) - 1):
        a, b = trace[t : t + 2]
        if INPUT in (a.step, b.step) or a.step == b.step:
            continue
        first, last = steps[a.step].writes(a.event)
        read = [x for x in steps[b.step].reads(b.event) if x.tensor in steps[a.step].choice.node.outputs]
        if any(x.first <= last and first <= x.last for x in read):
            order = (*trace[:t], b, a, *trace[t + 2 :])
            schedule = replace(made.schedule, trace=order)
            model, faults = rebuilt(made, schedule, dict(made.plan.offset), f"{name}_w{t}")
            yield f"events {t} and {t + 1} swapped", replace(model, trace=order), faults


def planted(kind: Callable[[Artifact, str], Planted], made: checks.Built, most: int) -> Planted:
    found = list(kind(made.artifact, f"p{made.graph.seed}_{made.mode}"))
    yield from found[:: max(1, len(found) // most)][:most]


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("kernels"))


@pytest.mark.whole
@pytest.mark.parametrize("kind", [shifted, shrunk, swapped], ids=lambda kind: kind.__name__)
def test_planted_faults_are_found(kind: Callable[[Artifact, str], Planted], workshop: Workshop, tmp_path: Path) -> None:
    """The C crashes, strays or computes another result, and the model of memory names the row."""
    found: list[tuple[str, str, list[str]]] = []
    for seed, mode in PLACES:
        made = checks.built(random_graph(seed), mode, tmp_path)
        assert made is not None
        faulty = list(planted(kind, made, most=4))
        program = workshop.program([model for _, model, _ in faulty], tmp_path / str(seed))
        sets = checks.input_sets(made.artifact)
        wanted = wanted_of(made.artifact.imported, sets, made.artifact.view.reference)
        for k, (what, model, faults) in enumerate(faulty):
            found.append((what, problem(program, k, model, sets, wanted), faults))
    assert [what for what, seen, faults in found if faults and not seen] == []
    harmful = [what for what, seen, _ in found if seen]
    assert len(harmful) >= 4
    if kind is not shifted:  # a buffer may move a little and still disturb nobody
        assert [what for what, _, faults in found if not faults] == []
