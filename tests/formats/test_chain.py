"""Chains of models: the outputs of the first are the inputs of the next, or the error states how the two differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mcugen
from mcugen.cli import cli
from mcugen.emit.command import command_of, options_of
from mcugen.errors import ShapeError, UsageError
from mcugen.formats import read, registry
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from mcugen.verify import host
from mcugen.verify.cases import cases
from mcugen.verify.witnesses import Ask, hear
from tests.support.tflite_writer import ModelWriter

SCALE, ZERO = 0.05, -3


def write_layer(path: Path, shape: tuple[int, ...], units: int, dtype: str = "s8", scale: float = SCALE) -> Path:
    """A fully connected layer on an input of this shape, with `units` results of scale SCALE."""
    m, rng, size = ModelWriter(), np.random.default_rng(units), int(np.prod(shape))
    x = m.tensor(f"into {path.stem}", shape, dtype, scale=scale, zero_point=ZERO if dtype == "s8" else 0)
    w = m.tensor("w", (units, size), "s8", scale=0.01, data=rng.integers(-127, 127, (units, size)))
    flat = m.tensor("flat", (1, size), dtype, scale=scale, zero_point=ZERO if dtype == "s8" else 0)
    m.op("RESHAPE", [x], [flat], {"new_shape": (1, size)})
    y = m.tensor(f"out of {path.stem}", (1, units), dtype, scale=SCALE, zero_point=ZERO if dtype == "s8" else 0)
    m.op("FULLY_CONNECTED", [flat, w, -1], [y], {})
    path.write_bytes(m.build([x], [y]))
    return path


@pytest.fixture
def front(tmp_path: Path) -> Path:
    return write_layer(tmp_path / "front.tflite", (1, 16), 4)


@pytest.mark.parametrize("shape", [(1, 4), (1, 3, 4), (1, 12), (1, 3, 4, 1)], ids=str)
def test_the_next_model_reads_the_newest_rows(front: Path, tmp_path: Path, shape: tuple[int, ...]) -> None:
    net = write_layer(tmp_path / "net.tflite", shape, 2)
    artifact = mcugen.compile(front, chain=(str(net),))
    assert artifact.name == "net"
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:3]).exact
    ops = registry.load(())
    first, second = read.load(front, ops), read.load(net, ops)
    calls = [draw(first, seed) for seed in range(5)]
    rows = np.full(shape, ZERO, np.int8).reshape(-1)
    for call, got in zip(calls, interpreter.runs(artifact.imported, calls, "tflm"), strict=True):
        row = interpreter.run(first, call, "tflm")[first.outputs[0]].reshape(-1)
        rows = np.concatenate([rows, row])[-rows.size :]
        want = interpreter.run(second, [rows.reshape(shape)], "tflm")[second.outputs[0]]
        assert np.array_equal(got[artifact.imported.outputs[0]], want)


@pytest.mark.parametrize(
    ("shape", "dtype", "scale", "fault"),
    [
        ((1, 3, 4), "s16", SCALE, "the element types differ"),
        ((1, 4, 3), "s8", SCALE, r"4 elements are no row of \[1, 4, 3\]"),
        ((1, 3), "s8", SCALE, r"4 elements are no row of \[1, 3\]"),
        ((1, 3, 4), "s8", 2 * SCALE, "the scales or zero points differ"),
    ],
)
def test_an_error_says_how_two_tensors_differ(
    front: Path, tmp_path: Path, shape: tuple[int, ...], dtype: str, scale: float, fault: str
) -> None:
    net = write_layer(tmp_path / "net.tflite", shape, 2, dtype, scale)
    with pytest.raises(ShapeError, match=f"'out of front', s8.*'into net', {dtype}.*{fault}"):
        mcugen.compile(front, chain=(str(net),))


def test_a_chain_needs_one_output_for_one_input(front: Path, tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 4), "s8", scale=SCALE, zero_point=ZERO) for name in "xy")
    z = m.tensor("z", (1, 4), "s8", scale=SCALE, zero_point=ZERO)
    m.op("ADD", [x, y], [z], {})
    both = tmp_path / "both.tflite"
    both.write_bytes(m.build([x, y], [z]))
    with pytest.raises(UsageError, match="both has 2 inputs"):
        mcugen.compile(front, chain=(str(both),))


def test_options_of_one_file_contradict_a_chain(front: Path) -> None:
    for choice in ({"signature": "a"}, {"input_shape": ("1,2",)}, {"quantize": "x.npz"}, {"export": ("tflm",)}):
        with pytest.raises(UsageError, match="contradicts --chain"):
            Options(chain=(str(front),), **choice)  # type: ignore[arg-type]


def test_command_line(front: Path, tmp_path: Path) -> None:
    net = write_layer(tmp_path / "net.tflite", (1, 3, 4), 2)
    out = tmp_path / "out"
    run, models = CliRunner().invoke, [str(front), str(net)]
    assert run(cli, ["build", *models, "--chain", "-o", str(out), "--json"]).exit_code == 0
    command = "mcugen build MODEL.tflite MODEL.tflite --chain"
    assert command in (out / "net.c").read_text()
    shown = run(cli, ["inspect", *models, "--chain", "--json"])
    assert shown.exit_code == 0 and "into front" in shown.output
    for arguments, fault in (
        (["build", models[0], "--chain", "-o", str(tmp_path / "a")], "two models or more"),
        (["inspect", *models], "make one of them with --chain"),
        (["build", *models, "--chain", "--share-arena", "-o", str(tmp_path / "b")], "--share-arena contradicts"),
    ):
        error = run(cli, arguments).exception
        assert isinstance(error, UsageError) and fault in error.explain()


def test_the_command_of_a_chain_is_read_back() -> None:
    options = Options(chain=("b.tflite", "c.tflite"), reference="tflm")
    assert len(options_of(command_of(options, "net", "tflite")).chain) == 2


def test_no_other_program_computes_a_chain(front: Path, tmp_path: Path) -> None:
    net = write_layer(tmp_path / "net.tflite", (1, 4), 2)
    imported = mcugen.compile(front, chain=(str(net),)).imported
    heard, notes = hear(Ask(front), imported, "tflm", [], print)
    assert not heard and "--chain, --preprocess or --decide: verify the network alone" in notes[0]
    with pytest.raises(UsageError, match="no runtime can run a model with --chain"):
        hear(Ask(front, "tflm"), imported, "tflm", [], print)
