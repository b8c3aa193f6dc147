# SPDX-License-Identifier: Apache-2.0
"""Values kept from run to run: the same bits as the oracle's in every mode, on the host and on emulated cores."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import passes
from mcugen.builds import shared_arena
from mcugen.errors import InternalError, UsageError
from mcugen.ir.graph import Graph, State, verify
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from mcugen.pipeline import Artifact
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from mcugen.verify.comparison import Verdict
from tests.emit.built import WARNINGS, Built
from tests.states.graphs import (
    accumulator,
    averaged,
    both_read,
    built,
    delay_line,
    filtered,
    smoothed_windows,
    swapped,
    unit_delays,
)

Make = Callable[[str], Graph]
BY_ROWS = (averaged, smoothed_windows)


def checked(artifact: Artifact, count: int = 3) -> Verdict:
    return host.verify(artifact, islice(cases(artifact.imported, 1), count))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["s8", "s16", "f32"])
@pytest.mark.parametrize(
    "make", [accumulator, filtered, delay_line, averaged, unit_delays, swapped, both_read], ids=lambda f: f.__name__
)
def test_equal_to_the_oracle(make: Make, dtype: str) -> None:
    verdict = checked(built(make(dtype)))
    assert verdict.agrees, verdict.first_difference


@pytest.mark.parametrize("make", [accumulator, unit_delays], ids=lambda f: f.__name__)
def test_legacy_uint8_is_kept_as_int8(make: Make) -> None:
    graph = make("u8")
    artifact = built(graph.updated(outputs=(*graph.outputs, graph.states[0].before)))
    assert {artifact.graph.type(state.before).dtype for state in artifact.graph.states} <= {"s8", "u8"}
    assert checked(artifact).agrees


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "choices",
    [{"optimize": "ram"}, {"optimize": "ram", "keep_input": True}, {"input_mode": "rows"}, {"no_simplify": True}],
    ids=lambda c: " ".join(c),
)
@pytest.mark.parametrize("make", BY_ROWS, ids=lambda f: f.__name__)
def test_equal_by_rows(make: Make, choices: dict[str, Any]) -> None:
    """A kept input may leave nothing to gain by rows."""
    artifact = built(make("s8"), **choices)
    assert any(step.by_rows for step in artifact.schedule.steps) or choices.keys() & {"no_simplify", "keep_input"}
    verdict = checked(artifact)
    assert verdict.agrees, verdict.first_difference


@pytest.mark.parametrize("dtype", ["s8", "f32"])
def test_equal_by_frames(dtype: str) -> None:
    """The states change with each frame that completes a window, and not before."""
    artifact = built(smoothed_windows(dtype), input_mode="frames")
    assert artifact.schedule.streams
    assert checked(artifact).agrees


def test_frames_compute_whole_windows_where_rows_would_differ() -> None:
    kept = smoothed_windows("s8")
    rows = State("rows", "pooled", np.zeros((1, 5, 1, 4), np.int8))
    tensor = replace(kept.tensors["pooled"], name="rows")
    graph = kept.updated(states=[*kept.states, rows], tensors=[tensor], outputs=("next", "rows"))
    for net, why in (
        (averaged("s8"), "next combines each row with 'the old', which depends on the whole window"),
        (graph, "state 'the pooled' has 5 rows, but a frame computes only the newest"),
    ):
        artifact = built(net, input_mode="frames")
        assert artifact.schedule.rolls and any(why in note for note in artifact.report.notes)
        assert checked(artifact).agrees


def test_spread_over_regions() -> None:
    artifact = built(averaged("s8"), region="fast=256,slow=4K", no_rows=True)
    assert artifact.view.spread
    assert checked(artifact).agrees


@pytest.mark.parametrize("make", [accumulator, filtered, unit_delays, averaged], ids=lambda f: f.__name__)
def test_what_can_be_written_in_place_is(make: Make) -> None:
    assert built(make("s8")).schedule.moved_states == []


def test_rows_are_written_where_the_same_rows_were_read() -> None:
    artifact = built(averaged("s8"), optimize="ram")
    assert artifact.schedule.moved_states == []
    assert any(step.writes_rows and "next" in step.choice.node.outputs for step in artifact.schedule.steps)


@pytest.mark.parametrize("make", [both_read, swapped], ids=lambda f: f.__name__)
def test_what_is_still_read_is_copied_at_the_end(make: Make) -> None:
    artifact = built(make("s8"))
    assert len(artifact.schedule.moved_states) == 1
    assert [s.in_place for s in artifact.report.states].count(False) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("core", ["cortex-m4", "rv32imc"])
@pytest.mark.parametrize(("make", "dtype"), [(filtered, "s8"), (delay_line, "f32"), (averaged, "s8")])
def test_equal_on_emulated_cores(make: Make, dtype: str, core: str) -> None:
    choices: Mapping[str, Any] = {"optimize": "ram"} if make is averaged else {}
    artifact = built(make(dtype), board=core, **choices)
    found = emulated.simulate(artifact, list(islice(cases(artifact.imported, 1), 2)))
    assert found.agrees, found.verdict.first_difference
    assert found.repeatable
    assert found.verdict.cases == 2 * len(next(cases(artifact.imported, 1)).calls)


def test_frames_on_an_emulated_core() -> None:
    artifact = built(smoothed_windows("s8"), board="cortex-m0plus", input_mode="frames")
    found = emulated.simulate(artifact, list(islice(cases(artifact.imported, 1), 1)))
    assert found.agrees, found.verdict.first_difference
    assert found.repeatable


PLANTED = {
    "a state that is not handed on": (both_read, r"    memcpy\(&m->arena\[\d+\], &m->arena\[\d+\], 6\);\n", ""),
    "a state that is not reset": (accumulator, r"    begin_states\(m->arena\);\n", r"    (void)begin_states;\n"),
    "a garbage object that counts as reset": (accumulator, r"m->started != started_mark", r"m->started == 0u"),
    "an initial value of zero": (filtered, r"memcpy\((&a\[\d+\]), net_k\d+, 5\)", r"memset(\1, 0, 5)"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    make, sound, broken = PLANTED[fault]
    artifact = built(make("s8"))
    text, count = re.subn(sound, broken, artifact.files["net.c"].decode())
    assert count == 1
    assert not checked(replace(artifact, files={**artifact.files, "net.c": text.encode()})).agrees


DRIVER = """#include <stdio.h>
#include "net.h"
static net_t cleared, other;
static int8_t x[NET_INPUT_LEN];
static void step(net_t *m)
{
    memcpy(net_input(m), x, sizeof x);
    net_run(m);
    fwrite(net_output(m), 1, NET_OUTPUT_SIZE, stdout);
}
int main(void)
{
    net_reset(&other);
    while (fread(x, sizeof x, 1, stdin) == 1) {
        step(&cleared);
        step(&other);
        step(&other);
    }
    net_reset(&cleared);
    step(&cleared);
    return 0;
}
"""


@pytest.mark.parametrize("amalgamate", [False, True])
def test_objects_are_independent(tmp_path: Path, amalgamate: bool) -> None:
    """One that was only cleared, and one that runs twice as often; a reset touches its own object alone."""
    graph = filtered("s8")
    artifact = built(graph, amalgamate=amalgamate)
    artifact.write(tmp_path / "net")
    program = Built(tmp_path / "net", artifact).program(["-std=c99", "-O2", *WARNINGS], DRIVER)
    inputs = [draw(graph, seed) for seed in range(4)]
    got = run_checked([program], stdin=b"".join(x.tobytes() for (x,) in inputs)).stdout
    single = [v["next"] for v in interpreter.runs(graph, inputs, "tflm")]
    double = [v["next"] for v in interpreter.runs(graph, [x for x in inputs for _ in range(2)], "tflm")]
    again = interpreter.run(graph, inputs[-1], "tflm")["next"]
    wanted = [y for k in range(4) for y in (single[k], double[2 * k], double[2 * k + 1])] + [again]
    assert got == b"".join(y.tobytes() for y in wanted)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("choices", [{}, {"input_mode": "rows"}, {"input_mode": "frames"}], ids=str)
def test_the_selftest_runs_a_sequence(tmp_path: Path, choices: dict[str, Any]) -> None:
    artifact = built(smoothed_windows("s8"), selftest=True, **choices)
    artifact.write(tmp_path / "net")
    made = Built(tmp_path / "net", artifact)
    call = 'int main(void) { static net_t m; printf("%d", net_selftest(&m)); return 0; }\n'
    driver = f'#include <stdio.h>\n#include "net.h"\n{call}'
    right = run_checked([made.program(["-std=c99", *WARNINGS], driver)]).stdout
    source = tmp_path / "net" / "net_selftest.c"
    text = source.read_text()
    values = text[text.index("selftest_out0[12] = {") :].split("\n")[1]
    last = values.rstrip(",").split(", ")[-1]
    source.write_text(text.replace(values, values.removesuffix(f"{last},") + f"{int(last) ^ 1},"))
    wrong = run_checked([made.program(["-std=c99", *WARNINGS], driver)]).stdout
    assert (right, wrong) == (b"0", b"12"), "the last element of the last run differs"


def test_a_shared_arena_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_arena.pipeline, "build", lambda path, options: built(accumulator("s8"), path.stem))
    with pytest.raises(UsageError, match="a keeps states from run to run \\('the total'\\)"):
        shared_arena.build([Path("a.tflite"), Path("b.tflite")], Options())


def test_passes_keep_the_meaning() -> None:
    for make in (accumulator, filtered, delay_line, averaged, unit_delays, swapped, both_read):
        before = make("s8")
        after = passes.run(before, "tflm")
        assert after.states
        inputs = [draw(before, seed) for seed in range(5)]
        pairs = zip(interpreter.runs(before, inputs, "tflm"), interpreter.runs(after, inputs, "tflm"), strict=True)
        for wanted, got in pairs:
            for old, new in zip(before.outputs, after.outputs, strict=True):
                np.testing.assert_array_equal(wanted[old], got[new])


def test_bounds_hold_after_any_number_of_runs() -> None:
    """A sum over time reaches the ends of its type; a filter stays within what its input and its start make of it."""
    total = passes.run(accumulator("s8"), "tflm").tensors["total"]
    assert total.range is not None
    assert total.range.hull == (-128, 127)
    graph = passes.run(filtered("s8"), "tflm")
    bounds = graph.tensors["y"].range
    assert bounds is not None
    low, high = draw(graph, 0), draw(graph, 0)
    low[0][:], high[0][:] = -128, 127
    for inputs in (low, high):
        for values in interpreter.runs(graph, [inputs] * 50, "tflm"):
            assert (values["next"] >= bounds.low).all()
            assert (values["next"] <= bounds.high).all()


def test_a_state_that_nothing_reads_goes() -> None:
    """The steps that only it needs go with it; a state that another one needs stays."""
    graph = accumulator("s8")
    read = graph.updated(outputs=("x",))
    assert passes.run(read, "tflm").states == ()
    assert len(passes.run(unit_delays("s8"), "tflm").states) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": "sum"}, "writes 'sum', which is unknown or already written"),
        ({"after": "nowhere"}, "never written"),
        ({"after": "x"}, "becomes"),
        ({"initial": np.zeros((1, 5), np.int16)}, "the initial value of state"),
        ({"before": "x"}, "name an input or a state twice"),
    ],
)
def test_an_ill_formed_state_is_refused(change: dict[str, Any], message: str) -> None:
    graph = accumulator("s8")
    with pytest.raises(InternalError, match=message):
        verify(replace(graph, states=(*graph.states[: "before" in change], replace(graph.states[0], **change))), "test")


def test_a_dump_names_states() -> None:
    text = accumulator("s8").dump()
    assert "  state  total: s8 [1, 5] (scale 0.2 zero point -7) = -7\n" in text
    assert "  total of the next run is sum\n" in text
