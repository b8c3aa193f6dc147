# SPDX-License-Identifier: Apache-2.0
"""A quantized ONNX model under construction: stored values, and the real ones of a first input, by the judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.random.exact_judge import Machine
from tests.random.exact_nodes import LIMITS

BYTES = ("int8", "uint8")
SETS = 3
"""Input sets: over the whole range, its ends in turn, and few different values."""
_LEAST, _MOST = 1e-6, 1e3
"""Scales are between these, but for results that are much smaller or larger."""

_INFINITE = 2.0**100
"""The judge has quotients by zero, and what follows from them, as numbers from about here."""
MOST_ELEMENTS = 200


@dataclass(frozen=True)
class Stored:
    """A stored tensor: its name, its element type, and the constants that hold its scale and its zero point."""

    name: str
    dtype: str
    scale: float
    zero: int
    parameters: tuple[str, str]


class Sketch:
    """Appends nodes, and computes each on the first input set to draw scales that fit its results."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.rng = np.random.default_rng([19, seed])
        self.dtype = dtype
        self.opset = int(self.pick((21, 21, 19, 17, 13) if dtype in BYTES else (21, 22)))
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.feeds: list[list[np.ndarray]] = [[] for _ in range(SETS)]
        self.stored: list[Stored] = []
        self.floats: list[str] = []
        self.machine = Machine(near=False)
        self.read: set[str] = set()

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.machine.values[name].shape

    def constant(self, data: Any, dtype: Any = np.float32) -> str:
        name, array = f"c{len(self.constants)}", np.asarray(data, dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        self.machine.give(name, array)
        return name

    def node(self, kind: str, inputs: Sequence[str], results: int = 1, domain: str = "", **attributes: Any) -> str:
        """Append a node; the name of its first result."""
        names = [f"v{len(self.nodes)}", *(f"v{len(self.nodes)}_{k}" for k in range(1, results))]
        proto = helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        self.machine.node(proto)
        self.nodes.append(proto)
        self.read |= set(inputs)
        return names[0]

    def zero(self, dtype: str) -> int:
        low, high = LIMITS[dtype]
        return int(
            self.pick((low, high, (low + high + 1) // 2, 0, *self.rng.integers(low, high, 4, endpoint=True).tolist()))
        )

    def parameters(self, dtype: str, scale: float, zero: int) -> tuple[str, str]:
        return self.constant(scale), self.constant(zero, dtype)

    def spread(self, dtype: str) -> float:
        """The number of steps in half of the range."""
        return (LIMITS[dtype][1] - LIMITS[dtype][0]) / 2

    def input(self, shape: Sequence[int], dtype: str | None = None) -> Stored:
        """An input of stored integers."""
        dtype = dtype or self.dtype
        name = f"x{len(self.inputs)}"
        low, high = LIMITS[dtype]
        kind = np.dtype(dtype)
        few = self.rng.integers(low, high, 3)
        data = [
            self.rng.integers(low, high, shape, endpoint=True).astype(kind),
            self.rng.choice(np.array([low, high]), shape).astype(kind),
            self.rng.choice(few, shape).astype(kind),
        ]
        self._add_input(name, data)
        scale = self.scale(10 ** self.rng.uniform(-6, 3) if self.chance(0.2) else 10 ** self.rng.uniform(-3, -0.5))
        zero = self.zero(dtype)
        self.stored.append(Stored(name, dtype, scale, zero, self.parameters(dtype, scale, zero)))
        return self.stored[-1]

    def float_input(self, shape: Sequence[int]) -> str:
        name = f"x{len(self.inputs)}"
        data = [(self.rng.normal(0, 1, shape) * size).astype(np.float32) for size in (1.0, 10.0, 0.1)]
        self._add_input(name, data)
        self.floats.append(name)
        return name

    def _add_input(self, name: str, data: Sequence[np.ndarray]) -> None:
        kind = helper.np_dtype_to_tensor_dtype(data[0].dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, data[0].shape))
        for arrays, array in zip(self.feeds, data, strict=True):
            arrays.append(array)
        self.machine.give(name, data[0])

    def scale(self, wanted: float) -> float:
        """A float32 near the wanted number, now and then a power of two."""
        if self.chance(0.15):
            wanted = 2.0 ** round(math.log2(wanted))
        return float(np.float32(wanted))

    def most(self, name: str) -> float:
        """The largest magnitude in a tensor, but for quotients by zero: no quantizer fits a scale to an infinity."""
        values = (abs(float(v)) for v in self.machine.values[name].centre.flat)
        return max((v for v in values if v < _INFINITE), default=0.0)

    def result_scale(self, name: str, dtype: str) -> float:
        """A scale that fits the real values of a tensor, or is finer or coarser than that."""
        most = self.most(name) or 1.0
        how = self.rng.random()
        power = (
            self.rng.uniform(-0.3, 0.3)
            if how < 0.6
            else self.rng.uniform(-4, -0.5)
            if how < 0.8
            else self.rng.uniform(0.5, 3)
        )
        wanted = most / self.spread(dtype) * 10**power
        return self.scale(min(max(wanted, _LEAST), max(_MOST, wanted if how < 0.6 else 0)))

    def quantize(self, name: str, dtype: str | None = None, like: Stored | None = None) -> Stored:
        """QuantizeLinear of a float tensor, with parameters of its own or those of another one."""
        found = like or self._fitting(name, dtype or self.dtype)
        stored = self.node("QuantizeLinear", [name, *found.parameters])
        self.stored.append(Stored(stored, found.dtype, found.scale, found.zero, found.parameters))
        return self.stored[-1]

    def _fitting(self, name: str, dtype: str) -> Stored:
        scale, zero = self.result_scale(name, dtype), self.zero(dtype)
        return Stored("", dtype, scale, zero, self.parameters(dtype, scale, zero))

    def real(self, value: Stored) -> str:
        return self.node("DequantizeLinear", [value.name, *value.parameters])

    def linear(
        self,
        kind: str,
        operands: Sequence[str],
        before: Callable[[], str],
        dtype: str,
        after: Sequence[str] = (),
        *,
        first: bool = False,
        domain: str = "com.microsoft",
        **attributes: Any,
    ) -> Stored:
        """An operator on stored integers. before: makes the floats whose range the result's scale is to fit, and whose
        nodes are taken back.
        """
        count = len(self.nodes)
        own = self._fitting(before(), dtype)
        del self.nodes[count:]
        given = [*own.parameters, *operands] if first else [*operands, *own.parameters]
        name = self.node(kind, [*given, *after], domain=domain, **attributes)
        self.stored.append(Stored(name, dtype, own.scale, own.zero, own.parameters))
        return self.stored[-1]

    def value(self, rank: int, dtypes: Sequence[str] = (), shape: Sequence[int] | None = None) -> Stored:
        """A stored tensor of this rank (and shape) that is there, most often; else a new input."""
        fitting = [
            v
            for v in self.stored
            if len(self.shape_of(v.name)) == rank
            and (not dtypes or v.dtype in dtypes)
            and (shape is None or self.shape_of(v.name) == tuple(shape))
        ]
        if fitting and self.chance(0.9):
            return fitting[-1] if self.chance(0.6) else self.pick(fitting)
        return self.input(shape or self.shape(rank), self.dtype if not dtypes or self.dtype in dtypes else dtypes[0])

    def shape(self, rank: int) -> tuple[int, ...]:
        while True:
            sizes = tuple(int(self.pick((1, 2, 3, 4, 5, 7, 8))) for _ in range(rank))
            found = (int(self.pick((1, 1, 1, 2))), *sizes[1:]) if rank > 2 else sizes
            if math.prod(found) <= MOST_ELEMENTS:
                return found

    def model(self) -> onnx.ModelProto:
        """The model, whose outputs are the results that nothing reads, or all that are stored."""
        made = {name for node in self.nodes for name in node.output}
        results = [v.name for v in self.stored if v.name in made]
        ends = results if self.chance(0.5) else [name for name in results if name not in self.read]
        ends = ends or [self.nodes[-1].output[0]]
        outputs = [self._output(name) for name in dict.fromkeys(ends)]
        used = {name for node in self.nodes for name in node.input}
        constants = [c for c in self.constants if c.name in used]
        inputs = [value for value in self.inputs if value.name in used]
        keep = [k for k, value in enumerate(self.inputs) if value.name in used]
        self.feeds = [[arrays[k] for k in keep] for arrays in self.feeds]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _output(self, name: str) -> onnx.ValueInfoProto:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.machine.dtypes[name]))
        return helper.make_tensor_value_info(name, kind, self.shape_of(name))


Draw = Callable[[Sketch], None]
Kinds = Mapping[str, Draw]
