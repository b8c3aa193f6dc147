# SPDX-License-Identifier: Apache-2.0
"""Sizes and places that the text of ONNX and ONNX Runtime do not agree on are those of ONNX Runtime, as recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mcugen import frontends, reference, registry
from tests.frontends.onnx_models import write
from tests.frontends.onnx_windows import layers, model

RECORDED = Path(__file__).parent.parent / "vectors/onnx_windows.npz"


def test_results_are_those_of_onnx_runtime(tmp_path: Path) -> None:
    """All elements: the same ones where elements are chosen, else within the tolerance of floats."""
    with np.load(RECORDED) as recorded:
        wanted = dict(recorded)
    assert wanted.keys() == layers().keys()
    wrong = []
    for name, layer in layers().items():
        net, data = model(layer)
        graph = frontends.load(write(net, tmp_path), registry.load())
        got = reference.run(graph, [data], "ort")[graph.outputs[0]]
        tolerance = 0.0 if name.startswith(("nearest", "MaxPool")) else 1e-5 * float(np.abs(wanted[name]).max())
        if got.shape != wanted[name].shape or np.abs(got - wanted[name]).max() > tolerance:
            wrong.append(name)
    assert not wrong
