# SPDX-License-Identifier: Apache-2.0
"""A judge of quantized ONNX models that needs no runtime: every operator in exact arithmetic, from its text alone.

It says which stored integers are right: the exact real value, rounded once by QuantizeLinear, halves to even. Where
floats compute what is quantized (functions, means of windows, and what mcugen notes as a float island), it says which
integers float32 can come to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from tests.random import exact_linear, exact_nodes
from tests.random.exact import Real, real

OPERATORS = {**exact_nodes.OPERATORS, **exact_linear.OPERATORS}
Values = dict[str, Real]


class Machine:
    """Values and element types by name, as nodes are computed one after the other."""

    def __init__(self, *, near: bool) -> None:
        self.near = near
        self.values: Values = {}
        self.dtypes: dict[str, str] = {}

    def give(self, name: str, array: np.ndarray) -> None:
        self.values[name], self.dtypes[name] = real(array), array.dtype.name

    def node(self, proto: onnx.NodeProto) -> None:
        operands = [self.values[name] if name else None for name in proto.input]
        dtypes = [self.dtypes[name] if name else "" for name in proto.input]
        found = OPERATORS[proto.op_type](exact_nodes.Node(proto, operands, dtypes, self.near))
        results = found if isinstance(found, list) else [found]
        for name, value, dtype in zip(proto.output, results, result_types(proto, dtypes), strict=False):
            self.values[name], self.dtypes[name] = value, dtype


def result_types(proto: onnx.NodeProto, dtypes: Sequence[str]) -> list[str]:
    """The element types of a node's results."""
    kind = proto.op_type
    if kind == "QuantizeLinear":
        return [dtypes[2] if len(dtypes) > 2 and dtypes[2] else "uint8"]
    if kind == "DynamicQuantizeLinear":
        return ["uint8", "float32", "uint8"]
    if kind in ("MatMulInteger", "ConvInteger"):
        return ["int32"]
    if kind == "QLinearConcat":
        return [dtypes[2]]
    if kind in ("DequantizeLinear", "Cast"):
        return ["float32"]
    return [dtypes[0]]


def values(model: onnx.ModelProto, inputs: Sequence[np.ndarray], *, near: bool) -> Machine:
    """All values of a model. near: as float32 arithmetic can come to them."""
    machine = Machine(near=near)
    for tensor in model.graph.initializer:
        machine.give(tensor.name, numpy_helper.to_array(tensor))
    for value, array in zip(model.graph.input, inputs, strict=True):
        machine.give(value.name, array)
    for proto in model.graph.node:
        machine.node(proto)
    return machine


def difference(model: onnx.ModelProto, machine: Machine, outputs: Sequence[np.ndarray]) -> str:
    """The first output that is not right, "" where all are."""
    for value, array in zip(model.graph.output, outputs, strict=True):
        want, got = machine.values[value.name], np.asarray(array)
        if got.shape != want.shape:
            return f"{value.name}: shape {list(got.shape)} is not {list(want.shape)}"
        wrong = _outside(got, want)
        if wrong.any():
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            low, high = want.low[at], want.high[at]
            said = f"{float(low):g}" if low == high else f"{float(low):g} to {float(high):g}"
            return f"{value.name}{list(at)} is {got[at]}, right is {said} ({int(wrong.sum())} of {wrong.size} differ)"
    return ""


def _outside(got: np.ndarray, want: Real) -> np.ndarray:
    exact = want.centre if want.radius is None else None
    if got.dtype.kind != "f":
        stored = got.astype(object)
        return (
            np.asarray((stored < want.low) | (stored > want.high), bool)
            if exact is None
            else np.asarray(stored != exact, bool)
        )
    size = float(max([1, *(abs(v) for v in want.centre.flat)]))
    return np.asarray(
        (got < want.low.astype(float) - 1e-5 * size) | (got > want.high.astype(float) + 1e-5 * size), bool
    )
