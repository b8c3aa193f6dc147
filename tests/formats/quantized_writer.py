# SPDX-License-Identifier: Apache-2.0
"""Puts small quantized ONNX models together, with random parameters and inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

TYPES: Mapping[str, tuple[Any, int, int]] = {
    "s8": (np.int8, -128, 127),
    "u8": (np.uint8, 0, 255),
    "s16": (np.int16, -32768, 32767),
}


@dataclass(frozen=True)
class Quantized:
    """A value with its scale, zero point and element type; the names of the constants that hold them."""

    name: str
    scale: float
    zero: int
    dtype: str
    parameters: tuple[str, str]


@dataclass
class Writer:
    """Appends nodes on quantized values. floats: values that QuantizeLinear makes begin as floats."""

    seed: int
    opset: int = 21
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def constant(self, data: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(data, dtype), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        domain = attributes.pop("domain", "")
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def parameters(self, dtype: str, scale: Any = None, zero: Any = None) -> tuple[float, int, tuple[str, str]]:
        kind, low, high = TYPES[dtype]
        scale = float(self.rng.uniform(0.01, 0.1)) if scale is None else scale
        zero = int(self.rng.integers(low // 2, high // 2)) if zero is None else zero
        return scale, zero, (self.constant(scale), self.constant(zero, kind))

    def input(self, shape: Sequence[int], dtype: str = "s8", scale: Any = None, zero: Any = None) -> Quantized:
        name = f"x{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[dtype][0]))
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        found = self.parameters(dtype, scale, zero)
        return Quantized(name, found[0], found[1], dtype, found[2])

    def drawn(self, shape: Sequence[int], dtype: str = "s8") -> np.ndarray:
        kind, low, high = TYPES[dtype]
        return self.rng.integers(max(low, -127), high, shape, endpoint=True).astype(kind)

    def dequantized(self, q: Quantized) -> str:
        return self.node("DequantizeLinear", [q.name, *q.parameters])

    def weights(
        self, shape: Sequence[int], axis: int | None = 0, dtype: str = "s8", zero: int = 0
    ) -> tuple[str, np.ndarray]:
        """Dequantized weights and their scales, one for each index of an axis (None: one)."""
        count = 1 if axis is None else shape[axis]
        scales = self.rng.uniform(0.002, 0.02, count).astype(np.float32)
        data, kind = self.constant(self.drawn(shape, dtype), TYPES[dtype][0]), TYPES[dtype][0]
        if axis is None:
            return self.node("DequantizeLinear", [data, self.constant(scales[0]), self.constant(zero, kind)]), scales
        zeros = self.constant(np.full(count, zero), kind)
        return self.node("DequantizeLinear", [data, self.constant(scales), zeros], axis=axis), scales

    def bias(self, x: Quantized, scales: np.ndarray, count: int, most: int = 3000) -> str:
        data = self.constant(self.rng.integers(-most, most, count), np.int32)
        sums = np.float32(x.scale) * np.broadcast_to(scales, (count,))
        return self.node(
            "DequantizeLinear", [data, self.constant(sums), self.constant(np.zeros(count), np.int32)], axis=0
        )

    def quantized(self, value: str, dtype: str = "s8", scale: Any = None, zero: Any = None) -> Quantized:
        found = self.parameters(dtype, scale, zero)
        return Quantized(self.node("QuantizeLinear", [value, *found[2]]), found[0], found[1], dtype, found[2])

    def model(self, output: Quantized) -> onnx.ModelProto:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[output.dtype][0]))
        result = helper.make_tensor_value_info(output.name, kind, None)
        graph = helper.make_graph(self.nodes, "g", self.inputs, [result], self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def data(self, sets: int) -> list[list[np.ndarray]]:
        """Input sets over the whole range of the types."""
        rng = np.random.default_rng(self.seed + 1)
        found = []
        for _ in range(sets):
            arrays = []
            for value in self.inputs:
                t = value.type.tensor_type
                info = np.iinfo(helper.tensor_dtype_to_np_dtype(t.elem_type))
                shape = [d.dim_value for d in t.shape.dim]
                arrays.append(rng.integers(info.min, info.max, shape, info.dtype, endpoint=True))
            found.append(arrays)
        return found
