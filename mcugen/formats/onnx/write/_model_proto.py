"""The bytes of an .onnx file: the container, types of values, and conversions around quantized operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcugen.errors import UnsupportedError
from mcugen.formats._halves import held
from mcugen.formats.onnx.write._operator import REDUCTIONS, OnnxOperator
from mcugen.ir import subbyte
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import DTYPE_NAMES, TensorType
from mcugen.ops.quantize import RUNTIME_STEPS
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose

OPSETS = (20, 21)
"""The version of the operators, and the first in which QuantizeLinear and DequantizeLinear have 4 and 16 bits and
blocks, and GroupNormalization a gamma for each channel.
"""
IR_VERSIONS = (9, 10)
_LATER = ("s4", "u4", "s16")
_KINDS: Mapping[str, int] = {
    "s4": onnx.TensorProto.INT4,
    "u4": onnx.TensorProto.UINT4,
    "s8": onnx.TensorProto.INT8,
    "u8": onnx.TensorProto.UINT8,
    "s16": onnx.TensorProto.INT16,
    "s32": onnx.TensorProto.INT32,
    "s64": onnx.TensorProto.INT64,
    "f16": onnx.TensorProto.FLOAT16,
    "f32": onnx.TensorProto.FLOAT,
    "bool": onnx.TensorProto.BOOL,
}
_OPERANDS: Mapping[str, tuple[str, ...]] = {
    "Clip": ("min", "max"),
    "CumSum": ("axis",),
    "Expand": ("shape",),
    "Pad": ("pads", "value", "axes"),
    **dict.fromkeys(REDUCTIONS, ("axes",)),
    "Resize": ("", "", "sizes"),
    "Slice": ("starts", "ends", "axes", "steps"),
    "Split": ("split",),
    "Tile": ("repeats",),
    "TopK": ("k",),
}
"""ONNX operator -> attributes of OnnxOperator that the file stores as its last operands; "": an absent operand."""


def serialized(graph: Graph, inputs: Sequence[str], outputs: Sequence[str], halves: bool, steps: bool) -> bytes:
    """The file's bytes. inputs, outputs: names in the file; halves: store weights as float16 if that is exact.

    steps: whether operators on int16 compute as TensorFlow Lite does.
    """
    file = _File(graph, halves, steps)
    for name, label in (*zip(graph.inputs, inputs, strict=True), *zip(graph.outputs, outputs, strict=True)):
        file.take(name, label)
    for node in graph.nodes:
        file.add(node)
    model = file.model(outputs)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


class _File:
    """The nodes and constants of a file. A quantized tensor has two values: stored integers and real numbers."""

    def __init__(self, graph: Graph, halves: bool, steps: bool) -> None:
        self._graph = graph
        self._halves = halves
        self._steps = steps
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._names: dict[str, str] = {}
        self._real: dict[str, str] = {}
        self._taken: set[str] = set()
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def take(self, name: str, label: str) -> None:
        """Give an input or output the name `label`, or a unique variant of it."""
        if name not in self._names:
            self._names[name] = self._unique(label)

    def add(self, node: Node) -> None:
        """Append a node on real numbers: quantized operands are dequantized, and its results are quantized."""
        if isinstance(node.op, Reshape | Transpose):
            self._add_move(node)
            return
        assert isinstance(node.op, OnnxOperator)
        if node.op.name == "Stored":
            self._add_stored(node)
            return
        operands = ["" if name is None else self._real_of(name) for name in node.inputs]
        if node.op.name == "Identity" and self._alias(node, operands[0]):
            return
        results = [self._result(name) for name in node.outputs]
        attributes = dict(node.op.attributes)
        if "to" in attributes:
            attributes["to"] = _KINDS[attributes["to"]]
        operands += self._moved(node.op.name, attributes)
        self._append(node.op.name, operands, results, **attributes)
        for name, made in zip(node.outputs, results, strict=True):
            if self._type(name).quant is not None:
                self._quantize(made, name, node)

    def model(self, outputs: Sequence[str]) -> onnx.ModelProto:
        inputs = [self._declared(name, self._names[name]) for name in self._graph.inputs]
        declared: list[onnx.ValueInfoProto] = []
        for name, label in zip(self._graph.outputs, outputs, strict=True):
            made = self._name(name)
            if (
                name in self._graph.inputs
                or self._graph.tensors[name].is_constant
                or label in {v.name for v in declared}
            ):
                made, source = self._unique(label), self._value(name)
                self._append("Identity", [source], [made])
            declared.append(self._declared(name, made))
        graph = helper.make_graph(self._nodes, self._graph.name or "graph", inputs, declared, self._constants)
        quantized = [t.type for t in self._graph.tensors.values() if t.type.quant is not None]
        later = any(node.op_type == "GroupNormalization" or _has_blocks(node) for node in self._nodes)
        at = int(later or any(t.dtype in _LATER for t in quantized))
        versions = [helper.make_opsetid("", OPSETS[at])]
        return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSIONS[at], producer_name="mcugen")

    def _add_move(self, node: Node) -> None:
        """Append a Reshape or Transpose, of stored integers if the tensor is quantized."""
        (x,), (y,) = node.inputs, node.outputs
        operands = [self._value(str(x))]
        if isinstance(node.op, Transpose):
            self._append("Transpose", operands, [self._name(y)], perm=node.op.perm)
            return
        shape = self._constant(self._type(y).shape, "shape")
        self._append("Reshape", [*operands, shape], [self._name(y)])

    def _add_stored(self, node: Node) -> None:
        """Add a Stored node. Its integers equal its operand's, so the file needs no operator for it."""
        (x,), (y,) = node.inputs, node.outputs
        if y in self._graph.outputs:
            self._append("Identity", [self._value(str(x))], [self._name(y)])
        else:
            self._names[y] = self._value(str(x))

    def _alias(self, node: Node, x: str) -> bool:
        """Add an Identity without an operator if it only quantizes, dequantizes or renames. Returns whether it does."""
        (source,), (y,) = node.inputs, node.outputs
        if self._type(y).quant is not None:
            self._quantize(x, y, node)
        elif y not in self._graph.outputs:
            self._names[y] = x
        elif self._type(str(source)).quant is not None:
            self._dequantize(str(source), self._name(y))
        else:
            return False
        return True

    def _type(self, name: str) -> TensorType:
        return self._graph.type(name)

    def _tensor(self, name: str) -> Tensor:
        return self._graph.tensors[name]

    def _unique(self, wanted: str) -> str:
        name, k = wanted, 1
        while name in self._taken:
            name, k = f"{wanted}_{k}", k + 1
        self._taken.add(name)
        return name

    def _name(self, name: str) -> str:
        """The name of a tensor in the file."""
        if name not in self._names:
            self._names[name] = self._unique(self._tensor(name).label or name)
        return self._names[name]

    def _value(self, name: str) -> str:
        """The value of a tensor as it is stored; constants are added to the file."""
        tensor = self._tensor(name)
        if tensor.data is not None and name not in self._names:
            narrow = held(tensor.data) if self._halves else None
            if narrow is None:
                self._constants.append(_proto(self._name(name), tensor.type, tensor.data))
            else:
                stored = self._unique(f"{self._name(name)}_half")
                self._constants.append(numpy_helper.from_array(narrow, stored))
                self._append("Cast", [stored], [self._name(name)], to=onnx.TensorProto.FLOAT)
        return self._name(name)

    def _real_of(self, name: str) -> str:
        """The value with a tensor's real numbers: dequantized, or the tensor itself if it has no scale."""
        if self._type(name).quant is None:
            return self._value(name)
        if name not in self._real:
            self._real[name] = self._dequantize(name, self._unique(f"{self._name_hint(name)}_real"))
        return self._real[name]

    def _name_hint(self, name: str) -> str:
        return self._names.get(name) or self._tensor(name).label or name

    def _result(self, name: str) -> str:
        """The name of an operator's result before it is quantized."""
        return self._name(name) if self._type(name).quant is None else self._unique(f"{self._name(name)}_float")

    def _dequantize(self, name: str, made: str) -> str:
        self._append(
            "DequantizeLinear", [self._value(name), *self._scales(self._type(name))], [made], **self._axis(name)
        )
        return made

    def _quantize(self, x: str, name: str, node: Node) -> None:
        """Quantize the real numbers x that a node computed, as the tensor `name`."""
        t = self._type(name)
        if t.dtype not in ("s8", "u8", "s16"):
            raise UnsupportedError(f"results of type {t} cannot be written as .onnx")
        wide = any(n is not None and self._type(n).dtype == "s16" for n in (name, *node.inputs))
        text = {"doc_string": RUNTIME_STEPS} if wide and self._steps else {}
        self._append("QuantizeLinear", [x, *self._scales(t)], [self._name(name)], **self._axis(name), **text)

    def _axis(self, name: str) -> dict[str, Any]:
        quant = self._type(name).quant
        return {"axis": quant.axis} if quant is not None and quant.per_channel else {}

    def _scales(self, t: TensorType) -> list[str]:
        """Names of the constants with scale and zero point; for int32 of the scale only."""
        quant = t.quant
        assert quant is not None
        shape = (len(quant.scale),) if quant.per_channel else ()
        scale = self._constant(np.array(quant.scale, np.float32).reshape(shape), "scale")
        if t.dtype == "s32":
            if any(quant.zero_point):
                raise UnsupportedError(f"{t} cannot be written as .onnx: int32 has no zero point there")
            return [scale]
        zeros = np.array(quant.zero_point, np.int64).reshape(shape)
        return [scale, self._typed(TensorType(shape, t.dtype), zeros.astype(t.np_dtype), "zero")]

    def _moved(self, kind: str, attributes: dict[str, Any]) -> list[str]:
        """Remove attributes that ONNX stores as constant operands, such as `axes`. Returns the operands' names."""
        values = [attributes.pop(name, None) for name in _OPERANDS.get(kind, ())]
        found = ["" if value is None else self._constant(value, kind.lower()) for value in values]
        while found and not found[-1]:
            found.pop()
        return found

    def _constant(self, value: Any, hint: str) -> str:
        """A constant with the element type of an array; Python floats become float32, and ints int64."""
        data = np.asarray(value)
        if not isinstance(value, np.generic | np.ndarray):
            data = data.astype(np.float32 if isinstance(value, float) else np.int64)
        return self._typed(TensorType(data.shape, DTYPE_NAMES[data.dtype]), data, hint)

    def _typed(self, t: TensorType, data: np.ndarray, hint: str) -> str:
        """A constant operand; equal constants are stored once."""
        key = t.dtype, t.shape, data.tobytes()
        if key not in self._known:
            self._known[key] = self._unique(f"{hint}_{len(self._known)}")
            self._constants.append(_proto(self._known[key], t, data))
        return self._known[key]

    def _append(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        made = helper.make_node(kind, inputs, outputs, name=f"{kind}_{len(self._nodes)}", **_plain(attributes))
        self._nodes.append(made)

    def _declared(self, name: str, made: str) -> onnx.ValueInfoProto:
        t = self._type(name)
        return helper.make_tensor_value_info(made, _kind(t), t.shape)


def _has_blocks(node: onnx.NodeProto) -> bool:
    return any(a.name == "block_size" for a in node.attribute)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in attributes.items()}


def _kind(t: TensorType) -> int:
    if t.dtype not in _KINDS:
        raise UnsupportedError(f"values of {t.dtype} cannot be written as .onnx")
    return _KINDS[t.dtype]


def _proto(name: str, t: TensorType, data: np.ndarray) -> onnx.TensorProto:
    if not t.is_packed:
        _kind(t)
        return numpy_helper.from_array(np.array(data, order="C"), name)
    made = onnx.TensorProto(name=name, data_type=_kind(t), dims=t.shape)
    made.raw_data = subbyte.packed(data, t.bits).tobytes()
    return made
