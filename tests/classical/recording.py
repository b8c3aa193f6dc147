# SPDX-License-Identifier: Apache-2.0
"""Records what ONNX Runtime computes of drawn models: `python -m tests.classical.recording` where it is installed.

Writes tests/classical/recorded.npz: for model k its name, its bytes, in{k} and out{k}_{output} of all cases.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from tests.classical import drawn

FILE = Path(__file__).with_name("recorded.npz")


def main() -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    found: dict[str, np.ndarray] = {}
    names = []
    for k, (name, model, inputs) in enumerate(drawn.models()):
        data = model.SerializeToString(deterministic=True)
        network = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        found[f"model{k}"] = np.frombuffer(data, np.uint8)
        names.append(name)
        found[f"in{k}"] = np.stack(inputs)
        results = [[_plain(y) for y in network.run(None, {"x": x})] for x in inputs]
        found |= {f"out{k}_{j}": np.stack(column) for j, column in enumerate(zip(*results, strict=True))}
    versions = {"onnxruntime": onnxruntime.__version__}
    np.savez_compressed(FILE, names=np.array(names), versions=np.array(json.dumps(versions)), **found)
    print(f"{len(names)} models, {FILE.stat().st_size:,} bytes")


def _plain(result: Any) -> np.ndarray:
    """An output as an array: the values of maps, texts as unicode."""
    if isinstance(result, list):
        order = [label for label in drawn.NUMBERS if label in result[0]]
        return np.array([[row[label] for label in order] for row in result], np.float32)
    return result.astype("U") if result.dtype == object else result


if __name__ == "__main__":
    main()
