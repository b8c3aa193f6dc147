"""Quantizers of others, where they are installed: the same model and samples, run by the runtime they are made for."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tool:
    """quantized: (float model, samples, folder to write to) -> the quantized file; run: (file, inputs) -> outputs."""

    name: str
    quantized: Callable[[Path, np.ndarray, Path], Path]
    run: Callable[[Path, np.ndarray], np.ndarray]


def tools() -> Iterator[Tool]:
    """The tools that are installed."""
    if importlib.util.find_spec("onnxruntime"):
        for method in ("MinMax", "Percentile"):
            yield Tool(f"ONNX Runtime, {method}", _with_onnxruntime(method), run_onnx)
    if importlib.util.find_spec("ai_edge_quantizer"):
        yield Tool("AI Edge Quantizer", _with_ai_edge, run_tflite)


def run_onnx(path: Path, x: np.ndarray) -> np.ndarray:
    """The first output of a model for inputs [n, ...].

    Node by node as the file has them: fused integer kernels saturate on processors without VNNI, which says nothing of
    the quantizer.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = model.get_inputs()[0]
    at_once = given.shape[0] if isinstance(given.shape[0], int) else 200
    return np.concatenate([model.run(None, {given.name: x[k : k + at_once]})[0] for k in range(0, len(x), at_once)])


def run_tflite(path: Path, x: np.ndarray) -> np.ndarray:
    """The first output of a .tflite for inputs given as the .onnx takes them."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path), num_threads=2)
    interpreter.allocate_tensors()
    given, made = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    found = []
    for sample in _channels_last(x):
        interpreter.set_tensor(given["index"], _stored(sample[None], given).reshape(given["shape"]))
        interpreter.invoke()
        y = interpreter.get_tensor(made["index"])
        scale, zero = made["quantization"]
        found.append(y if made["dtype"] == np.float32 else (y.astype(np.float32) - zero) * np.float32(scale))
    return np.concatenate(found)


def _stored(x: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    if given["dtype"] == np.float32:
        return x.astype(np.float32)
    scale, zero = given["quantization"]
    return np.clip(np.round(x / np.float32(scale)) + zero, -128, 127).astype(given["dtype"])


def _channels_last(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x


def _with_onnxruntime(method: str) -> Callable[[Path, np.ndarray, Path], Path]:
    def quantized(path: Path, samples: np.ndarray, folder: Path) -> Path:
        from onnxruntime import quantization as q
        from onnxruntime.quantization.shape_inference import quant_pre_process

        ready, made = folder / "ready.onnx", folder / f"{path.stem}_{method}.onnx"
        quant_pre_process(str(path), str(ready), skip_symbolic_shape=True)
        q.quantize_static(
            str(ready),
            str(made),
            _Reader(ready, samples),
            quant_format=q.QuantFormat.QDQ,
            activation_type=q.QuantType.QInt8,
            weight_type=q.QuantType.QInt8,
            per_channel=True,
            calibrate_method=getattr(q.CalibrationMethod, method),
        )
        return made

    return quantized


class _Reader:
    """A reader that gives ONNX Runtime the samples one by one."""

    def __init__(self, path: Path, samples: np.ndarray) -> None:
        import onnx

        self._name = onnx.load(path).graph.input[0].name
        self._left = iter(samples)

    def get_next(self) -> dict[str, np.ndarray] | None:
        sample = next(self._left, None)
        return None if sample is None else {self._name: sample[None]}

    def __iter__(self) -> _Reader:
        return self


def _with_ai_edge(path: Path, samples: np.ndarray, folder: Path) -> Path:
    from ai_edge_quantizer import quantizer, recipe

    float_path = path.with_suffix(".tflite")
    tool = quantizer.Quantizer(str(float_path), recipe.static_wi8_ai8())
    signature = _signature(float_path)
    data = {signature[0]: [{signature[1]: sample[None]} for sample in _channels_last(samples)]}
    made = folder / f"{path.stem}_ai_edge.tflite"
    made.write_bytes(bytes(tool.quantize(tool.calibrate(data)).quantized_model))
    return made


def _signature(path: Path) -> tuple[str, str]:
    from ai_edge_litert.interpreter import Interpreter

    name, entry = next(iter(Interpreter(model_path=str(path)).get_signature_list().items()))
    return name, entry["inputs"][0]
