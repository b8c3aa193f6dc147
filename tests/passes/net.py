# SPDX-License-Identifier: Apache-2.0
"""Writes small networks for the passes, and compares graphs with the imported ones that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

import numpy as np

from mcugen import passes
from mcugen.formats import registry
from mcugen.formats.read import load
from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

SCALE = 0.05


def read(data: bytes, folder: Path) -> Graph:
    (folder / "m.tflite").write_bytes(data)
    return load(folder / "m.tflite", registry.load())


def differences(before: Graph, after: Graph, which: str) -> list[str]:
    """Tensors of `after` that are not what they stand for, and constants that are not, for drawn and extreme inputs."""
    found: list[str] = []
    for case in cases(before, 2):
        wanted = interpreter.run(before, case.inputs, which)
        got = interpreter.run(after, case.inputs, which)
        for name, tensor in after.tensors.items():
            origin = tensor.origin
            if tensor.is_constant or origin is None:
                continue
            right = origin.stored_part(wanted[origin.tensor]).reshape(tensor.type.shape)
            if not np.array_equal(right, got[name] + origin.offset if origin.offset else got[name], equal_nan=True):
                found.append(f"{case.name}: {name}")
            found += [
                f"{case.name}: {name} {c}" for c, v in origin.constant if (wanted[origin.tensor][..., c] != v).any()
            ]
    return found


class Net:
    """Writes a network layer by layer; int8 but where `dtype` says otherwise."""

    def __init__(self, channels: int = 2, size: int = 4, dtype: str = "s8") -> None:
        self.m, self.dtype, self.rng = ModelWriter(), dtype, np.random.default_rng(5)
        self.x = self.tensor((1, size, size, channels), 0)
        self.shape: dict[int, tuple[int, ...]] = {self.x: (1, size, size, channels)}

    def tensor(self, shape: tuple[int, ...], zero: int, scale: float = SCALE) -> int:
        if self.dtype == "f32":
            return self.m.tensor("t", shape, "f32")
        return self.m.tensor("t", shape, self.dtype, scale=scale, zero_point=zero)

    def result(self, shape: tuple[int, ...], zero: int) -> int:
        made = self.tensor(shape, zero)
        self.shape[made] = shape
        return made

    def weights(self, shape: tuple[int, ...], axis: int, zeros: Mapping[int, Set[int]]) -> tuple[np.ndarray, int]:
        """Random weights, none of them zero but at the planted indices; zeros: axis -> indices."""
        w = self.rng.integers(1, 40, shape) * self.rng.choice((-1, 1), shape)
        for at, indices in zeros.items():
            np.moveaxis(w, at, 0)[list(indices)] = 0
        if self.dtype == "f32":
            return w, self.m.tensor("w", shape, "f32", data=w.astype(np.float32))
        count = shape[axis]
        scale, zero = [0.01] * count, [0] * count
        return w, self.m.tensor("w", shape, "s8", scale=scale, zero_point=zero, axis=axis, data=w)

    def bias(self, values: list[int]) -> int:
        if self.dtype == "f32":
            return self.m.tensor("b", (len(values),), "f32", data=np.array(values, np.float32))
        dtype = "s64" if self.dtype == "s16" else "s32"
        quant = {"scale": [SCALE * 0.01] * len(values), "zero_point": [0] * len(values)}
        return self.m.tensor("b", (len(values),), dtype, **quant, data=np.array(values))

    def conv(
        self, x: int, bias: list[int], fixed: Set[int] = frozenset(), unread: Set[int] = frozenset(),
        size: int = 1, padding: str = "VALID", zero: int = 0, groups: int = 1,
    ) -> int:  # fmt: skip
        """A convolution whose `fixed` results are their bias, and that does not read the `unread` channels."""
        n, h, w, c = self.shape[x]
        side = (h, w) if padding == "SAME" else (h - size + 1, w - size + 1)
        weights = self.weights((len(bias), size, size, c // groups), 0, {0: fixed, 3: unread})[1]
        y = self.result((n, *side, len(bias)), zero)
        options = {"padding": padding, "stride_h": 1, "stride_w": 1}
        self.m.op("CONV_2D", [x, weights, self.bias(bias)], [y], options)
        return y

    def depthwise(self, x: int, bias: list[int], size: int, padding: str, zeros: Set[int], zero: int = 0) -> int:
        n, h, w, c = self.shape[x]
        side = (h, w) if padding == "SAME" else (h - size + 1, w - size + 1)
        weights = self.weights((1, size, size, c), 3, {3: zeros})[1]
        y = self.result((n, *side, c), zero)
        options = {"padding": padding, "stride_h": 1, "stride_w": 1, "depth_multiplier": 1}
        self.m.op("DEPTHWISE_CONV_2D", [x, weights, self.bias(bias)], [y], options)
        return y

    def op(self, name: str, inputs: list[int], shape: tuple[int, ...], zero: int = 0, **options: object) -> int:
        y = self.result(shape, zero)
        self.m.op(name, inputs, [y], options)
        return y

    def dense(self, x: int, outputs: int, columns: Set[int]) -> int:
        """A fully connected layer that does not read the given columns."""
        size = int(np.prod(self.shape[x]))
        weights = self.weights((outputs, size), 0, {1: columns})[1]
        return self.op("FULLY_CONNECTED", [x, weights, self.bias([3] * outputs)], (1, outputs))

    def build(self, *outputs: int) -> bytes:
        return self.m.build([self.x], list(outputs))


def kept(graph: Graph, index: int) -> tuple[int, ...] | None:
    """The channels that are left of imported tensor `index`; None where it is whole."""
    found = [
        t.origin for t in graph.tensors.values() if t.origin and t.origin.tensor == f"t{index}" and not t.is_constant
    ]
    assert len(found) == 1
    return found[0].kept


def simplified(data: bytes, folder: Path, which: str = "tflm") -> Graph:
    before = read(data, folder)
    after = passes.run(before, which)
    assert differences(before, after, which) == []
    return after
