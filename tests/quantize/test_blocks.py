# SPDX-License-Identifier: Apache-2.0
"""Weights of 4 bits in blocks: products of integers and factors, files that hold them, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import mcugen
from mcugen.cli import cli
from mcugen.errors import UsageError
from mcugen.formats import read, registry
from mcugen.ir.block_factors import factored
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.quantize import block_rounding, quantize_model, walk
from mcugen.quantize.recipe import Widths
from mcugen.quantize.rounding import Moments
from mcugen.quantize.stored_integers import stored_inputs
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.formats.onnx_models import Writer

SHAPE = (1, 8, 4, 4)


def network(folder: Path) -> Path:
    """Convolutions with 72, 64 and 32 weights of an output, and a dense layer with 128."""
    w = Writer(17)
    first = w.node("Relu", [w.node("Conv", [w.input(SHAPE), w.weights(16, 8, 3, 3), w.weights(16)], pads=[1, 1, 1, 1])])
    wide = w.node("Conv", [first, w.weights(32, 16, 2, 2), w.weights(32)], strides=[2, 2])
    point = w.node("Conv", [wide, w.weights(32, 32, 1, 1), w.weights(32)])
    y = w.node("Gemm", [w.node("Flatten", [point]), w.weights(5, 128), w.weights(5)], transB=1)
    path = folder / "net.onnx"
    path.write_bytes(w.model(y).SerializeToString())
    return path


def samples(folder: Path) -> Path:
    path = folder / "calib.npz"
    np.savez(path, np.random.default_rng(1).normal(size=(16, *SHAPE)).astype(np.float32))
    return path


def quantized(folder: Path, file_format: str = "onnx", block: int = 32) -> quantize_model.Quantized:
    choices = quantize_model.QuantizeOptions(
        jobs=1, method="min-max", file_format=file_format, widths=Widths(4, block=block)
    )
    return quantize_model.quantize(network(folder), samples(folder), choices)


def test_a_written_network_comes_back_with_the_same_integers(tmp_path: Path) -> None:
    found, path = quantized(tmp_path), tmp_path / "written.onnx"
    path.write_bytes(found.written("onnx"))
    blocks = [n for n in onnx.load(path).graph.node if any(a.name == "block_size" for a in n.attribute)]
    assert len(blocks) == 3
    assert [note for note in found.notes if note == "a scale for each output, no blocks, have: v1_0"]
    again = read.load(path, registry.load())
    made, back = ([n for n in g.nodes if isinstance(n.op, Conv2D | FullyConnected)] for g in (found.graph, again))
    weights = [[g.tensors[str(n.inputs[1])] for n in nodes] for g, nodes in ((found.graph, made), (again, back))]
    for first, second in zip(*weights, strict=True):
        assert first.data is not None and second.data is not None and first.type.quant and second.type.quant
        scales = [np.array(t.type.quant.scale).reshape(-1, 1) for t in (first, second) if t.type.quant]
        real = [d.reshape(len(d), -1) * s for d, s in zip((first.data, second.data), scales, strict=True)]
        np.testing.assert_array_equal(*real)
    assert [t.type.quant.block for t in weights[1] if t.type.quant] == [0, 32, 32, 32]
    given = stored_inputs(found.graph, (np.random.default_rng(2).normal(size=(8, *SHAPE)).astype(np.float32),))
    even = [replace(n, op=replace(n.op, rounding="even")) if n in made else n for n in found.graph.nodes]
    first_y, second_y = (walk.outputs(graph, "ort", given) for graph in (found.graph.updated(nodes=even), again))
    np.testing.assert_array_equal(first_y[0], second_y[0])
    artifact = mcugen.compile(path, name="net", optimize="flash")
    chosen = {step.choice.kernel.symbol for step in artifact.schedule.steps}
    assert {"mg_conv2d_s8b4_line", "mg_fully_connected_s8b4_line"} <= chosen
    assert host.verify(artifact, list(cases(artifact.imported, 2))).agrees


def test_scales_that_are_no_products_keep_a_layer_in_floats(tmp_path: Path) -> None:
    """Arbitrary scales are not rounded to factors, because that would change what the file means."""
    model = onnx.load_from_string(quantized(tmp_path).written("onnx"))
    node = [n for n in model.graph.node if any(a.name == "block_size" for a in n.attribute)][-1]
    scales = next(t for t in model.graph.initializer if t.name == node.input[1])
    changed = onnx.numpy_helper.to_array(scales) * np.random.default_rng(3).uniform(0.5, 1, scales.dims)
    scales.CopyFrom(onnx.numpy_helper.from_array(changed.astype(np.float32), scales.name))
    path = tmp_path / "changed.onnx"
    path.write_bytes(model.SerializeToString())
    ops = [type(node.op) for node in read.load(path, registry.load()).nodes]
    assert BlockedFullyConnected in ops and FullyConnected not in ops


def test_rows_of_products_are_factored_and_others_are_not() -> None:
    rng = np.random.default_rng(4)
    for low, high in ((-8, 7), (-1, 1), (-3, 3)):
        q, m = rng.integers(low, high, (20, 80), endpoint=True), rng.integers(1, 255, (20, 3), endpoint=True)
        rows = q * np.repeat(m, 32, axis=1)[:, :80]
        found = factored(rows, 32)
        assert found is not None and found.factors.min() >= 1 and found.factors.max() <= 255
        assert found.integers.min() >= -8 and found.integers.max() <= 7
        np.testing.assert_array_equal(found.integers * np.repeat(found.factors, 32, axis=1)[:, :80], rows)
    assert factored(np.array([[8, 1]]), 2) is None
    assert factored(np.array([[257, 514]]), 2) is None


def test_least_squares_lose_less_than_the_nearest() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 96)) @ rng.normal(size=(96, 96))
    w, xx = rng.normal(size=(1, 6, 96)), (x.T @ x / len(x))[None]
    moments = Moments(len(x), x.mean(axis=0)[None], np.zeros((1, 6)), xx, None)
    lost = []
    for made in (block_rounding.nearest(w, 32), block_rounding.least_squares(w, moments, 32)):
        assert factored(made.integers[0].astype(np.int64), 32) is not None
        error = made.real - w
        lost.append(float(np.einsum("gok,gkl,gol->", error, xx, error)))
    assert lost[1] < 0.5 * lost[0]


@pytest.mark.parametrize(
    ("arguments", "suffix", "message"),
    [
        (["--weights", "8"], "onnx", "--weights 8 has no blocks: only weights of 4 bits have a scale for each block"),
        (["--weights", "mixed", "--max-loss", "1%"], "onnx", "--weights mixed has no blocks"),
        (["--weights", "4"], "tflite", "a .tflite that runtimes compute on int8 data has no weights in blocks"),
    ],
)
def test_others_have_no_blocks(tmp_path: Path, arguments: list[str], suffix: str, message: str) -> None:
    file = tmp_path / f"q.{suffix}"
    given = ["--data", str(samples(tmp_path)), "--block", "32", "-o", str(file), *arguments]
    done = CliRunner().invoke(cli, ["quantize", str(network(tmp_path)), *given])
    assert done.exit_code != 0 and not file.exists()
    assert message in str(done.exception or done.output)


def test_a_block_that_divides_no_layer_is_refused(tmp_path: Path) -> None:
    w = Writer(17)
    y = w.node("Gemm", [w.input((1, 20)), w.weights(5, 20)], transB=1)
    path = tmp_path / "net.onnx"
    path.write_bytes(w.model(y).SerializeToString())
    np.savez(tmp_path / "x.npz", np.ones((8, 1, 20), np.float32) * np.arange(8)[:, None, None].astype(np.float32))
    choices = quantize_model.QuantizeOptions(jobs=1, method="min-max", file_format="onnx", widths=Widths(4, block=32))
    with pytest.raises(UsageError, match="blocks of 32 divide the weights of no layer: an output has 20"):
        quantize_model.quantize(path, tmp_path / "x.npz", choices)
