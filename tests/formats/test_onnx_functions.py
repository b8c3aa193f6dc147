# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX defines by functions of functions, and hard gates, in every version that has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.ops.add import Add
from mcugen.ops.hard_swish import HardSwish
from mcugen.ops.mul import Mul
from tests.formats.onnx_models import Writer, write
from tests.formats.test_onnx import agrees

OPSETS = (14, 17, 18, 20, 21, 22)


def imported(kind: str, folder: Path, opset: int = 21, **attributes: float) -> Graph:
    """The graph of one operator, whose results are those of the onnx package."""
    w = Writer(opset)
    model = w.model(w.node(kind, [w.input([3, 40])], **attributes))
    agrees(model, write(model, folder))
    return read.load(write(model, folder), registry.load())


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("kind", ["Celu", "Elu", "HardSigmoid", "HardSwish", "Selu", "Softsign", "ThresholdedRelu"])
def test_functions_within_functions_are_read(kind: str, opset: int, tmp_path: Path) -> None:
    imported(kind, tmp_path, opset)


@pytest.mark.parametrize("opset", OPSETS)
def test_hard_swish_is_one_operator(opset: int, tmp_path: Path) -> None:
    assert [node.op for node in imported("HardSwish", tmp_path, opset).nodes] == [HardSwish()]


def test_a_gate_of_sixths_is_written_as_converters_write_it(tmp_path: Path) -> None:
    graph = imported("HardSigmoid", tmp_path, alpha=1 / 6, beta=0.5)
    assert [node.op for node in graph.nodes] == [Add("RELU6"), Mul()]
    constants = [graph.tensors[str(node.inputs[1])].data for node in graph.nodes]
    assert [float(np.asarray(c)) for c in constants] == [3.0, float(np.float32(1 / 6))]


@pytest.mark.parametrize("alpha", [1.0, 0.3, -2.0])
def test_elu_of_any_slope(alpha: float, tmp_path: Path) -> None:
    imported("Elu", tmp_path, alpha=alpha)


@pytest.mark.parametrize(("alpha", "beta"), [(0.2, 0.5), (1.5, -0.25), (0.0, 0.3), (-0.7, 0.4), (1e-42, 0.6)])
def test_gates_of_any_slope(alpha: float, beta: float, tmp_path: Path) -> None:
    imported("HardSigmoid", tmp_path, alpha=alpha, beta=beta)
