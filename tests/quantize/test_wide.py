# SPDX-License-Identifier: Apache-2.0
"""Data of 16 bits: by kind, for all layers, and as .onnx files hold them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import mcugen
from mcugen.builds.mixed import by_noise, mixed_report
from mcugen.builds.mixed.plan import BitsChooser, Request
from mcugen.emit.promise import Promise, promises_of
from mcugen.formats import read, registry
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._links import Link
from mcugen.ops.element_function import ElementFunction, wide_error
from mcugen.ops.maximum import Maximum
from mcugen.ops.normalization import Normalization
from mcugen.ops.tanh import Tanh
from mcugen.oracle import interpreter
from mcugen.passes.qdq.runtime_steps import MOST_ERROR
from mcugen.quantize import quantize_model, wide_kinds
from mcugen.quantize.quantization_report import as_parts
from mcugen.quantize.recipe import Widths
from mcugen.quantize.tensor_noise import TensorNoise
from mcugen.system.tabular import TextTable
from tests.formats.onnx_models import Writer

ROWS, WIDTH = 6, 16


def encoder(folder: Path) -> Path:
    """Two blocks of norm, dense layer, Gelu and dense layer beside a residual stream."""
    w, rng = Writer(17), np.random.default_rng(0)

    def weights(*shape: int) -> str:
        return w.constant(rng.normal(0, 0.5, shape).astype(np.float32))

    def dense(x: str, inputs: int, outputs: int) -> str:
        return w.node("Add", [w.node("MatMul", [x, weights(inputs, outputs)]), weights(outputs)])

    def number(value: float) -> str:
        return w.constant(np.float32(value))

    def gelu(x: str) -> str:
        erf = w.node("Erf", [w.node("Div", [x, number(2**0.5)])])
        return w.node("Mul", [w.node("Mul", [x, number(0.5)]), w.node("Add", [erf, number(1)])])

    stream = dense(w.input((1, ROWS, WIDTH)), WIDTH, WIDTH)
    for _ in range(2):
        normal = w.node("LayerNormalization", [stream, weights(WIDTH), weights(WIDTH)], axis=-1, epsilon=1e-5)
        stream = w.node("Add", [stream, dense(gelu(dense(normal, WIDTH, 24)), 24, WIDTH)])
    last = w.node("LayerNormalization", [stream, weights(WIDTH), weights(WIDTH)], axis=-1, epsilon=1e-5)
    path = folder / "encoder.onnx"
    onnx.save(w.model(w.node("Softmax", [dense(last, WIDTH, 4)], axis=-1)), path)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], tuple[quantize_model.Quantized, Path]]:
    folder = tmp_path_factory.mktemp("wide")
    model, known = encoder(folder), dict[int, tuple[quantize_model.Quantized, Path]]()
    x = np.random.default_rng(1).normal(0, 1, (40, ROWS, WIDTH)).astype(np.float32)
    np.savez(folder / "x.npz", x=x)

    def quantized(bits: int) -> tuple[quantize_model.Quantized, Path]:
        if bits not in known:
            choices = quantize_model.QuantizeOptions(
                method="min-max", jobs=1, file_format="onnx", widths=Widths(8, bits), limit=12
            )
            found = quantize_model.quantize(model, folder / "x.npz", choices, test=folder / "x.npz")
            path = folder / f"q{bits}.onnx"
            path.write_bytes(found.written("onnx"))
            known[bits] = found, path
        return known[bits]

    return quantized


def test_sums_that_norms_read_have_16_bits(made: Callable[[int], tuple[quantize_model.Quantized, Path]]) -> None:
    found, _ = made(8)
    sums = wide_kinds.sums_before_norms(found.floats.graph)
    assert len(sums) == 2 and dict(found.widths.activations_of) == {node.name: 16 for node in sums}
    norms = [node for node in found.graph.nodes if isinstance(node.op, Normalization)]
    kinds = [(found.graph.type(str(n.inputs[0])).dtype, found.graph.type(n.outputs[0]).dtype) for n in norms]
    assert kinds == [("s8", "s8"), ("s16", "s8"), ("s16", "s8")]
    listed = wide_kinds.wide_tensors(found.floats.graph, found.graph)
    nbytes = 2 * ROWS * WIDTH
    assert [t.nbytes for t in listed if t.kind == wide_kinds.SUM] == [nbytes, nbytes]
    tables = [part for part in as_parts(found, "f", 1) if isinstance(part, TextTable) and len(part.columns) == 4]
    assert (wide_kinds.SUM, "2", f"{2 * nbytes:,}") in [row[:3] for table in tables for row in table.rows]


@pytest.mark.parametrize(("bits", "least"), [(8, 34.0), (16, 42.0)])
def test_files_hold_the_same_integers(
    made: Callable[[int], tuple[quantize_model.Quantized, Path]], bits: int, least: float
) -> None:
    """Nothing is computed in floats, the C gives what the oracle gives, and both nearly what was judged."""
    found, path = made(bits)
    assert found.score is not None and found.score.sqnr > least
    graph = read.load(path, registry.load(()))
    assert not [node for node in graph.nodes if graph.type(node.outputs[0]).is_float and not node.op.only_moves]
    if bits == 16:
        assert sum(isinstance(node.op, ElementFunction) for node in graph.nodes) == 2
    assert promises_of(graph, "ort") == [Promise.WIDE]
    artifact = mcugen.compile(path)
    low, high = np.iinfo(graph.type(graph.inputs[0]).np_dtype).min, np.iinfo(graph.type(graph.inputs[0]).np_dtype).max
    x = np.random.default_rng(2).integers(low, high + 1, (5, 1, ROWS, WIDTH)).astype(f"i{bits // 8}")
    y = artifact.load().run(x[:, 0], real=False)
    for sample, result in zip(x, y, strict=True):
        wanted = interpreter.run(artifact.imported, [sample], "ort")[artifact.imported.outputs[0]]
        assert np.array_equal(wanted.reshape(result.shape), result)
    judged = interpreter.run(found.graph, [x[0]], "tflm")[found.graph.outputs[0]].astype(int)
    assert np.abs(judged.reshape(y[0].shape) - y[0]).max() <= (3 if bits == 8 else 100)


def test_the_loudest_tensors_get_16_bits_until_the_goal_is_met(
    made: Callable[[int], tuple[quantize_model.Quantized, Path]],
) -> None:
    found, path = made(8)
    chooser = BitsChooser(Request(activations=True, least=38.0))
    choices = quantize_model.QuantizeOptions(method="min-max", jobs=1, file_format="onnx", limit=12)
    samples = path.parent / "x.npz"
    mixed = quantize_model.quantize(path.parent / "encoder.onnx", samples, choices, test=samples, choose=chooser.choose)
    choice = chooser.by_noise
    assert choice is not None and found.score is not None and mixed.score is not None
    assert choice.sqnr >= 38 and abs(choice.sqnr - choice.predicted) < 2
    noises = [tensor.noise for tensor in choice.tensors]
    assert 0 < len(noises) < 12 and noises == sorted(noises, reverse=True)
    text = "".join(part for part in mixed_report.as_parts(chooser) if isinstance(part, str))
    assert f"{len(noises)} tensors in 16 bits by their noise" in text and choice.tensors[0].label in text


def test_a_goal_asks_for_the_fewest_tensors() -> None:
    loud = [TensorNoise(name, noise, (name,)) for name, noise in (("a", 4e-4), ("b", 1e-4), ("c", 5e-5))]
    assert [by_noise._enough(loud, 1e-5, goal) for goal in (1e-3, 2e-4, 1e-4, 2e-5, 1e-6)] == [0, 1, 2, 3, 4]


def test_int16_without_the_text_stays_in_floats(
    made: Callable[[int], tuple[quantize_model.Quantized, Path]], tmp_path: Path
) -> None:
    model = onnx.load(made(16)[1])
    last = [node for node in model.graph.node if node.op_type == "QuantizeLinear"][-1]
    assert last.doc_string
    last.doc_string = ""
    onnx.save(model, tmp_path / "plain.onnx")
    graph = read.load(tmp_path / "plain.onnx", registry.load(()))
    floats = [type(node.op).__name__ for node in graph.nodes if graph.type(node.outputs[0]).is_float]
    assert "Softmax" in floats and "FullyConnected" not in floats


def test_a_function_that_bends_sharply_has_no_table() -> None:
    """A bend halfway between two of 513 entries is 24 steps off, though both entries share its error; tanh is 1.5."""
    t = TensorType((8,), "s16", QuantParams((2e-5,), (0,)))
    bend = ElementFunction((Link(Maximum(), (0, 1)),), (6208 * 2e-5,))
    assert wide_error(Call(bend, (t,), (t,), (None,), "ort")) == 24 > MOST_ERROR
    smooth = ElementFunction((Link(Tanh(), (0,)),))
    assert wide_error(Call(smooth, (t,), (t,), (None,), "ort")) == 1.5
