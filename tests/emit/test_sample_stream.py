# SPDX-License-Identifier: Apache-2.0
"""A stream of samples: the same decisions in pieces of any length, on the host and on emulated cores."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.builds import shared_arena
from mcugen.errors import UsageError
from mcugen.formats.chain import joined, renamed
from mcugen.ir import streams
from mcugen.ir.graph import Graph
from mcugen.machines.native.model import Model
from mcugen.options import Options, samples_of
from mcugen.oracle.streaming import pushes
from mcugen.pipeline import Artifact
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.emit.built import WARNINGS, Built
from tests.formats.test_chain import write_layer
from tests.states.graphs import averaged, both_read, built, smoothed_windows, unit_delays

WINDOWS = joined(renamed(smoothed_windows("s8"), "f_"), smoothed_windows("s8"))
"""28 samples make a row of 4, and 7 rows an input of the network. Both have states."""
ROWS = joined(renamed(unit_delays("s8", 3, 5), "f_"), unit_delays("s8", 2, 15))
"""5 samples make a row of 5; 3 rows make an input."""


def of_stream(graph: Graph, hop: int, stride: int | None = None, **choices: object) -> Artifact:
    graph = streams.streamed(graph, hop, stride, 16_000, int(str(choices.get("queue") or 0)))
    return built(graph, input_mode="samples", hop=str(hop), stride=str(stride or ""), **choices)


@pytest.mark.parametrize(
    ("graph", "hop", "stride", "optimize"),
    [
        (WINDOWS, 9, None, "ram"),
        (WINDOWS, 28, 2, "balanced"),
        (ROWS, 5, None, "speed"),
        (ROWS, 2, 4, "balanced"),
        (smoothed_windows("s8"), 3, None, "speed"),
        (averaged("s8"), 100, None, "ram"),
        (both_read("f32"), 6, 1, "balanced"),
    ],
)
def test_every_tensor_equals_the_oracle_s(graph: Graph, hop: int, stride: int | None, optimize: str) -> None:
    artifact = of_stream(graph, hop, stride, optimize=optimize)
    assert host.verify(artifact, list(cases(artifact.imported, 2))[:5]).agrees


def test_a_window_of_more_than_16_384_samples(tmp_path: Path) -> None:
    model = write_layer(tmp_path / "net.tflite", (1, 17_000), 1)
    artifact = mcugen.compile(model, input_mode="samples", hop="17000")
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:1]).agrees


def test_only_samples_of_the_next_window_stay_live() -> None:
    """Other samples are free once the front end has read them, for the larger tensors behind it."""
    made = of_stream(WINDOWS, 9).schedule
    (window,) = (buffer for buffer in made.buffers() if buffer.name == made.buffer_name[made.graph.inputs[0]])
    always = [piece for piece in window.pieces if (piece.first, piece.last) == (0, len(made.trace) - 1)]
    assert sum(piece.nbytes for piece in always) == 28 - 9
    assert all(piece.last < made.window_events for piece in window.pieces if piece not in always)
    assert made.window_events < made.hop_events
    assert "Of the input, the first 19 always are." in of_stream(WINDOWS, 9).files["net.c"].decode()


def test_a_network_with_states_takes_each_row_once() -> None:
    for graph, stride in ((WINDOWS, 7), (ROWS, 3)):
        stream = streams.streamed(graph, 5, None, 16_000).stream
        assert stream is not None and stream.stride == stride


def decisions(model: Model, samples: np.ndarray, piece: int) -> list[tuple[int, bytes]]:
    """The number of decisions after each piece that brought any, and the newest output."""
    count, found = 0, []
    for at in range(0, samples.size, piece):
        new, outputs = model.push_samples(samples[at : at + piece], real=False)
        count += new
        if new:
            found.append((count, np.asarray(outputs).tobytes()))
    return found


@pytest.mark.parametrize(("graph", "hop"), [(WINDOWS, 9), (ROWS, 5)])
def test_pieces_of_any_length_give_the_same_decisions(graph: Graph, hop: int) -> None:
    artifact = of_stream(graph, hop)
    samples = np.random.default_rng(hop).integers(-128, 127, 3000, np.int8, endpoint=True)
    known: dict[int, bytes] = {}
    for push in pushes(artifact.imported, np.split(samples, samples.size), "tflm"):
        if push.decisions:
            known[len(known) + 1] = push.values[artifact.imported.outputs[0]].tobytes()
    model = artifact.load()
    for piece in (1, 7, 160, 16_000):
        model.reset()
        found = decisions(model, samples, piece)
        assert found and found[-1][0] == len(known)
        assert all(known[count] == output for count, output in found)
    assert decisions(artifact.load(), samples, 1) == sorted(known.items())  # zeroed, and never reset


@pytest.mark.sampled(2)
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m0plus", "rv32imc"])
@pytest.mark.parametrize(("graph", "hop"), [(WINDOWS, 9), (ROWS, 5)])
def test_equal_on_emulated_cores(graph: Graph, hop: int, core: str) -> None:
    artifact = of_stream(graph, hop, board=core)
    found = emulated.simulate(artifact, list(islice(cases(artifact.imported, 1), 2)))
    assert found.agrees and found.repeatable
    assert any("instructions per second of samples" in note for note in found.notes)


def test_samples_pushed_during_a_push_are_counted_as_lost(tmp_path: Path) -> None:
    """The build counts them; an interrupt is played by the flag that a push sets."""
    artifact = of_stream(ROWS, 5)
    artifact.write(tmp_path)
    assert "volatile uint32_t filled, due, lost, busy, started;" in artifact.files["net.h"].decode()
    program = Built(tmp_path, artifact).program(
        WARNINGS,
        """
#include "net.h"
static net_t m;
int main(void)
{
    static const int8_t x[40] = {1};
    net_reset(&m);
    if (net_push(&m, x, 14u) != 0u || net_push(&m, x, 1u) != 1u || net_lost(&m) != 0u) {
        return 1;
    }
    m.busy = 1u;
    if (net_push(&m, x, 40u) != 0u || net_lost(&m) != 40u) {
        return 2;
    }
    m.busy = 0u;
    if (net_push(&m, x, 15u) != 1u || net_push(&m, x, 30u) != 2u || net_lost(&m) != 40u) {
        return 3;
    }
    net_reset(&m);
    return net_lost(&m) == 0u && net_push(&m, x, 0u) == 0u
        && NET_WINDOW == 5 && NET_HOP == 5 && NET_STRIDE == 3 ? 0 : 4;
}
""",
    )
    assert _run(program) == 0


def _run(program: Path) -> int:
    return subprocess.run([program], check=False).returncode


def test_the_self_test_goes_from_samples_to_a_decision(tmp_path: Path) -> None:
    artifact = of_stream(WINDOWS, 9, selftest=True)
    artifact.write(tmp_path)
    assert _run(Built(tmp_path, artifact).program(driver=(tmp_path / "examples/main.c").read_text())) == 0


@pytest.mark.parametrize(
    ("choices", "fault"),
    [
        ({"hop": "8"}, "--hop is for --input-mode samples"),
        ({"input_mode": "samples", "hop": "0.01ms"}, "not a number of samples"),
        ({"input_mode": "samples", "stride": "0"}, "not a number of windows"),
        ({"input_mode": "samples", "rate": "fast"}, "--rate 'fast' is not a frequency"),
    ],
)
def test_options_that_cannot_be(choices: dict[str, str], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        Options(**choices)  # type: ignore[arg-type]


def test_hops_as_times() -> None:
    assert [samples_of(text, 16_000) for text in ("160", "10ms", "0.5s")] == [160, 160, 8000]
    assert [samples_of(f"{1000 + k}ms", 44_100) for k in (10, 70)] == [44_541, 47_187]
    assert [samples_of(f"{k / 1000}s", 8000) for k in range(1, 2100)] == [*range(8, 16_800, 8)]


@pytest.mark.parametrize(
    ("hop", "stride", "fault"),
    [(None, None, "--hop is missing: a window has 28"), (29, None, "skips"), (9, 2, "the model does not collect rows")],
)
def test_streams_that_cannot_be(hop: int | None, stride: int | None, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        streams.streamed(smoothed_windows("s8"), hop, stride, 16_000)


def test_what_a_stream_cannot_do(tmp_path: Path) -> None:
    front = write_layer(tmp_path / "front.tflite", (1, 16), 4)
    net = str(write_layer(tmp_path / "net.tflite", (1, 3, 4), 2))
    options = Options(input_mode="samples", hop="8")
    calls: Sequence[tuple[partial[object], str]] = (
        (partial(shared_arena.build, [front, Path(net)], options), "keeps samples from push to push"),
        (partial(mcugen.load(front).push_samples, np.zeros(16)), 'input_mode="samples"'),
    )
    for call, fault in calls:
        with pytest.raises(UsageError) as error:
            call()
        assert fault in error.value.explain()


def test_the_report_says_which_steps_run_when(tmp_path: Path) -> None:
    front = write_layer(tmp_path / "front.tflite", (1, 16), 4)
    net = str(write_layer(tmp_path / "net.tflite", (1, 3, 4), 2))
    artifact = mcugen.compile(
        front,
        chain=(net,),
        decide="topk=1",
        input_mode="samples",
        hop="8",
        stride="2",
        board="nucleo-l4r5zi",
        weights_in="none",
    )
    notes, stream = "\n".join(artifact.report.notes), artifact.report.stream
    assert "a window of 16 samples begins every 8; the first decision needs 32" in notes
    assert "front end, steps 0-1, runs 2000 times a second: " in notes and "network, step 2, runs 1000 times" in notes
    assert "of the clock" in notes and "a push that completes one window takes" in notes
    assert stream is not None
    firsts = {part.name: part.first_step for part in stream.parts}
    assert firsts == {"front end": 0, "network": 2, "decision": 3}
    front_end, network, decision = (part.cycles for part in stream.parts)
    assert front_end and network and decision and artifact.report.cycles and stream.push
    assert artifact.report.cycles.low == 2 * front_end.low + network.low + decision.low
    assert (stream.push.low, stream.push.high) == (front_end.low, front_end.high + network.high + decision.high)
    assert artifact.report.command.endswith("--input-mode samples --weights-in none --decide topk=1 --hop 8 --stride 2")
