# SPDX-License-Identifier: Apache-2.0
"""A collection of models: folders with info.json, a model file, golden.npz and, for .tflite, trace.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EMULATED = (
    "mlperf_ic_int8",
    "mlperf_kws_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_strww_int8",
    "person_detect_int8",
    "hello_world_int8",
    "micro_speech_int8",
)
"""Models small enough for every emulated machine."""

SAMPLE = (
    "digits_cnn/dynamic",
    "digits_cnn/onnx",
    "digits_cnn/onnx_qdq",
    "ml_digits_forest",
    "ml_iris_svc_rbf",
    "ml_iris_tree_zipmap",
    "ml_wine_logreg",
    "nnef_digits_cnn",
    "nnef_digits_cnn_q8",
    "onnx_digits_resnet",
    "onnx_dtln_model1",
    "onnx_micro_kws_qoperator",
    "onnx_mixed_ops_prelu",
    "onnx_mnist8",
    "ops/detection_postprocess",
)
"""Models of every promise beside the plain .tflite ones that the suite verifies; ci/soak verifies all of them."""

PROMISES: Mapping[str, str] = {
    "bits": "every bit of the runtime, `seq` of the recording included; ONNX: of the fused integer kernels",
    "meaning": "every bit of the exact real value of each quantized operator, rounded once, half to even",
    "hybrid": "operator by operator the bits of LiteRT on the same operands, outputs within 1e-4",
    "steps": "every bit of the NumPy reference, each operator within one step of the simulation that was recorded",
    "floats": "within 1e-5 of the largest magnitude",
    "classical": "labels and trees: every bit; linear and support vectors: within 1e-5",
}


@dataclass(frozen=True)
class Model:
    """A model of the collection. name: its folder, from that of the collection; promise: a key of PROMISES."""

    name: str
    folder: Path
    path: Path
    info: Mapping[str, Any]

    @property
    def promise(self) -> str:
        """The kind of the model's promise."""
        return _promise(self.info, self.path)

    @property
    def trace(self) -> Path | None:
        """The hashes of a runtime's tensors, where they were recorded."""
        path = self.folder / "trace.json"
        return path if self.path.suffix == ".tflite" and path.exists() else None


def is_in_scope(info: dict[str, Any]) -> bool:
    """Whether a model is a .tflite without hybrid and custom operators."""
    plain = info.get("fmt") == "tflite" and info.get("hybrid_ops") == 0
    return bool(plain and not any(name.startswith("CUSTOM:") for name in info["ops"]))


def models(root: Path) -> list[Path]:
    """Folders of the .tflite models without hybrid and custom operators, sorted."""
    return [model.folder for model in collection(root) if is_in_scope(dict(model.info))]


def collection(root: Path) -> list[Model]:
    """All models of a collection, by name."""
    return [_model(path.parent, root) for path in sorted(root.rglob("info.json"))]


def _model(folder: Path, root: Path) -> Model:
    info = json.loads((folder / "info.json").read_text())
    path = folder / ("model" if info["fmt"] == "nnef" else f"model.{info['fmt']}")
    return Model(folder.relative_to(root).as_posix(), folder, path, info)


def _promise(info: Mapping[str, Any], path: Path) -> str:
    """The kind of a model's promise, from the operators and types that it has."""
    ops = " ".join(info["ops"])
    if info["fmt"] == "nnef":
        return "steps" if (path / "graph.quant").exists() else "floats"
    if info["fmt"] == "onnx":
        kinds = {"ai.onnx.ml": "classical", "QLinear": "bits", "QuantizeLinear": "meaning"}
        return next((promise for part, promise in kinds.items() if part in ops), "floats")
    if "Detection_PostProcess" in ops:
        return "floats"
    if info["hybrid_ops"]:
        return "hybrid"
    types = {*info["weights_by_type"], *(end["dtype"] for end in (*info["inputs"], *info["outputs"]))}
    return "floats" if types & {"float32", "float16"} and not types & {"int8", "uint8", "int16"} else "bits"
