# SPDX-License-Identifier: Apache-2.0
"""Networks with states: sequences as samples, states of 16 bits from frame to frame, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.formats import read, registry
from mcugen.quantize import frame_sequences, quantize_model
from mcugen.quantize.quantization_report import as_parts
from mcugen.quantize.stored_integers import to_real, to_steps
from tests.formats.onnx_models import Writer
from tests.quantize.stream_models import BANDS, renamed, stream


def saved(path: Path, count: int, frames: int, **more: np.ndarray) -> Path:
    x = np.random.default_rng(count).normal(size=(count, frames, BANDS)).astype(np.float32)
    np.savez(path, x=x, **more)
    return path


def quantized(folder: Path, kind: str, test: Path | None = None) -> quantize_model.Quantized:
    pairs = ("r0=s0", "r1=s1")[: 1 if kind == "GRU" else 2]
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", states=pairs)
    return quantize_model.quantize(stream(folder, kind), saved(folder / "c.npz", 8, 30), choices, test=test)


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_states_are_one_tensor_of_16_bits(tmp_path: Path, kind: str) -> None:
    test = saved(tmp_path / "t.npz", 3, 200, y=np.zeros((3, 200, BANDS), np.float32))
    found = quantized(tmp_path, kind, test)
    graph, score = found.graph, found.score
    pairs = list(zip(graph.inputs[1:], graph.outputs[1:], strict=True))
    assert [graph.type(a) for a, _ in pairs] == [graph.type(b) for _, b in pairs]
    assert {graph.type(name).dtype for pair in pairs for name in pair} == {"s16"}
    assert found.samples == 8 * 30
    assert score is not None and score.over_time is not None
    assert score.over_time.frames == 200 and len(score.over_time.tenths) == 10
    assert score.sqnr > 30 and score.over_time.worst > 28 and min(score.over_time.tenths) > 28
    assert [c.title for c in score.compared] == [
        "error per frame", "error of the worst sequence", "error by tenths of time",
    ]  # fmt: skip
    worst = score.compared[1]
    assert worst.before == pytest.approx(worst.after, rel=0.1)
    lines = [part for part in as_parts(found, "f", 1) if isinstance(part, str)]
    assert any("3 sequences of 200 frames" in line for line in lines)


def test_a_written_stream_runs_on_from_frame_to_frame(tmp_path: Path) -> None:
    found = quantized(tmp_path, "GRU")
    (tmp_path / "written.onnx").write_bytes(found.written("onnx"))
    again = read.load(tmp_path / "written.onnx", registry.load(()))
    states = frame_sequences.states_of(again, ["r0=s0"])
    x = np.random.default_rng(9).normal(size=(2, 300, *found.graph.type(found.graph.inputs[0]).shape))
    steps = to_steps(x.astype(np.float32), found.graph.type(found.graph.inputs[0]))
    runs = [frame_sequences.run(graph, "ort", states, [steps]).outputs for graph in (found.graph, again)]
    assert np.array_equal(runs[0][1], runs[1][1])
    floats = frame_sequences.run(found.floats.graph, "ort", states, [x.astype(np.float32)]).outputs[1]
    real = to_real(runs[0][1], found.graph.type(found.graph.outputs[1]))
    assert np.abs(real[-30:] - floats[-30:]).max() < 0.06


def test_a_running_mean_keeps_16_bits(tmp_path: Path) -> None:
    """s + (x - s) / 16, read by a dense layer: in bytes, small changes would round to nothing."""
    model, rng = Writer(17), np.random.default_rng(4)
    x, before = model.input((1, 4)), model.input((1, 4))
    share = model.constant(np.full((1, 4), 1 / 16, np.float32))
    mean = model.node("Add", [before, model.node("Mul", [model.node("Sub", [x, before]), share])])
    dense = model.node("MatMul", [mean, model.constant(rng.normal(0, 1, (4, 3)).astype(np.float32))])
    made = model.model(dense, mean)
    names = dict(zip([x, before, *(o.name for o in made.graph.output)], ("x", "s", "y", "r"), strict=True))
    path = renamed(made, names, tmp_path / "mean.onnx")
    level = rng.normal(0, 1, (6, 1, 4))
    data = {name: rng.normal(level[:n], 0.2, (n, 300, 4)).astype(np.float32) for name, n in (("c", 6), ("t", 3))}
    for name, values in data.items():
        np.savez(tmp_path / f"{name}.npz", x=values)
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", states=("r=s",))
    found = quantize_model.quantize(path, tmp_path / "c.npz", choices, test=tmp_path / "t.npz")
    types = found.graph.type(found.graph.inputs[1]), found.graph.type(found.graph.outputs[1])
    assert types[0] == types[1] and types[0].dtype == "s16"
    assert found.score is not None and found.score.over_time is not None
    assert found.score.over_time.tenths[-1] > 30


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["r0"], "'r0' names '', which is no input"),
        (["r9=s0"], "'r9=s0' names 'r9', which is no output of the network"),
        (["r0=t0"], "'r0=t0' names 't0', which is no input of the network"),
        (["y=s0"], r"'y' is f32 \[1, 1, 4\], but 's0' is f32 \[1, 1, 12\]"),
        (["r0=s0", "r0=s0"], "names an output or an input twice"),
    ],
)
def test_states_that_are_none_are_refused(tmp_path: Path, texts: list[str], reason: str) -> None:
    graph = read.load(stream(tmp_path, "GRU"), registry.load(()))
    with pytest.raises(UsageError, match=reason):
        frame_sequences.states_of(graph, texts)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"x": np.zeros((3, 7, BANDS))}, "its sequences have 7 frames"),
        ({"x": np.zeros(30)}, r"x has the shape \[30\]"),
        ({"x": np.zeros((3, 20, BANDS + 1))}, "expected samples of shape"),
    ],
)
def test_samples_that_are_no_sequences_are_refused(tmp_path: Path, data: dict[str, np.ndarray], reason: str) -> None:
    graph = read.load(stream(tmp_path, "GRU"), registry.load(()))
    np.savez(tmp_path / "bad.npz", **{name: a.astype(np.float32) for name, a in data.items()})
    with pytest.raises(UsageError, match=reason):
        frame_sequences.load(tmp_path / "bad.npz", graph, frame_sequences.states_of(graph, ["r0=s0"]))


@pytest.mark.parametrize(
    ("factor", "reason"), [(1.0, "the state 'r' grows without bound"), (1e9, "the state 'r' is infinite or NaN after")]
)
def test_states_without_bound_are_named(tmp_path: Path, factor: float, reason: str) -> None:
    """A sum of all frames, and a state that multiplies itself."""
    model = Writer(17)
    x, before = model.input((1, 4)), model.input((1, 4))
    by = model.node("Mul", [before, model.constant(np.full((1, 4), factor, np.float32))])
    made = model.model(model.node("Relu", [x]), model.node("Add", [by, x]))
    names = dict(zip([x, before, *(o.name for o in made.graph.output)], ("x", "s", "y", "r"), strict=True))
    path = renamed(made, names, tmp_path / "sum.onnx")
    np.savez(tmp_path / "c.npz", x=np.full((4, 100, 4), 9, np.float32) + np.arange(4, dtype=np.float32)[:, None, None])
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", states=("r=s",))
    with pytest.raises(UsageError, match=reason):
        quantize_model.quantize(path, tmp_path / "c.npz", choices)
