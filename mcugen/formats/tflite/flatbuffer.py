"""Reads a .tflite flatbuffer into plain records; every byte of the file is treated as hostile."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import flatbuffers
import numpy as np
import tflite

from mcugen.errors import CorruptModelError, UsageError
from mcugen.formats.tflite.sparse import Level, Sparsity
from mcugen.ir import subbyte
from mcugen.ir.imports import Attributes
from mcugen.ir.types import TensorType

IDENTIFIER = b"TFL3"
MAX_ITEMS = 1 << 16
MAX_NAME_BYTES = 1 << 10
READ_FACTOR = 8
_ALIGN_BYTES = 8
_DEPRECATED_CODE, _CODE = 4, 10
"""Indices of `deprecated_builtin_code` and `builtin_code` in the virtual table of an OperatorCode."""
_BLOCKWISE = 2
"""The kind of QuantizationDetails that is a BlockwiseQuantization."""
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
    """A tensor as the file states it; `type` is the schema's name, e.g. INT8.

    signature: the shape with -1 for open dimensions; empty if there are none. in_blocks: whether other tensors hold the
    scales of blocks of its elements.
    """

    label: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    type: str
    data: np.ndarray | None
    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int
    is_variable: bool
    sparsity: Sparsity | None = None
    in_blocks: bool = False


@dataclass(frozen=True)
class RawOperator:
    """An operator as the file states it; inputs and outputs are tensor indices, -1 for an absent input.

    inner: tensors of intermediate values, of which only the quantization matters.
    """

    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: Attributes
    inner: tuple[int, ...] = ()


@dataclass(frozen=True)
class RawGraph:
    """A subgraph of a file."""

    tensors: tuple[RawTensor, ...]
    operators: tuple[RawOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class RawModel:
    """The subgraphs of a file, and its signatures: (key, subgraph). features: hash of the features that it takes."""

    graphs: tuple[RawGraph, ...]
    signatures: tuple[tuple[str, int], ...]
    features: str = ""

    def entry(self, signature: str) -> int:
        """The subgraph of a signature, 0 if it is "". Raises UsageError if there is no signature of that name."""
        if not signature:
            return 0
        known = dict(self.signatures)
        if signature not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(f"the model has no signature {signature!r}", where="--signature", hint=f"it has: {listed}")
        if not 0 <= known[signature] < len(self.graphs):
            what = f"signature {signature!r} names subgraph {known[signature]}"
            raise CorruptModelError(f"{what}, but the file has {len(self.graphs)} subgraphs")
        return known[signature]


@contextmanager
def _parsing(what: str) -> Iterator[None]:
    """Turn whatever the flatbuffers library raises on damaged bytes into a CorruptModelError with the place."""
    try:
        yield
    except CorruptModelError as error:
        error.where = error.where or what
        raise
    except _PARSER_FAILURES as error:
        raise CorruptModelError(
            f"{what} cannot be read ({type(error).__name__}: {error})", hint="the file is damaged or truncated"
        ) from error


_FEATURES = re.compile(rb"written by mcugen for features ([0-9a-f]{64})")


def read(data: bytes) -> RawModel:
    """Parse a .tflite file. Raises CorruptModelError."""
    if len(data) < 8 or data[4:8] != IDENTIFIER:
        raise CorruptModelError(
            "this is not a TensorFlow Lite file: the identifier TFL3 is missing", hint="give the .tflite file itself"
        )
    with _parsing("the model table"):
        return _Reader(tflite.Model.GetRootAsModel(data, 0), READ_FACTOR * len(data)).model_of()


@dataclass
class _Reader:
    """Reads the subgraphs. left: number of bytes that may still be read.

    The limit is needed because tables of a file may share parts, so that a small file could describe a huge model.
    Ordinary files are read about once.
    """

    model: Any
    left: int

    def model_of(self) -> RawModel:
        subgraphs = self._length(self.model.SubgraphsLength(), "subgraphs")
        if subgraphs == 0:
            raise CorruptModelError("the model has no subgraph")
        stated = _FEATURES.search(self.model.Description() or b"")
        features = stated[1].decode() if stated else ""
        return RawModel(tuple(self._graphs(subgraphs)), tuple(self._signatures()), features)

    def _graphs(self, count: int) -> Iterator[RawGraph]:
        for index in range(count):
            with _parsing(f"subgraph {index}" if index else "the first subgraph"):
                graph = self.model.Subgraphs(index)
                yield RawGraph(
                    tensors=tuple(self._tensors(graph)),
                    operators=tuple(self._operators(graph)),
                    inputs=self._numbers(graph.InputsAsNumpy()),
                    outputs=self._numbers(graph.OutputsAsNumpy()),
                )

    def _signatures(self) -> Iterator[tuple[str, int]]:
        for index in range(self._length(self.model.SignatureDefsLength(), "signatures")):
            with _parsing(f"signature {index}"):
                signature = self.model.SignatureDefs(index)
                yield self._text(signature.SignatureKey()), int(signature.SubgraphIndex())

    def _charge(self, nbytes: int) -> None:
        self.left -= nbytes
        if self.left < 0:
            raise CorruptModelError(
                f"the parts of the file overlap: together they are more than {READ_FACTOR} times its size",
                hint="the file is damaged",
            )

    def _length(self, count: int, what: str) -> int:
        if not 0 <= count <= MAX_ITEMS:
            raise CorruptModelError(f"the file claims {count} {what}, more than {MAX_ITEMS}")
        self._charge(4 * count)
        return count

    def _numbers(self, vector: Any) -> tuple[Any, ...]:
        """A vector as a tuple. vector: an array, or 0 from the library if it is absent."""
        if isinstance(vector, int):
            return ()
        self._charge(vector.nbytes)
        return tuple(vector.tolist())

    def _text(self, text: bytes | None) -> str:
        """A name, cut to a readable length."""
        self._charge(len(text or b""))
        return (text or b"")[:MAX_NAME_BYTES].decode("utf-8", "replace")

    def _tensors(self, graph: Any) -> Iterator[RawTensor]:
        for index in range(self._length(graph.TensorsLength(), "tensors")):
            with _parsing(f"tensor {index}"):
                yield self._tensor(graph.Tensors(index), index)

    def _tensor(self, tensor: Any, index: int) -> RawTensor:
        quant = tensor.Quantization()
        return RawTensor(
            label=self._text(tensor.Name()),
            shape=self._numbers(tensor.ShapeAsNumpy()),
            signature=self._numbers(tensor.ShapeSignatureAsNumpy()),
            type=_enum_name(tflite.TensorType, tensor.Type()),
            data=self._buffer(tensor.Buffer()),
            scale=self._numbers(quant.ScaleAsNumpy()) if quant else (),
            zero_point=self._numbers(quant.ZeroPointAsNumpy()) if quant else (),
            axis=quant.QuantizedDimension() if quant else 0,
            is_variable=bool(tensor.IsVariable()),
            sparsity=self._sparsity(tensor.Sparsity()),
            in_blocks=bool(quant) and quant.DetailsType() == _BLOCKWISE,
        )

    def _sparsity(self, stated: Any) -> Sparsity | None:
        """The storage of a sparse tensor's elements; None for dense ones."""
        if stated is None:
            return None
        levels = (stated.DimMetadata(k) for k in range(self._length(stated.DimMetadataLength(), "levels")))
        order, blocks = self._numbers(stated.TraversalOrderAsNumpy()), self._numbers(stated.BlockMapAsNumpy())
        return Sparsity(order, blocks, tuple(self._level(level) for level in levels))

    def _level(self, level: Any) -> Level:
        if level.Format() == tflite.DimensionType.DENSE:
            return Level(int(level.DenseSize()))
        segments = self._indices(level.ArraySegments(), level.ArraySegmentsType())
        return Level(0, segments, self._indices(level.ArrayIndices(), level.ArrayIndicesType()))

    def _indices(self, table: Any, kind: int) -> np.ndarray:
        """A vector of one of the integer types that the schema allows."""
        names = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}
        if table is None or kind not in names:
            raise CorruptModelError("indices of a sparse tensor are missing")
        vector = getattr(tflite, names[kind])()
        vector.Init(table.Bytes, table.Pos)
        return np.array(self._numbers(vector.ValuesAsNumpy()), np.int64)

    def _buffer(self, index: int) -> np.ndarray | None:
        """The bytes of a buffer, not copied; None for an empty one, which marks a tensor computed at run time."""
        if not 0 <= index < self.model.BuffersLength():
            raise CorruptModelError(
                f"a tensor names buffer {index}, but the file has {self.model.BuffersLength()} buffers"
            )
        buffer = self.model.Buffers(index)
        if buffer.Offset() > 1:
            raise CorruptModelError(f"buffer {index} lies outside the flatbuffer", hint="convert the model below 2 GB")
        found = buffer.DataAsNumpy()
        if isinstance(found, int) or len(found) == 0:
            return None
        data = np.asarray(found)
        if data.ctypes.data % _ALIGN_BYTES:
            self._charge(data.nbytes)
            return data.copy()
        return data

    def _operators(self, graph: Any) -> Iterator[RawOperator]:
        codes = self._length(self.model.OperatorCodesLength(), "operator codes")
        for index in range(self._length(graph.OperatorsLength(), "operators")):
            with _parsing(f"operator {index}"):
                operator = graph.Operators(index)
                if not 0 <= operator.OpcodeIndex() < codes:
                    code = operator.OpcodeIndex()
                    raise CorruptModelError(f"an operator names code {code}, but the file has {codes} operator codes")
                code = self.model.OperatorCodes(operator.OpcodeIndex())
                name = self._operator_name(code)
                yield RawOperator(
                    name=name,
                    version=max(int(code.Version()), 1),
                    inputs=self._numbers(operator.InputsAsNumpy()),
                    outputs=self._numbers(operator.OutputsAsNumpy()),
                    attributes=self._attributes(operator, name),
                    inner=self._numbers(operator.IntermediatesAsNumpy()),
                )

    def _operator_name(self, code: Any) -> str:
        # The code is in a one-byte field (old files), a wider one (new files), or both. The library's accessor always
        # returns the one-byte field for codes that fit it, even if only the wider one is set.
        number = max(
            _number(code, _DEPRECATED_CODE, flatbuffers.number_types.Int8Flags),
            _number(code, _CODE, flatbuffers.number_types.Int32Flags),
        )
        if number == tflite.BuiltinOperator.CUSTOM:
            return "CUSTOM:" + self._text(code.CustomCode())
        return _enum_name(tflite.BuiltinOperator, number)

    def _attributes(self, operator: Any, name: str) -> Attributes:
        """The operator's options table as neutral names and values, enumerations by name.

        An absent table is equal to an empty one of the operator's own kind. The attributes of a custom operator are its
        raw bytes.
        """
        custom = operator.CustomOptionsAsNumpy()
        if not isinstance(custom, int):
            return Attributes({"custom_options": bytes(self._numbers(custom))}, {"custom_options": b""})
        own = _own_table(name)
        for kind_of, table_of, kinds in (
            (operator.BuiltinOptionsType, operator.BuiltinOptions, tflite.BuiltinOptions),
            (operator.BuiltinOptions2Type, operator.BuiltinOptions2, tflite.BuiltinOptions2),
        ):
            table = table_of()
            if kind_of() and table is not None:
                found = _enum_name(kinds, kind_of())
                options = getattr(tflite, found, None)
                if options is None or (own and own != found):
                    raise CorruptModelError(f"{name} has the options of another operator, {found}")
                record = options()
                record.Init(table.Bytes, table.Pos)
                return Attributes(self.fields(record), _defaults(options))
        return Attributes({}, _defaults(getattr(tflite, own)) if own else {})

    def fields(self, record: Any) -> dict[str, Any]:
        return {_snake(name): self._field(record, name) for name in _getters(record.__class__)}

    def _field(self, record: Any, name: str) -> Any:
        as_numpy = getattr(record, f"{name}AsNumpy", None)
        if as_numpy is not None:
            return self._numbers(as_numpy())
        if hasattr(record, f"{name}Length"):
            return f"{getattr(record, f'{name}Length')()} entries"
        value = getattr(record, name)()
        if isinstance(value, float) and not math.isfinite(value):
            raise CorruptModelError(
                f"attribute {_snake(name)} is {value}, not a finite number", hint="the file is damaged"
            )
        enum = _ENUMS.get(_snake(name))
        if enum is None or not isinstance(value, int):
            return value
        if value not in _names(enum):
            raise CorruptModelError(f"attribute {_snake(name)} is {value}, which is not a value of {enum.__name__}")
        return _enum_name(enum, value)


@cache
def _own_table(operator: str) -> str:
    """The options table named after an operator, such as Conv2DOptions for CONV_2D, or ""."""
    wanted = operator.replace("_", "").lower() + "options"
    return next((name for name in _names(tflite.BuiltinOptions).values() if name.lower() == wanted), "")


@cache
def _names(enum: type) -> dict[int, str]:
    return {value: name for name, value in vars(enum).items() if isinstance(value, int)}


def _number(table: Any, place: int, kind: Any) -> int:
    """A number field of a table, by its offset in the virtual table; 0 if it is absent."""
    offset = table._tab.Offset(place)
    return int(table._tab.Get(kind, offset + table._tab.Pos)) if offset else 0


def _enum_name(enum: type, value: int) -> str:
    return _names(enum).get(value, f"{enum.__name__}:{value}")


@cache
def _defaults(options: type) -> dict[str, Any]:
    """The schema's defaults: the attributes of an options table without any field."""
    builder = flatbuffers.Builder(16)
    builder.StartObject(0)
    builder.Finish(builder.EndObject())
    record = options.GetRootAs(builder.Output(), 0)  # type: ignore[attr-defined]
    return _Reader(None, READ_FACTOR * len(builder.Output())).fields(record)


@cache
def _getters(options: type) -> tuple[str, ...]:
    skip = re.compile(r"^(_|Init$|GetRootAs)|(AsNumpy|IsNone|Length|BufferHasIdentifier)$")
    return tuple(name for name in dir(options) if not skip.search(name))


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def as_array(data: np.ndarray, t: TensorType, what: str) -> np.ndarray:
    """The bytes of a buffer as an array. Raises CorruptModelError if the size does not match the shape."""
    if data.nbytes != t.nbytes:
        raise CorruptModelError(
            f"{what} has {data.nbytes} bytes of data, but its shape {list(t.shape)} needs {t.nbytes}"
        )
    if t.is_packed:
        return subbyte.unpacked(data, t.bits, t.size, signed=t.limits[0] < 0).reshape(t.shape)
    little, dtype = t.np_dtype.newbyteorder("<"), t.np_dtype
    typed: np.ndarray = data != 0 if dtype == np.bool_ else data.view(little).astype(dtype, copy=False)
    return typed.reshape(t.shape)
