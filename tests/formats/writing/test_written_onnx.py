# SPDX-License-Identifier: Apache-2.0
"""Operators written as ONNX are read again as what they were; images are written channels first, without transposes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
import pytest

import mcugen
from mcugen.errors import UnsupportedError
from mcugen.formats import registry
from mcugen.formats.read import load
from mcugen.formats.write import write
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.oracle import interpreter
from mcugen.verify import checks
from tests.formats import onnx_models
from tests.formats.test_onnx import classifier, enlarged, moved, reduced, shuffled, signal
from tests.formats.writing import onnx_cases
from tests.formats.writing.simplifying import simplified

MODELS = Path(__file__).resolve().parents[2] / "models"
DIGITS = MODELS.parents[1] / "examples/digits/digits.tflite"
REGISTRY = registry.load()
Net = Callable[[onnx_models.Writer], tuple[str, ...]]
RUNTIME_LACKS = {("Resize", "tensor(bool)")}
"""Operators and types of operands that schemas have, and ONNX Runtime has not."""


def read(data: bytes, folder: Path) -> Graph:
    path = folder / "written.onnx"
    path.write_bytes(data)
    return load(path, REGISTRY)


def kinds(data: bytes) -> Counter[str]:
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    return Counter(node.op_type for node in model.graph.node)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", onnx_cases.operators(), ids=lambda op: str(op.__name__))
def test_what_is_written_is_read_again(op: type[Op], tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Every third example, all with --whole: integers within a step of the runtimes' rounding, floats within 1e-5."""
    count = 0
    for case in islice(onnx_cases.written(op, 2), 0, None, 1 if pytestconfig.getoption("--whole") else 3):
        graph = read(case.data, tmp_path)
        count += 1
        for inputs in case.inputs:
            found = interpreter.run(graph, inputs, "ort")
            verdict = onnx_cases.judge(case, inputs, [found[name] for name in graph.outputs])
            assert not verdict.fault, f"{case.label}: {verdict.fault}"
    assert count or not op.examples(), f"no example of {op.__name__} is written"


def types_of(model: onnx.ModelProto) -> dict[str, str]:
    """Name -> type of all values, as schemas spell it: tensor(float)."""
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph
    found = {t.name: t.data_type for t in graph.initializer}
    values = (*graph.input, *graph.value_info, *graph.output)
    found |= {value.name: value.type.tensor_type.elem_type for value in values}
    # Inference gives no types to results of GroupNormalization, which have the type of their first operand.
    for node in model.graph.node:
        if node.op_type == "GroupNormalization":
            found |= {name: found[node.input[0]] for name in node.output if name not in found}
    return {name: f"tensor({onnx.TensorProto.DataType.Name(kind).lower()})" for name, kind in found.items()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", onnx_cases.operators(), ids=lambda op: str(op.__name__))
def test_operands_have_types_that_their_operators_take(op: type[Op]) -> None:
    for case in onnx_cases.written(op, 0):
        model = onnx.load_from_string(case.data)
        types, version = types_of(model), model.opset_import[0].version
        for node in model.graph.node:
            schema = onnx.defs.get_schema(node.op_type, version, node.domain)
            for k, name in enumerate(node.input):
                taken = schema.inputs[min(k, len(schema.inputs) - 1)].types
                is_taken = not name or (types[name] in taken and (node.op_type, types[name]) not in RUNTIME_LACKS)
                assert is_taken, f"{case.label}: {node.op_type}, operand {k}"


@pytest.mark.parametrize("net", [classifier, shuffled, signal, reduced, moved, enlarged])
def test_networks_are_read_again(net: Net, tmp_path: Path) -> None:
    w = onnx_models.Writer()
    model = w.model(*net(w))
    graph = simplified(load(onnx_models.write(model, tmp_path), REGISTRY))
    again = read(write(graph, "onnx"), tmp_path)
    rng = np.random.default_rng(5)
    inputs = [rng.normal(size=graph.type(name).shape).astype(np.float32) for name in graph.inputs]
    wanted, got = (interpreter.run(g, inputs, "ort") for g in (graph, again))
    for a, b in zip(graph.outputs, again.outputs, strict=True):
        assert wanted[a].shape == got[b].shape
        assert onnx_cases.error(wanted[a], got[b]) <= onnx_cases.TOLERANCE
        assert graph.tensors[a].label == again.tensors[b].label


def test_a_network_of_images_has_no_transpose(tmp_path: Path) -> None:
    w = onnx_models.Writer()
    graph = simplified(load(onnx_models.write(w.model(*classifier(w)), tmp_path), REGISTRY))
    data = write(graph, "onnx")
    assert "Transpose" not in kinds(data)
    model = onnx.load_from_string(data)
    assert [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim] == [1, 3, 9, 8]


def test_a_tflite_network_keeps_its_interface(tmp_path: Path) -> None:
    """Images come channels last: one transpose moves the input."""
    graph = simplified(load(DIGITS, REGISTRY))
    data = write(graph, "onnx")
    model = onnx.load_from_string(data)
    assert [value.name for value in model.graph.input] == [graph.tensors[name].label for name in graph.inputs]
    assert [value.name for value in model.graph.output] == [graph.tensors[name].label for name in graph.outputs]
    assert kinds(data)["Transpose"] <= 1
    rng, t = np.random.default_rng(6), graph.type(graph.inputs[0])
    inputs = [rng.integers(*t.limits, size=t.shape, endpoint=True).astype(t.np_dtype)]
    for case in onnx_cases.nodes(graph, inputs, "litert"):
        (given,) = case.inputs
        again = read(case.data, tmp_path)
        found = interpreter.run(again, given, "ort")
        verdict = onnx_cases.judge(case, given, [found[name] for name in again.outputs])
        assert not verdict.fault, f"{case.label}: {verdict.fault}"


def test_stored_inputs_become_c(tmp_path: Path) -> None:
    """An input of plain integers that a DequantizeLinear gives a scale has that scale in every order of axes."""
    graph = simplified(load(DIGITS, REGISTRY))
    path = tmp_path / "digits.onnx"
    path.write_bytes(write(graph, "onnx"))
    artifact = mcugen.compile(path, name="digits")
    assert checks.verify(artifact, 2, None, None, lambda text: None).agrees


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", [Conv2D, DepthwiseConv2D, FullyConnected])
def test_weights_of_four_bits_stay_so(op: type[Op], tmp_path: Path) -> None:
    for case in onnx_cases.written(op, 1):
        graph, (node,) = case.graph, case.graph.nodes
        tensor = graph.tensors[str(node.inputs[1])]
        if tensor.data is None or tensor.type.dtype != "s8" or graph.type(node.outputs[0]).dtype != "s8":
            continue
        data = (tensor.data.astype(np.int16) >> 4).astype(np.int8)
        narrow = graph.updated(tensors=[replace(tensor, type=replace(tensor.type, dtype="s4"), data=data)])
        again = read(write(narrow, "onnx"), tmp_path)
        assert "s4" in {t.type.dtype for t in again.tensors.values()}
        found = interpreter.run(again, case.inputs[0], "ort")
        four_bits = replace(case, graph=narrow)
        verdict = onnx_cases.judge(four_bits, case.inputs[0], [found[name] for name in again.outputs])
        assert not verdict.fault, f"{case.label}: {verdict.fault}"


def test_the_bytes_are_the_same_each_time() -> None:
    first, second = (write(simplified(load(DIGITS, REGISTRY)), "onnx") for _ in range(2))
    assert first == second


def test_what_cannot_be_written_is_named_with_its_place() -> None:
    graph = load(MODELS / "s8_cast_f32.tflite", REGISTRY)
    node = graph.nodes[0]
    foreign = graph.updated(nodes=[type(node)(node.name, _Foreign(), node.inputs, node.outputs, "operator 7 FOREIGN")])
    with pytest.raises(UnsupportedError, match=r"operator 7 FOREIGN.*cannot be written as onnx"):
        write(foreign, "onnx")


class _Foreign(Op):
    """An operator of which no format knows."""
