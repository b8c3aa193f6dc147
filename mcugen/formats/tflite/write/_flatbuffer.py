"""The flatbuffer of a .tflite file, from plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import flatbuffers
import numpy as np
import tflite

from mcugen.formats.tflite.write import _options
from mcugen.ir.types import TensorType

_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_ALIGN_BYTES = 16
"""Alignment of a buffer's data that the schema requires."""
_LAST_CODE_OF_ONE_BYTE = tflite.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES
_TYPES = {
    "s8": tflite.TensorType.INT8,
    "u8": tflite.TensorType.UINT8,
    "s16": tflite.TensorType.INT16,
    "s32": tflite.TensorType.INT32,
    "s64": tflite.TensorType.INT64,
    "u32": tflite.TensorType.UINT32,
    "u64": tflite.TensorType.UINT64,
    "f16": tflite.TensorType.FLOAT16,
    "f32": tflite.TensorType.FLOAT32,
    "bool": tflite.TensorType.BOOL,
    "s4": tflite.TensorType.INT4,
    "resource": tflite.TensorType.RESOURCE,
}


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor. data: elements of a constant, else None; is_variable: whether an operator keeps it from run to run."""

    name: str
    type: TensorType
    data: np.ndarray | None
    is_variable: bool = False


@dataclass(frozen=True, eq=False)
class TfliteOperator:
    """An operator: its values by number, -1 for an absent operand. A custom operator's name begins with CUSTOM:.

    inner: intermediate values whose quantization it states
    """

    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: Mapping[str, Any]
    inner: tuple[int, ...] = ()

    def moved(self, place: Mapping[int, int]) -> TfliteOperator:
        """The operator with its values renumbered."""
        found = (tuple(place[k] for k in ends) for ends in (self.inputs, self.outputs, self.inner))
        inputs, outputs, inner = found
        return replace(self, inputs=inputs, outputs=outputs, inner=inner)


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A network, or a subgraph that it calls."""

    name: str
    values: tuple[Value, ...]
    operators: tuple[TfliteOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def serialized(graphs: Sequence[Subgraph], signature: str, features: str = "") -> bytes:
    """The bytes of the file, which offers the inputs and outputs of the first subgraph by name under `signature`.

    features: the hash of the features that it takes, for the file's description.
    """
    return _Serializer(graphs).run(signature, features)


@dataclass
class _Serializer:
    """Builds the file.

    buffers: bytes of constants -> index; the first is empty, for values without data
    codes: (operator, version) -> index
    """

    graphs: Sequence[Subgraph]
    buffers: dict[bytes, int] = field(default_factory=lambda: {b"": 0})
    codes: dict[tuple[str, int], int] = field(default_factory=dict)

    def run(self, signature: str, features: str) -> bytes:
        stored = [
            [self.buffers.setdefault(_stored(v), len(self.buffers)) for v in graph.values] for graph in self.graphs
        ]
        for op in (op for graph in self.graphs for op in graph.operators):
            self.codes.setdefault((op.name, op.version), len(self.codes))
        b = flatbuffers.Builder(1024 + 2 * sum(map(len, self.buffers)))
        buffers = _tables(b, [_buffer(b, data) for data in self.buffers])
        codes = _tables(b, [_code(b, *entry) for entry in self.codes])
        graphs = _tables(b, [self._subgraph(b, *pair) for pair in zip(self.graphs, stored, strict=True)])
        named = _tables(b, [self._signature(b, signature)])
        text = b.CreateString(f"written by mcugen{features and f' for features {features}'}")
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, _SCHEMA_VERSION)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, graphs)
        tflite.ModelAddDescription(b, text)
        tflite.ModelAddBuffers(b, buffers)
        tflite.ModelAddSignatureDefs(b, named)
        b.Finish(tflite.ModelEnd(b), _IDENTIFIER)
        return bytes(b.Output())

    def _subgraph(self, b: flatbuffers.Builder, graph: Subgraph, stored: Sequence[int]) -> int:
        pairs = zip(graph.values, stored, strict=True)
        tensors = _tables(b, [_tensor(b, value, buffer) for value, buffer in pairs])
        operators = _tables(b, [_operator(b, op, self.codes[op.name, op.version]) for op in graph.operators])
        inputs, outputs = _vector(b, graph.inputs, "<i4"), _vector(b, graph.outputs, "<i4")
        name = b.CreateString(graph.name)
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddInputs(b, inputs)
        tflite.SubGraphAddOutputs(b, outputs)
        tflite.SubGraphAddOperators(b, operators)
        tflite.SubGraphAddName(b, name)
        return int(tflite.SubGraphEnd(b))

    def _signature(self, b: flatbuffers.Builder, signature: str) -> int:
        main = self.graphs[0]
        inputs, outputs = (self._ends(b, main, ends) for ends in (main.inputs, main.outputs))
        key = b.CreateString(signature)
        tflite.SignatureDefStart(b)
        tflite.SignatureDefAddInputs(b, inputs)
        tflite.SignatureDefAddOutputs(b, outputs)
        tflite.SignatureDefAddSignatureKey(b, key)
        tflite.SignatureDefAddSubgraphIndex(b, 0)
        return int(tflite.SignatureDefEnd(b))

    def _ends(self, b: flatbuffers.Builder, graph: Subgraph, ends: Sequence[int]) -> int:
        """The names of inputs or outputs; a repeated one gets its index appended."""
        maps = []
        for k, index in enumerate(ends):
            name = graph.values[index].name
            text = b.CreateString(f"{name}_{k}" if index in ends[:k] else name)
            tflite.TensorMapStart(b)
            tflite.TensorMapAddName(b, text)
            tflite.TensorMapAddTensorIndex(b, index)
            maps.append(int(tflite.TensorMapEnd(b)))
        return _tables(b, maps)


def _stored(value: Value) -> bytes:
    """The bytes of a constant; empty for a computed value."""
    if value.data is None:
        return b""
    data = value.type.stored(value.data)
    return np.ascontiguousarray(data.astype(data.dtype.newbyteorder("<"))).tobytes()


def _buffer(b: flatbuffers.Builder, data: bytes) -> int:
    vector = None
    if data:
        b.StartVector(1, len(data), _ALIGN_BYTES)
        b.head -= len(data)
        b.Bytes[b.head : b.head + len(data)] = data
        vector = b.EndVector()
    tflite.BufferStart(b)
    if vector is not None:
        tflite.BufferAddData(b, vector)
    return int(tflite.BufferEnd(b))


def _code(b: flatbuffers.Builder, name: str, version: int) -> int:
    kind, _, custom = name.partition(":")
    text, code = b.CreateString(custom) if custom else None, int(getattr(tflite.BuiltinOperator, kind))
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(code, _LAST_CODE_OF_ONE_BYTE))
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, version)
    if text is not None:
        tflite.OperatorCodeAddCustomCode(b, text)
    return int(tflite.OperatorCodeEnd(b))


def _tensor(b: flatbuffers.Builder, value: Value, buffer: int) -> int:
    quantization = _quantization(b, value.type)
    shape, name = _vector(b, value.type.shape, "<i4"), b.CreateString(value.name)
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, _TYPES[value.type.dtype])
    tflite.TensorAddBuffer(b, buffer)
    tflite.TensorAddName(b, name)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    if value.is_variable:
        tflite.TensorAddIsVariable(b, True)
    tflite.TensorAddHasRank(b, True)
    return int(tflite.TensorEnd(b))


def _quantization(b: flatbuffers.Builder, t: TensorType) -> int | None:
    if t.quant is None:
        return None
    scale, zero_point = _vector(b, t.quant.scale, "<f4"), _vector(b, t.quant.zero_point, "<i8")
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, scale)
    tflite.QuantizationParametersAddZeroPoint(b, zero_point)
    tflite.QuantizationParametersAddQuantizedDimension(b, t.quant.axis)
    return int(tflite.QuantizationParametersEnd(b))


def _operator(b: flatbuffers.Builder, op: TfliteOperator, code: int) -> int:
    is_custom = op.name.startswith("CUSTOM:")
    kind, options = (0, None) if is_custom else _options.written(b, op.name, op.attributes)
    custom = _vector(b, np.frombuffer(op.attributes["custom_options"], np.uint8), "u1") if is_custom else None
    inputs, outputs = _vector(b, op.inputs, "<i4"), _vector(b, op.outputs, "<i4")
    inner = _vector(b, op.inner, "<i4") if op.inner else None
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, code)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    if inner is not None:
        tflite.OperatorAddIntermediates(b, inner)
    if options is not None:
        tflite.OperatorAddBuiltinOptionsType(b, kind)
        tflite.OperatorAddBuiltinOptions(b, options)
    if custom is not None:
        tflite.OperatorAddCustomOptions(b, custom)
    return int(tflite.OperatorEnd(b))


def _vector(b: flatbuffers.Builder, values: Any, dtype: str) -> int:
    return int(b.CreateNumpyVector(np.asarray(values, dtype=dtype)))


def _tables(b: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())
