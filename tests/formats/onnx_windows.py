# SPDX-License-Identifier: Apache-2.0
"""Layers whose shapes, places and axes ONNX Runtime decides: Resize at broken scales, auto_pad SAME at odd windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Layer = tuple[str, int, tuple[int, ...], Mapping[str, Any], Mapping[str, np.ndarray]]
"""The operator, its version, the shape of the data, attributes, and the constants behind the data."""

_PLACES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_SAME = ("SAME_UPPER", "SAME_LOWER")


def _resize(mode: str, size: int, scale: float, places: str, opset: int = 18, **rest: Any) -> Layer:
    attributes = {"mode": mode, "coordinate_transformation_mode": places, "extrapolation_value": 7.5, **rest}
    roi = np.float32([0, 0, 0, -0.2, 1, 1, 1, 1.1])
    scales = np.float32([1, 1, 1, scale])
    return "Resize", opset, (1, 1, 2, size), attributes, {"roi": roi, "scales": scales}


def _pool(kind: str, size: int, kernel: int, stride: int, dilation: int, pad: str) -> Layer:
    attributes = {"kernel_shape": [kernel], "strides": [stride], "dilations": [dilation], "auto_pad": pad}
    return kind, 22, (1, 2, size), attributes, {}


def _transposed(rank: int, kernel: int, stride: int, dilation: int, pad: str) -> Layer:
    window = {"strides": [stride] * rank, "dilations": [dilation] * rank, "auto_pad": pad}
    weights = np.random.default_rng(3).normal(size=(2, 1, *[kernel] * rank)).astype(np.float32)
    return "ConvTranspose", 22, (1, 2, *[3] * rank), window, {"w": weights}


def layers() -> dict[str, Layer]:
    found = {}
    for scale in (0.3, 0.7, 0.9, 1.05, 1.2, 1.3, 2.3, 2.9):
        for k, places in enumerate(_PLACES):
            size = 10 + 7 * k
            for rounding in _NEAREST:
                found[f"nearest {rounding} {size} {scale} {places}"] = _resize(
                    "nearest", size, scale, places, nearest_mode=rounding
                )
            found[f"linear {size} {scale} {places}"] = _resize("linear", size, scale, places)
            found[f"cubic {size} {scale} {places}"] = _resize("cubic", size, scale, places, cubic_coeff_a=-0.75)
            found[f"antialias {size} {scale} {places}"] = _resize("linear", size, scale, places, antialias=1)
    for mode in ("linear", "cubic"):
        for places in _PLACES[:2]:
            found[f"one {mode} {places}"] = _resize(mode, 7, 0.2, places, antialias=1)
    for pad in _SAME:
        for kernel, stride, dilation in ((2, 1, 3), (2, 3, 2), (1, 3, 1), (3, 5, 1), (2, 4, 3)):
            for kind in ("LpPool", *(("MaxPool", "AveragePool") if dilation > 1 else ())):
                name = f"{kind} {kernel} {stride} {dilation} {pad}"
                found[name] = _pool(kind, 11, kernel, stride, dilation, pad)
        for rank, kernel, stride, dilation in ((1, 2, 3, 1), (2, 1, 3, 1), (2, 2, 3, 2), (2, 3, 2, 1), (3, 1, 2, 1)):
            found[f"ConvTranspose {rank} {kernel} {stride} {dilation} {pad}"] = _transposed(
                rank, kernel, stride, dilation, pad
            )
    for shape in ((2, 3), (2, 3, 4), (2, 3, 4, 5)):
        found[f"MeanVarianceNormalization {len(shape)}"] = "MeanVarianceNormalization", 13, shape, {}, {}
    return found


def model(layer: Layer) -> tuple[onnx.ModelProto, np.ndarray]:
    """The layer alone, and data for it; the file does not declare the result's shape."""
    kind, opset, shape, attributes, constants = layer
    node = helper.make_node(kind, ["x", *constants], ["y"], **attributes)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None))]
    held = [numpy_helper.from_array(data, name) for name, data in constants.items()]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], held)
    data = np.random.default_rng(1).permutation(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), data
