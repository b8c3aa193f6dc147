# SPDX-License-Identifier: Apache-2.0
"""Writes real .tflite files: tensors, operators, options, in any combination the schema can say.

Operators have no code of their own: the options table of an operator is found by name in the `tflite` package and
its fields are set by reflection, so that a test can write any operator, legal or not.

    m = ModelWriter()
    x = m.tensor("x", (1, 5, 5, 2), "s8", scale=0.1, zero_point=-3)
    w = m.tensor("w", (4, 3, 3, 2), "s8", scale=[0.01] * 4, zero_point=[0] * 4, axis=0, data=weights)
    b = m.tensor("b", (4,), "s32", scale=[0.001] * 4, zero_point=[0] * 4, data=bias)
    y = m.tensor("y", (1, 3, 3, 4), "s8", scale=0.2, zero_point=5)
    m.op("CONV_2D", [x, w, b], [y], {"padding": "SAME", "stride_h": 2, "stride_w": 2})
    Path("conv.tflite").write_bytes(m.build([x], [y]))
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

DTYPES: Mapping[str, tuple[Any, int]] = {
    "s8": (np.int8, tflite.TensorType.INT8),
    "u8": (np.uint8, tflite.TensorType.UINT8),
    "s16": (np.int16, tflite.TensorType.INT16),
    "s32": (np.int32, tflite.TensorType.INT32),
    "s64": (np.int64, tflite.TensorType.INT64),
    "u32": (np.uint32, tflite.TensorType.UINT32),
    "u64": (np.uint64, tflite.TensorType.UINT64),
    "f16": (np.float16, tflite.TensorType.FLOAT16),
    "f32": (np.float32, tflite.TensorType.FLOAT32),
    "bool": (np.bool_, tflite.TensorType.BOOL),
    "s4": (np.int8, tflite.TensorType.INT4),  # data: bytes, two elements in each
    "resource": (np.int8, tflite.TensorType.RESOURCE),
}

# Operators that share a table with others, or have none; all the rest carry the table of their own name.
_SHARED_TABLES: Mapping[str, str] = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2DOptions"),
    "L2_NORMALIZATION": "L2NormOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
} | dict.fromkeys(
    ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"), "ReducerOptions"
)

# Options given as text are looked up in the enum of the field.
_FIELD_ENUMS: Mapping[str, str] = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "mode": "MirrorPadMode",
    "kernel_type": "LSTMKernelType",
}

_FILE_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_BUFFER_ALIGNMENT_BYTES = 16  # force_align of Buffer.data in the schema
_LAST_CODE_OF_ONE_BYTE = 127  # BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES


Sparse = tuple[Sequence[int], Sequence[int], Sequence[int | tuple[Sequence[int], Sequence[int]]]]
"""Order of the axes, axes of the blocks, and each level: its size, or segments and indices."""


@dataclass(frozen=True)
class _Tensor:
    name: str | bytes
    shape: tuple[int, ...]
    type_code: int
    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int
    buffer: int
    is_variable: bool
    shape_signature: tuple[int, ...] | None
    sparsity: Sparse | None = None


@dataclass(frozen=True)
class _Op:
    code: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str | None
    options: Mapping[str, Any]
    custom_options: bytes
    intermediates: tuple[int, ...]


@dataclass
class ModelWriter:
    """Collects the tensors and operators of one subgraph and writes them as a .tflite flatbuffer."""

    _tensors: list[_Tensor] = field(default_factory=list)
    _ops: list[_Op] = field(default_factory=list)
    _buffers: list[bytes] = field(default_factory=lambda: [b""])  # buffer 0 is empty by convention
    _codes: list[tuple[int, int, str | None]] = field(default_factory=list)
    _graphs: list[ModelWriter] = field(default_factory=list)
    _ends: tuple[Sequence[int], Sequence[int]] = ((), ())

    def graph(self) -> ModelWriter:
        """Adds another subgraph to the file, and returns its writer; `ends` states its inputs and outputs."""
        self._graphs.append(ModelWriter(_buffers=self._buffers, _codes=self._codes, _graphs=self._graphs))
        return self._graphs[-1]

    def ends(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """The inputs and outputs of a further subgraph."""
        self._ends = (inputs, outputs)

    def tensor(
        self,
        name: str | bytes,
        shape: Sequence[int],
        dtype: str,
        *,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        axis: int = 0,
        data: Any = None,
        is_variable: bool = False,
        shape_signature: Sequence[int] | None = None,
        sparsity: Sparse | None = None,
    ) -> int:
        """Adds a tensor and returns its index; with `data` (array or raw bytes) it is a constant.

        dtype: one of DTYPES.  scale: number, or one per slice along `axis`; None leaves the quantization out.
        Raw bytes are written as they are, also when their length does not fit the shape.
        """
        numpy_type, type_code = DTYPES[dtype]
        scales = () if scale is None else tuple(float(s) for s in np.atleast_1d(np.asarray(scale)))
        zeros = () if scale is None else tuple(int(z) for z in np.atleast_1d(np.asarray(zero_point)))
        if len(zeros) == 1:
            zeros *= len(scales)
        stored = tuple(shape) if sparsity is None else None
        self._tensors.append(
            _Tensor(
                name=name,
                shape=tuple(shape),
                type_code=type_code,
                scale=scales,
                zero_point=zeros,
                axis=axis,
                buffer=0 if data is None else self._buffer(data, stored, numpy_type),
                is_variable=is_variable,
                shape_signature=None if shape_signature is None else tuple(shape_signature),
                sparsity=sparsity,
            )
        )
        return len(self._tensors) - 1

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Mapping[str, Any] | None = None,
        *,
        version: int = 1,
        custom_code: str | None = None,
        custom_options: bytes = b"",
        intermediates: Sequence[int] = (),
    ) -> None:
        """Appends an operator by its BuiltinOperator name, e.g. "CONV_2D"; -1 is an absent optional input.

        options: fields of the operator's table in snake_case; enums as text ("SAME", "RELU6"), dtypes as in DTYPES.
        """
        entry = (int(getattr(tflite.BuiltinOperator, name)), version, custom_code)
        if entry not in self._codes:
            self._codes.append(entry)
        self._ops.append(
            _Op(
                code=self._codes.index(entry),
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                table=None if custom_code is not None else _options_table(name),
                options=dict(options or {}),
                custom_options=custom_options,
                intermediates=tuple(intermediates),
            )
        )

    def build(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        description: str | bytes = "",
        subgraph_name: str | bytes = "main",
        signatures: Mapping[str, int] | None = None,
    ) -> bytes:
        """Returns the file; the same calls give the same bytes. signatures: name -> index of its subgraph."""
        b = flatbuffers.Builder(1024)
        buffers = _tables(b, [_write_buffer(b, data) for data in self._buffers])
        codes = _tables(b, [_write_code(b, *entry) for entry in self._codes])
        graph = self._write_subgraph(b, inputs, outputs, subgraph_name)
        further = [g._write_subgraph(b, *g._ends, f"graph {k}") for k, g in enumerate(self._graphs, 1)]
        graphs = _tables(b, [graph, *further])
        named = _tables(b, [_write_signature(b, *item) for item in (signatures or {}).items()])
        text = b.CreateString(description)
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, _SCHEMA_VERSION)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, graphs)
        tflite.ModelAddDescription(b, text)
        tflite.ModelAddBuffers(b, buffers)
        if signatures:
            tflite.ModelAddSignatureDefs(b, named)
        b.Finish(tflite.ModelEnd(b), _FILE_IDENTIFIER)
        return bytes(b.Output())

    def _buffer(self, data: Any, shape: tuple[int, ...] | None, numpy_type: Any) -> int:
        if isinstance(data, bytes):
            raw = data
        else:
            array = np.asarray(data)
            if shape is not None and array.shape != shape:
                raise ValueError(f"data has shape {array.shape}, the tensor {shape}")
            little_endian = np.dtype(numpy_type).newbyteorder("<")
            raw = np.ascontiguousarray(array.astype(little_endian)).tobytes()
        self._buffers.append(raw)
        return len(self._buffers) - 1

    def _write_subgraph(
        self, b: flatbuffers.Builder, inputs: Sequence[int], outputs: Sequence[int], name: str | bytes
    ) -> int:
        tensors = _tables(b, [_write_tensor(b, t) for t in self._tensors])
        ops = _tables(b, [_write_op(b, op) for op in self._ops])
        graph_inputs, graph_outputs = _vector(b, inputs, "<i4"), _vector(b, outputs, "<i4")
        text = b.CreateString(name)
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddInputs(b, graph_inputs)
        tflite.SubGraphAddOutputs(b, graph_outputs)
        tflite.SubGraphAddOperators(b, ops)
        tflite.SubGraphAddName(b, text)
        return int(tflite.SubGraphEnd(b))


def _write_signature(b: flatbuffers.Builder, name: str, graph: int) -> int:
    key = b.CreateString(name)
    tflite.SignatureDefStart(b)
    tflite.SignatureDefAddSignatureKey(b, key)
    tflite.SignatureDefAddSubgraphIndex(b, graph)
    return int(tflite.SignatureDefEnd(b))


def _write_buffer(b: flatbuffers.Builder, data: bytes) -> int:
    vector = None
    if data:
        b.StartVector(1, len(data), _BUFFER_ALIGNMENT_BYTES)
        b.head -= len(data)
        b.Bytes[b.head : b.head + len(data)] = data
        vector = b.EndVector()
    tflite.BufferStart(b)
    if vector is not None:
        tflite.BufferAddData(b, vector)
    return int(tflite.BufferEnd(b))


def _write_code(b: flatbuffers.Builder, code: int, version: int, custom_code: str | None) -> int:
    text = None if custom_code is None else b.CreateString(custom_code)
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(code, _LAST_CODE_OF_ONE_BYTE))
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, version)
    if text is not None:
        tflite.OperatorCodeAddCustomCode(b, text)
    return int(tflite.OperatorCodeEnd(b))


def _write_tensor(b: flatbuffers.Builder, t: _Tensor) -> int:
    quantization = _write_quantization(b, t) if t.scale else None
    signature = None if t.shape_signature is None else _vector(b, t.shape_signature, "<i4")
    shape, name = _vector(b, t.shape, "<i4"), b.CreateString(t.name)
    sparsity = None if t.sparsity is None else _write_sparsity(b, *t.sparsity)
    tflite.TensorStart(b)
    if sparsity is not None:
        tflite.TensorAddSparsity(b, sparsity)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, t.type_code)
    tflite.TensorAddBuffer(b, t.buffer)
    tflite.TensorAddName(b, name)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    tflite.TensorAddIsVariable(b, t.is_variable)
    if signature is not None:
        tflite.TensorAddShapeSignature(b, signature)
    tflite.TensorAddHasRank(b, True)
    return int(tflite.TensorEnd(b))


def _write_sparsity(b: flatbuffers.Builder, order: Any, blocks: Any, levels: Any) -> int:
    made = _tables(b, [_write_level(b, level) for level in levels])
    axes, block_map = _vector(b, order, "<i4"), _vector(b, blocks, "<i4")
    tflite.SparsityParametersStart(b)
    tflite.SparsityParametersAddTraversalOrder(b, axes)
    if len(blocks):
        tflite.SparsityParametersAddBlockMap(b, block_map)
    tflite.SparsityParametersAddDimMetadata(b, made)
    return int(tflite.SparsityParametersEnd(b))


def _write_level(b: flatbuffers.Builder, level: Any) -> int:
    vectors = []
    for values in () if isinstance(level, int) else level:
        data = _vector(b, values, "<i4")
        tflite.Int32VectorStart(b)
        tflite.Int32VectorAddValues(b, data)
        vectors.append(tflite.Int32VectorEnd(b))
    tflite.DimensionMetadataStart(b)
    tflite.DimensionMetadataAddFormat(b, int(not isinstance(level, int)))  # DimensionType: DENSE, SPARSE_CSR
    if isinstance(level, int):
        tflite.DimensionMetadataAddDenseSize(b, level)
    else:
        tflite.DimensionMetadataAddArraySegmentsType(b, tflite.SparseIndexVector.Int32Vector)
        tflite.DimensionMetadataAddArraySegments(b, vectors[0])
        tflite.DimensionMetadataAddArrayIndicesType(b, tflite.SparseIndexVector.Int32Vector)
        tflite.DimensionMetadataAddArrayIndices(b, vectors[1])
    return int(tflite.DimensionMetadataEnd(b))


def _write_quantization(b: flatbuffers.Builder, t: _Tensor) -> int:
    scale, zero_point = _vector(b, t.scale, "<f4"), _vector(b, t.zero_point, "<i8")
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, scale)
    tflite.QuantizationParametersAddZeroPoint(b, zero_point)
    tflite.QuantizationParametersAddQuantizedDimension(b, t.axis)
    return int(tflite.QuantizationParametersEnd(b))


def _write_op(b: flatbuffers.Builder, op: _Op) -> int:
    table = None if op.table is None else _write_options(b, op.table, op.options)
    custom = _vector(b, np.frombuffer(op.custom_options, np.uint8), "u1") if op.custom_options else None
    inputs, outputs = _vector(b, op.inputs, "<i4"), _vector(b, op.outputs, "<i4")
    inner = _vector(b, op.intermediates, "<i4") if op.intermediates else None
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, op.code)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    if op.table is not None:
        tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, op.table))
        tflite.OperatorAddBuiltinOptions(b, table)
    if custom is not None:
        tflite.OperatorAddCustomOptions(b, custom)
    if inner is not None:
        tflite.OperatorAddIntermediates(b, inner)
    return int(tflite.OperatorEnd(b))


def _options_table(op_name: str) -> str | None:
    """Name of the options table in the union BuiltinOptions; None for operators without options."""
    if op_name in _SHARED_TABLES:
        return _SHARED_TABLES[op_name]
    wanted = op_name.replace("_", "").lower() + "options"
    return next((name for name in vars(tflite.BuiltinOptions) if name.lower() == wanted), None)


def _write_options(b: flatbuffers.Builder, table: str, options: Mapping[str, Any]) -> int:
    module = importlib.import_module(f"tflite.{table}")
    values = {key: _option_value(b, key, value) for key, value in options.items()}
    getattr(module, f"{table}Start")(b)
    for key, value in values.items():
        getattr(module, f"{table}Add{_camel(key)}")(b, value)
    return int(getattr(module, f"{table}End")(b))


def _option_value(b: flatbuffers.Builder, key: str, value: Any) -> Any:
    if key in ("container", "shared_name"):
        return b.CreateString(value)
    if isinstance(value, str):
        return getattr(getattr(tflite, _FIELD_ENUMS[key]), value) if key in _FIELD_ENUMS else DTYPES[value][1]
    if isinstance(value, (list, tuple)):
        return _vector(b, value, "<i4")
    return value


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _vector(b: flatbuffers.Builder, values: Any, dtype: str) -> int:
    return int(b.CreateNumpyVector(np.asarray(values, dtype=dtype)))


def _tables(b: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())
