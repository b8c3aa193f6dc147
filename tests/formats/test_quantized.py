# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX models: no float is left inside, and results are those that ONNX Runtime recorded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import mcugen.oracle.interpreter
from mcugen.emit.promise import Promise, promises_of
from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.passes.flip_unsigned import flip_unsigned
from mcugen.passes.qdq import rewriting
from mcugen.verify import checks
from tests.formats.quantized_models import FLOATS, MODELS, made

VECTORS = Path(__file__).resolve().parents[1] / "vectors/onnx_quantized.npz"


def imported(name: str, folder: Path) -> tuple[Graph, list[list[np.ndarray]]]:
    model, sets = made(name)
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    return read.load(path, registry.load()), sets


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_onnx_runtime(name: str, tmp_path: Path) -> None:
    graph, sets = imported(name, tmp_path)
    recorded = np.load(VECTORS)
    for k, inputs in enumerate(sets):
        values = mcugen.oracle.interpreter.run(graph, inputs, "ort")
        assert np.array_equal(values[graph.outputs[0]], recorded[f"{name} {k}"])
        signed = flip_unsigned(graph, "ort")  # what the C computes
        if signed is not graph:
            values = mcugen.oracle.interpreter.run(signed, inputs, "ort")
            assert np.array_equal(values[graph.outputs[0]], recorded[f"{name} {k}"])


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("half_")])
def test_tables_that_round_halves_up_are_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = SimpleNamespace(**{**vars(np), "rint": lambda a: np.floor(np.asarray(a) + 0.5)})
    monkeypatch.setattr(rewriting, "np", numbers)
    graph, sets = imported(name, tmp_path)
    values = mcugen.oracle.interpreter.run(graph, sets[0], "ort")
    assert not np.array_equal(values[graph.outputs[0]], np.load(VECTORS)[f"{name} 0"])


@pytest.mark.parametrize("name", [f"qdq_{name}" for name in FLOATS])
def test_no_float_is_left_inside(name: str, tmp_path: Path) -> None:
    graph, _ = imported(name, tmp_path)
    assert not [node for node in graph.nodes if graph.type(node.outputs[0]).is_float]
    assert not [note for note in graph.notes if "float island" in note]
    assert set(promises_of(graph, "ort")) == {Promise.ROUNDED}


def test_layers_that_stay_float_are_rounded_as_the_oracle_rounds_them(tmp_path: Path) -> None:
    """An LSTM and a GRU: one island each, in C, with every stored integer between them and before, in a norm."""
    model, _ = made("island_chain")
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    artifact = mcugen.compile(path)
    assert "2 float islands" in artifact.graph.notes[0]
    assert checks.verify(artifact, 2, None, None, lambda text: None).agrees


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["Add", "Mul", "GlobalAveragePool", "Relu"])
def test_int16_that_no_integer_kernel_runs_stays_float(kind: str, tmp_path: Path) -> None:
    """Uses the domain in which ONNX Runtime's quantizer writes int16 before opset 21."""
    scale, zero = numpy_helper.from_array(np.float32(3e-4), "s"), numpy_helper.from_array(np.int16(0), "z")
    steps = [("QuantizeLinear", "x", "q"), ("DequantizeLinear", "q", "d"), ("QuantizeLinear", "y", "out")]
    first, second, last = (helper.make_node(name, [x, "s", "z"], [y], domain="com.microsoft") for name, x, y in steps)
    operands = ["d", "d"] if kind in ("Add", "Mul") else ["d"]
    nodes = [first, second, helper.make_node(kind, operands, ["y"]), last]
    ends = [
        [helper.make_tensor_value_info(name, number, (1, 3, 4, 5) if name == "x" else None)]
        for name, number in (("x", TensorProto.FLOAT), ("out", TensorProto.INT16))
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", *ends, [scale, zero]), opset_imports=opsets, ir_version=8)
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    artifact = mcugen.compile(path)
    assert any("float island" in note for note in artifact.graph.notes)
    assert checks.verify(artifact, 2, None, None, lambda text: None).agrees


def test_uint16_are_read_with_their_zero_points(tmp_path: Path) -> None:
    """16-bit activations as ONNX Runtime's quantizer writes them: after a Relu the zero point is 0."""
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(4, 6)).astype(np.float32), rng.integers(0, 65536, (6, 5)).astype(np.uint16)
    scale, zeros = np.float32(1e-4), {"middle": np.uint16(40000), "least": np.uint16(0), "of_w": np.uint16(30000)}
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in ({"s": scale, "w": w} | zeros).items()]
    steps = [
        ("QuantizeLinear", ["x", "s", "middle"], "q"),
        ("DequantizeLinear", ["q", "s", "middle"], "d"),
        ("Relu", ["d"], "r"),
        ("QuantizeLinear", ["r", "s", "least"], "p"),
        ("DequantizeLinear", ["p", "s", "least"], "e"),
        ("DequantizeLinear", ["w", "s", "of_w"], "f"),
        ("MatMul", ["e", "f"], "y"),
    ]
    nodes = [helper.make_node(kind, operands, [result]) for kind, operands, result in steps]
    ends = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s)] for n, s in (("x", x.shape), ("y", (4, 5)))]
    graph = helper.make_graph(nodes, "g", *ends, constants)
    path = tmp_path / "net.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    first = np.clip(np.rint(x / scale) + 40000, 0, 65535) - 40000
    second = np.clip(np.rint(np.maximum(first * scale, 0) / scale), 0, 65535)
    want = (second * scale) @ ((w.astype(np.float64) - 30000) * scale)
    imported = read.load(path, registry.load())
    found = mcugen.oracle.interpreter.run(imported, [x], "ort")[imported.outputs[0]]
    assert np.allclose(found, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("end", ["input", "output"])
def test_uint16_at_an_end_is_refused_with_what_to_do(end: str, tmp_path: Path) -> None:
    nodes = {
        "input": helper.make_node("DequantizeLinear", ["a", "s", "z"], ["b"]),
        "output": helper.make_node("QuantizeLinear", ["a", "s", "z"], ["b"]),
    }
    kinds = (TensorProto.UINT16, TensorProto.FLOAT) if end == "input" else (TensorProto.FLOAT, TensorProto.UINT16)
    ends = [[helper.make_tensor_value_info(name, kind, [1, 4])] for name, kind in zip("ab", kinds, strict=True)]
    constants = [numpy_helper.from_array(v, n) for v, n in ((np.float32(0.1), "s"), (np.uint16(9), "z"))]
    model = helper.make_model(
        helper.make_graph([nodes[end]], "g", *ends, constants),
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=10,
    )
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UnsupportedError, match=f"UINT16 of '{'a' if end == 'input' else 'b'}'") as caught:
        mcugen.compile(tmp_path / "net.onnx")
    assert "make these float" in caught.value.explain()
