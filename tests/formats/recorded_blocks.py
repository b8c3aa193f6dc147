# SPDX-License-Identifier: Apache-2.0
"""Products of floats with weights of 2, 4 and 8 bits in blocks, as ONNX Runtime's tools and ONNX itself write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VECTORS, DOMAIN = 3, "com.microsoft"
PACKED = {4: TensorProto.UINT4, 8: TensorProto.UINT8, -4: TensorProto.INT4, -8: TensorProto.INT8}
"""Bits, negative if signed, and the element type of DequantizeLinear."""


def in_bytes(values: np.ndarray, bits: int) -> np.ndarray:
    """Unsigned integers [rows, n], each row in whole bytes, the first in the lowest bits."""
    each = 8 // bits
    groups = np.pad(values, ((0, 0), (0, -values.shape[1] % each))).reshape(len(values), -1, each)
    return (groups.astype(np.int64) << (bits * np.arange(each))).sum(axis=2).astype(np.uint8)


class Blocks:
    """A model of one product, its input, and the constants of its file, which tests may change before `model`.

    length, outputs, block: of the product. real: the real weights [outputs, length].
    """

    def __init__(self, length: int, outputs: int, block: int, bits: int, *, zeros: bool = False, seed: int = 0) -> None:
        self.length, self.outputs, self.block, self.bits = length, outputs, block, bits
        rng = np.random.default_rng(seed)
        count, least = -(-length // block), 0 if bits > 0 else -(1 << (-bits - 1))
        self.q = rng.integers(least, least + (1 << abs(bits)), (outputs, count * block))
        self.q[:, length:] = 0
        self.zeros = rng.integers(least, least + (1 << abs(bits)), (outputs, count)) if zeros else None
        sign = rng.choice([-1.0, 1.0], (outputs, count))
        self.scales = (sign * rng.uniform(0.01, 0.1, (outputs, count))).astype(np.float32)
        self.x = rng.normal(0, 1, (VECTORS, length)).astype(np.float32)
        self.more: dict[str, np.ndarray] = {}
        self.attributes: dict[str, Any] = {}

    @property
    def real(self) -> np.ndarray:
        default = 1 << (self.bits - 1) if self.bits > 0 and not hasattr(self, "axis") else 0
        zeros = np.full(self.scales.shape, default) if self.zeros is None else self.zeros
        spread = [np.repeat(v, self.block, axis=1).astype(np.float64) for v in (zeros, self.scales)]
        return np.asarray((self.q - spread[0]) * spread[1])[:, : self.length]

    def constants(self) -> dict[str, np.ndarray]:
        found = {"q": in_bytes(self.q, self.bits).reshape(*self.scales.shape, -1), "s": self.scales.reshape(-1)}
        if self.zeros is not None:
            found["z"] = in_bytes(self.zeros, self.bits).reshape(-1)
        return {**found, **self.more}

    def model(self) -> onnx.ModelProto:
        """MatMulNBits."""
        given = self.constants()
        names = [n if n in given or n == "x" else "" for n in ("x", "q", "s", "z", "g", "b")]
        stated = {"K": self.length, "N": self.outputs, "bits": self.bits, "block_size": self.block, **self.attributes}
        node = helper.make_node("MatMulNBits", names, ["y"], "product", domain=DOMAIN, **stated)
        return self._of([node], [numpy_helper.from_array(v, k) for k, v in given.items()])

    def _of(self, nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto]) -> onnx.ModelProto:
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [VECTORS, size])
            for name, size in (("x", self.length), ("y", self.outputs))
        ]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
        versions = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)


class Dequantized(Blocks):
    """A product with DequantizeLinear. axis: of the blocks in the matrix; gemm: whether a Gemm reads it."""

    def __init__(self, *sizes: int, axis: int, gemm: bool = False, **more: Any) -> None:
        super().__init__(*sizes, **more)
        self.axis, self.gemm = axis, gemm

    def model(self) -> onnx.ModelProto:
        """DequantizeLinear, then Gemm, MatMul, or MatMul of the transposed matrix."""
        turned = self.axis == 0
        arrays = {"q": self.q[:, : self.length], "s": self.scales, "z": self.zeros}
        given = {k: v.T if turned else v for k, v in arrays.items() if v is not None}
        kinds = {"q": PACKED[self.bits], "s": TensorProto.FLOAT, "z": PACKED[self.bits]}
        constants = [helper.make_tensor(k, kinds[k], v.shape, v.reshape(-1).tolist()) for k, v in given.items()]
        stated = {"axis": self.axis, "block_size": self.block}
        nodes = [helper.make_node("DequantizeLinear", list(given), ["w"], "real", **stated)]
        if self.gemm:
            nodes.append(helper.make_node("Gemm", ["x", "w"], ["y"], "product", transB=int(not turned)))
        elif turned:
            nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"], "product"))
        else:
            nodes.append(helper.make_node("Transpose", ["w"], ["t"], "turned", perm=[1, 0]))
            nodes.append(helper.make_node("MatMul", ["x", "t"], ["y"], "product"))
        return self._of(nodes, constants)


MODELS: Mapping[str, Callable[[], Blocks]] = {
    "4 bits": lambda: Blocks(64, 5, 32, 4),
    "4 bits, zero points": lambda: Blocks(64, 5, 16, 4, zeros=True),
    "4 bits, a part of a block": lambda: Blocks(50, 3, 16, 4, zeros=True),
    "8 bits": lambda: Blocks(64, 5, 32, 8),
    "8 bits, zero points": lambda: Blocks(40, 5, 16, 8, zeros=True),
    "2 bits": lambda: Blocks(64, 3, 32, 2),
    "2 bits, zero points": lambda: Blocks(32, 3, 16, 2, zeros=True),
    "u4 along axis 0": lambda: Dequantized(64, 5, 32, 4, axis=0, zeros=True),
    "s4 along axis 1": lambda: Dequantized(64, 5, 16, -4, axis=1),
    "s8 in a Gemm": lambda: Dequantized(48, 5, 16, -8, axis=0, gemm=True, zeros=True),
    "u8 in a Gemm": lambda: Dequantized(48, 5, 16, 8, axis=1, gemm=True, zeros=True),
}


def made(name: str) -> tuple[onnx.ModelProto, np.ndarray]:
    """A model and its input."""
    found = MODELS[name]()
    return found.model(), found.x
