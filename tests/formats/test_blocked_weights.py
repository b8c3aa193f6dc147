# SPDX-License-Identifier: Apache-2.0
"""Weights in blocks: results of ONNX Runtime, packed constants in the C, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import McugenError
from mcugen.formats import read, registry
from mcugen.formats import write as writing
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.fully_connected import FullyConnected
from mcugen.oracle import interpreter
from mcugen.quantize import float_model
from mcugen.verify import emulated, host
from mcugen.verify.cases import Case, cases
from tests.formats.onnx_models import write
from tests.formats.recorded_blocks import MODELS, Blocks, Dequantized, made

RECORDED = Path(__file__).resolve().parents[1] / "vectors/onnx_blocks.npz"


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_that_onnx_runtime_recorded(name: str, tmp_path: Path) -> None:
    model, x = made(name)
    graph = read.load(write(model, tmp_path), registry.load())
    assert [type(node.op) for node in graph.nodes] == [BlockedFullyConnected]
    got, wanted = interpreter.run(graph, [x], "ort")[graph.outputs[0]], np.load(RECORDED)[name]
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
    np.testing.assert_allclose(got, x @ MODELS[name]().real.T, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_written_file_has_the_same_blocks(name: str, tmp_path: Path) -> None:
    graph = read.load(write(made(name)[0], tmp_path), registry.load())
    path = tmp_path / "again.onnx"
    path.write_bytes(writing.write(graph, "onnx"))
    again = read.load(path, registry.load())
    assert [node.op for node in again.nodes] == [node.op for node in graph.nodes]
    for first, second in zip(graph.nodes[0].inputs[1:], again.nodes[0].inputs[1:], strict=False):
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert graph.type(first) == again.type(second)
            np.testing.assert_array_equal(graph.tensors[first].data, again.tensors[second].data)


@pytest.mark.parametrize(("name", "size"), [("4 bits", 160), ("2 bits", 48), ("8 bits, zero points", 200)])
def test_the_c_keeps_the_weights_as_small_as_the_file(name: str, size: int, tmp_path: Path) -> None:
    model, x = made(name)
    artifact = mcugen.compile(write(model, tmp_path), name="net")
    assert f"const uint8_t net_k0[{size}]" in artifact.files["net_weights.c"].decode()
    verdict = host.verify(artifact, [Case("recorded", (x,))])
    assert verdict.agrees


def test_a_core_without_floats_computes_the_same(tmp_path: Path) -> None:
    artifact = mcugen.compile(write(made("4 bits, a part of a block")[0], tmp_path), name="net", board="cortex-m0plus")
    assert emulated.simulate(artifact, list(cases(artifact.imported, 1))).verdict.agrees


def test_blocks_along_the_outputs_become_floats(tmp_path: Path) -> None:
    model = Dequantized(48, 5, 16, 4, axis=0, gemm=True).model()
    model.graph.node[1].attribute[0].i = 1  # the matrix is read transposed, so its blocks lie along the outputs
    for value, size in ((model.graph.input[0], 5), (model.graph.output[0], 48)):
        value.type.tensor_type.shape.dim[1].dim_value = size
    graph = read.load(write(model, tmp_path), registry.load())
    assert [type(node.op) for node in graph.nodes] == [FullyConnected]


def test_a_device_gets_floats(tmp_path: Path) -> None:
    artifact = mcugen.compile(write(made("4 bits")[0], tmp_path), name="net", board="opencl-generic")
    assert [type(node.op) for node in artifact.graph.nodes] == [FullyConnected]


def test_a_quantizer_sees_a_float_layer(tmp_path: Path) -> None:
    graph = float_model.prepared(float_model.load(write(made("4 bits")[0], tmp_path)), "", "")
    (node,) = graph.nodes
    np.testing.assert_allclose(graph.tensors[str(node.inputs[1])].data, MODELS["4 bits"]().real, rtol=1e-6)


def with_order(b: Blocks) -> None:
    b.more["g"] = np.zeros(b.length, np.int32)


def zero_scale(b: Blocks) -> None:
    b.scales[1, 1] = 0


def infinite_scale(b: Blocks) -> None:
    b.scales[0, 0] = np.inf


def few_scales(b: Blocks) -> None:
    b.more["s"] = b.scales.reshape(-1)[:-1]


def zero_beyond(b: Blocks) -> None:
    b.more["z"] = np.full(b.scales.size, 16, np.float32)


def zero_between(b: Blocks) -> None:
    b.more["z"] = np.full(b.scales.size, 7.5, np.float32)


def few_zeros(b: Blocks) -> None:
    b.more["z"] = np.zeros(3, np.uint8)


def few_weights(b: Blocks) -> None:
    b.more["q"] = np.zeros((5, 2, 15), np.uint8)


def odd_block(b: Blocks) -> None:
    b.attributes["block_size"] = 24


def three_bits(b: Blocks) -> None:
    b.attributes["bits"] = 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (with_order, "g_idx, which gives each input a block of its own, is not supported"),
        (zero_scale, r"the scale of block \[1, 1\] is 0, but its weights are not"),
        (infinite_scale, "a scale of a block is infinite or NaN"),
        (few_scales, "9 scales for 5 outputs with 2 blocks each"),
        (zero_beyond, "the zero point 16 is no integer from 0 to 15"),
        (zero_between, "the zero point 7.5 is no integer from 0 to 15"),
        (few_zeros, "3 bytes of zero points, but 5 are needed"),
        (few_weights, "150 bytes of uint8 weights, but 160 are needed"),
        (odd_block, "a block_size of 24, no power of two above 15"),
        (three_bits, "MatMulNBits with 3 bits is not supported"),
    ],
)
def test_damaged_blocks_are_refused_by_name(damage: object, message: str, tmp_path: Path) -> None:
    blocks = Blocks(64, 5, 32, 4)
    damage(blocks)  # type: ignore[operator]
    with pytest.raises(McugenError, match=message):
        mcugen.compile(write(blocks.model(), tmp_path))


def test_a_block_of_zeros_may_have_the_scale_zero(tmp_path: Path) -> None:
    blocks = Blocks(64, 5, 32, 4)
    blocks.scales[2, 0], blocks.q[2, :32] = 0, 8
    graph = read.load(write(blocks.model(), tmp_path), registry.load())
    got = interpreter.run(graph, [blocks.x], "ort")[graph.outputs[0]]
    np.testing.assert_allclose(got, blocks.x @ blocks.real.T, rtol=0, atol=1e-5 * np.abs(got).max())
