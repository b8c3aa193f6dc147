"""The graph of ONNX operators under construction. Its tensors still have the axis orders of the graph to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.formats._nodes import constant_type
from mcugen.formats.onnx.write._operator import OnnxOperator
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose

_QUANTIZED = ("s8", "u8", "s16")
"""The element types that QuantizeLinear produces."""
_UNKNOWN = ("u32", "u64", "s2")


class OnnxSink:
    """A `mcugen.ir.writes.Sink`. Transpose and Reshape stay mcugen's operators, since `follow_orders` handles these."""

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}
        self._nodes: list[Node] = []
        self._known: dict[tuple[TensorType, bytes], str] = {}

    def type(self, name: str) -> TensorType:
        return self._tensors[name].type

    def data(self, name: str) -> np.ndarray | None:
        return self._tensors[name].data

    def value(self, t: TensorType) -> str:
        """A new value that is computed at run time, or an input."""
        if t.dtype in _UNKNOWN:
            raise UnsupportedError(f"values of type {t} cannot be written as .onnx")
        return self._add(t, None)

    def stand_in(self, t: TensorType) -> str:
        return self._add(t, None)

    def constant_of(self, t: TensorType, data: np.ndarray) -> str:
        """A constant of that type; equal constants are stored once."""
        key = t, data.tobytes()
        if key not in self._known:
            self._known[key] = self._add(t, np.ascontiguousarray(data).reshape(t.shape))
        return self._known[key]

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        data = np.asarray(data)
        return self.constant_of(constant_type(data, quant, "onnx"), data)

    def operator(
        self,
        name: str,
        inputs: Sequence[str | None],
        outputs: Sequence[TensorType],
        attributes: Mapping[str, Any] = MappingProxyType({}),
        version: int = 1,
    ) -> Sequence[str]:
        op: Op = OnnxOperator(name, dict(attributes))
        if name in ("Transpose", "Reshape"):
            op = Transpose(tuple(attributes["perm"])) if name == "Transpose" else Reshape(tuple(attributes["shape"]))
            data = self.data(str(inputs[0]))
            if data is not None:
                return [self.constant_of(outputs[0], np.asarray(op.reference(data)))]
        for t in outputs:
            if t.dtype in _UNKNOWN or (t.quant is not None and t.dtype not in _QUANTIZED and name != "Stored"):
                raise UnsupportedError(f"results of type {t} cannot be written as .onnx")
        results = [self.value(t) for t in outputs]
        self._nodes.append(Node(f"n{len(self._nodes)}", op, tuple(inputs), tuple(results)))
        return results

    def label(self, name: str, wanted: str) -> None:
        """Give a value a label, if it has none yet."""
        tensor = self._tensors[name]
        if not tensor.label:
            self._tensors[name] = replace(tensor, label=wanted)

    def graph(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Graph:
        """The finished graph, without tensors that nothing reads."""
        return Graph(name, self._tensors, tuple(self._nodes), tuple(inputs), tuple(outputs), format="onnx").updated()

    def _add(self, t: TensorType, data: np.ndarray | None) -> str:
        name = f"v{len(self._tensors)}"
        self._tensors[name] = Tensor(name, t, data)
        return name
