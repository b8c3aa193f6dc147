"""Reads a .tflite flatbuffer into plain records; every byte of the file is treated as hostile."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import flatbuffers
import numpy as np
import tflite

from mcugen.errors import CorruptModelError
from mcugen.op import Attributes

MAX_ITEMS = 1 << 20
_PARSER_FAILURES = (struct.error, IndexError, ValueError, TypeError, OverflowError, AttributeError, KeyError)
_ENUMS = {
    "padding": tflite.Padding,
    "fused_activation_function": tflite.ActivationFunctionType,
    "in_data_type": tflite.TensorType,
    "out_data_type": tflite.TensorType,
    "out_type": tflite.TensorType,
    "quantized_bias_type": tflite.TensorType,
    "weights_format": tflite.FullyConnectedOptionsWeightsFormat,
    "mode": tflite.MirrorPadMode,
}


@dataclass(frozen=True)
class RawTensor:
    """A tensor as the file states it; `type` is the schema's name, e.g. INT8."""

    label: str
    shape: tuple[int, ...]
    type: str
    data: bytes | None
    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int
    is_variable: bool
    is_sparse: bool


@dataclass(frozen=True)
class RawOperator:
    """An operator as the file states it; inputs and outputs are tensor indices, -1 for an absent input."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: Attributes


@dataclass(frozen=True)
class RawModel:
    """The first subgraph of a file, and how many there are."""

    subgraphs: int
    tensors: tuple[RawTensor, ...]
    operators: tuple[RawOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@contextmanager
def _parsing(what: str) -> Iterator[None]:
    """Turn whatever the flatbuffers library raises on damaged bytes into a CorruptModelError that says where."""
    try:
        yield
    except _PARSER_FAILURES as error:
        raise CorruptModelError(
            f"{what} cannot be read ({type(error).__name__}: {error})", hint="the file is damaged or truncated"
        ) from error


def read(data: bytes) -> RawModel:
    """Parse a .tflite file. Raises CorruptModelError."""
    if len(data) < 8 or data[4:8] != b"TFL3":
        raise CorruptModelError(
            "this is not a TensorFlow Lite file: the identifier TFL3 is missing", hint="give the .tflite file itself"
        )
    with _parsing("the model table"):
        model = tflite.Model.GetRootAsModel(data, 0)
        subgraphs = _length(model.SubgraphsLength(), "subgraphs")
        if subgraphs == 0:
            raise CorruptModelError("the model has no subgraph")
        graph = model.Subgraphs(0)
        return RawModel(
            subgraphs=subgraphs,
            tensors=tuple(_tensors(model, graph)),
            operators=tuple(_operators(model, graph)),
            inputs=_indices(graph.InputsAsNumpy()),
            outputs=_indices(graph.OutputsAsNumpy()),
        )


def _length(count: int, what: str) -> int:
    if not 0 <= count <= MAX_ITEMS:
        raise CorruptModelError(f"the file claims {count} {what}")
    return count


def _indices(vector: Any) -> tuple[int, ...]:
    """A vector of int32 as a tuple; the library gives 0 for an absent vector."""
    return () if isinstance(vector, int) else tuple(int(v) for v in vector)


def _numbers(vector: Any) -> tuple[Any, ...]:
    return () if isinstance(vector, int) else tuple(vector.tolist())


def _tensors(model: Any, graph: Any) -> Iterator[RawTensor]:
    for index in range(_length(graph.TensorsLength(), "tensors")):
        with _parsing(f"tensor {index}"):
            yield _tensor(model, graph.Tensors(index), index)


def _tensor(model: Any, tensor: Any, index: int) -> RawTensor:
    quant = tensor.Quantization()
    return RawTensor(
        label=(tensor.Name() or b"").decode("utf-8", "replace"),
        shape=_indices(tensor.ShapeAsNumpy()),
        type=_enum_name(tflite.TensorType, tensor.Type()),
        data=_buffer(model, tensor.Buffer(), index),
        scale=_numbers(quant.ScaleAsNumpy()) if quant else (),
        zero_point=_numbers(quant.ZeroPointAsNumpy()) if quant else (),
        axis=quant.QuantizedDimension() if quant else 0,
        is_variable=bool(tensor.IsVariable()),
        is_sparse=tensor.Sparsity() is not None,
    )


def _buffer(model: Any, index: int, tensor: int) -> bytes | None:
    """The bytes of a buffer; None for an empty one, which marks a tensor computed at run time."""
    if not 0 <= index < model.BuffersLength():
        raise CorruptModelError(f"tensor {tensor} names buffer {index} of {model.BuffersLength()}")
    buffer = model.Buffers(index)
    if buffer.Offset() > 1:
        raise CorruptModelError(f"buffer {index} lies outside the flatbuffer", hint="convert the model below 2 GB")
    data = buffer.DataAsNumpy()
    return None if isinstance(data, int) or len(data) == 0 else np.asarray(data).tobytes()


def _operators(model: Any, graph: Any) -> Iterator[RawOperator]:
    codes = _length(model.OperatorCodesLength(), "operator codes")
    for index in range(_length(graph.OperatorsLength(), "operators")):
        with _parsing(f"operator {index}"):
            operator = graph.Operators(index)
            if not 0 <= operator.OpcodeIndex() < codes:
                raise CorruptModelError(f"operator {index} names operator code {operator.OpcodeIndex()} of {codes}")
            yield RawOperator(
                name=_operator_name(model.OperatorCodes(operator.OpcodeIndex())),
                inputs=_indices(operator.InputsAsNumpy()),
                outputs=_indices(operator.OutputsAsNumpy()),
                attributes=_attributes(operator),
            )


def _operator_name(code: Any) -> str:
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    if number == tflite.BuiltinOperator.CUSTOM:
        return "CUSTOM:" + (code.CustomCode() or b"").decode("utf-8", "replace")
    return _enum_name(tflite.BuiltinOperator, number)


@cache
def _names(enum: type) -> dict[int, str]:
    return {value: name for name, value in vars(enum).items() if isinstance(value, int)}


def _enum_name(enum: type, value: int) -> str:
    return _names(enum).get(value, f"{enum.__name__}:{value}")


def _attributes(operator: Any) -> Attributes:
    """The operator's options table as neutral names and values, enumerations by name."""
    for kind_of, table_of, kinds in (
        (operator.BuiltinOptionsType, operator.BuiltinOptions, tflite.BuiltinOptions),
        (operator.BuiltinOptions2Type, operator.BuiltinOptions2, tflite.BuiltinOptions2),
    ):
        table = table_of()
        if kind_of() and table is not None:
            name = _enum_name(kinds, kind_of())
            options = getattr(tflite, name, None)
            if options is None:
                raise CorruptModelError(f"unknown options table {name}")
            record = options()
            record.Init(table.Bytes, table.Pos)
            return Attributes(_fields(record), _defaults(options))
    return Attributes({}, {})


@cache
def _defaults(options: type) -> dict[str, Any]:
    """The schema's defaults: what an options table says when it holds no field at all."""
    builder = flatbuffers.Builder(16)
    builder.StartObject(0)
    builder.Finish(builder.EndObject())
    return _fields(options.GetRootAs(builder.Output(), 0))  # type: ignore[attr-defined]


@cache
def _getters(options: type) -> tuple[str, ...]:
    skip = re.compile(r"^(_|Init$|GetRootAs)|(AsNumpy|IsNone|Length|BufferHasIdentifier)$")
    return tuple(name for name in dir(options) if not skip.search(name))


def _fields(record: Any) -> dict[str, Any]:
    return {_snake(name): _field(record, name) for name in _getters(type(record))}


def _field(record: Any, name: str) -> Any:
    as_numpy = getattr(record, f"{name}AsNumpy", None)
    if as_numpy is not None:
        return _numbers(as_numpy())
    if hasattr(record, f"{name}Length"):
        return f"{getattr(record, f'{name}Length')()} entries"
    value = getattr(record, name)()
    enum = _ENUMS.get(_snake(name))
    return _enum_name(enum, value) if enum and isinstance(value, int) else value


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def as_array(data: bytes, dtype: np.dtype, shape: Sequence[int], what: str) -> np.ndarray:
    """The bytes of a buffer as a read-only array. Raises CorruptModelError where the size does not match."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if len(data) != size:
        raise CorruptModelError(f"{what} has {len(data)} bytes of data, its shape {tuple(shape)} needs {size}")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
