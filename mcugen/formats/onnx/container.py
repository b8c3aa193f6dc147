"""The container of ONNX files: it parses bytes into a checked, flat graph of plain Python values.

Operators are not interpreted here.

Source: the ONNX specification (onnx/docs/IR.md); the onnx package parses, checks, inlines and converts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import checker, external_data_helper, inliner, numpy_helper, version_converter

from mcugen.errors import CorruptModelError, McugenError, UnsupportedError

OPSET = 21
"""Older models are converted up to this version of the operators; newer ones are read as they are."""

Dims = tuple[int | None, ...]
"""A declared shape, with None for open sizes."""

Kept = Callable[[str, int], bool]
"""Function (operator, version) -> whether the operator is imported in this old version, without conversion."""

_DEFAULT = "ai.onnx"
"""The domain of ONNX itself; files may also leave it empty."""

_KEPT_DOMAIN = "mcugen.kept"
"""Temporary domain of operators that must not be converted: the converter skips unknown domains."""

_UNCONVERTED = frozenset({"EyeLike", "RegexFullMatch"})
"""Operators that are equal in all versions. The converter would crash on them if an operand's type is unknown."""

_UINT16_HINT = (
    "uint16 is read inside a network, not at its inputs and outputs: make these float,\n"
    "with QuantizeLinear and DequantizeLinear in the model, or int16"
)

MAX_NODES = 10_000
MAX_ELEMENTS = 1 << 28
DTYPES: Mapping[int, str] = {
    onnx.TensorProto.INT8: "s8",
    onnx.TensorProto.UINT8: "u8",
    onnx.TensorProto.INT16: "s16",
    onnx.TensorProto.INT32: "s32",
    onnx.TensorProto.INT64: "s64",
    onnx.TensorProto.FLOAT16: "f16",
    onnx.TensorProto.FLOAT: "f32",
    onnx.TensorProto.BOOL: "bool",
}
_HINT = "check the file with onnx.checker, and export it again"


@dataclass(frozen=True)
class RawInput:
    """A graph input or output as declared: dims are numbers, or names for sizes that are only known at run time.

    dtype: "text" for strings, "map" for lists of maps, which classifiers put around their scores.
    """

    name: str
    dims: tuple[int | str, ...] | None
    dtype: str


@dataclass(frozen=True, eq=False)
class RawNode:
    """An operator: domain, name and version identify it; attributes are numbers, strings, arrays and lists.

    proto: the operator as the file states it.
    """

    domain: str
    type: str
    version: int
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: onnx.NodeProto


@dataclass(frozen=True, eq=False)
class OnnxGraph:
    """A subgraph of an operator, for loops and branches: the names of its operands and results, and its constants.

    shapes: declared shapes of values that the graph computes.
    """

    nodes: tuple[RawNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, np.ndarray]
    shapes: Mapping[str, Dims] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A flat graph: local functions are inlined, and operators of old versions are converted to the newest one.

    opset: the version that the file states.

    shapes: declared shapes of computed values.
    """

    nodes: tuple[RawNode, ...]
    inputs: tuple[RawInput, ...]
    outputs: tuple[RawInput, ...]
    constants: Mapping[str, np.ndarray]
    opset: int
    shapes: Mapping[str, Dims]


def read(data: bytes, folder: Path | None, keeps: Kept = lambda name, version: False) -> OnnxModel:
    """Parse a model. folder: where its external data lie, if any; keeps: predicate of operators that are not converted.

    Raises CorruptModelError for an invalid model, UnsupportedError for features or sizes beyond the limits.
    """
    model = _parsed(data)
    _check_limits(model)
    if folder is not None:  # before the check, which would look for the data in the working directory
        guarded("has external data that cannot be read", _load_external, model, folder)
    model = guarded("is not a valid model", _checked, model)
    model = guarded("has local functions that cannot be inlined", inliner.inline_local_functions, model)
    _check_limits(model)
    stated, shapes = _opset(model), _shapes(model.graph)
    model = guarded(f"cannot be converted to opset {OPSET}", _converted, model, keeps)
    return _raw(model, stated, shapes)


def _parsed(data: bytes) -> onnx.ModelProto:
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise CorruptModelError("this is not an ONNX file, or it is damaged or truncated") from error
    if not model.HasField("graph") or not model.graph.output:
        raise CorruptModelError("the file has no graph, or a graph without outputs", hint=_HINT)
    _rename_default(model)
    return model


def _rename_default(model: onnx.ModelProto) -> None:
    """Use the empty name of the default domain throughout: the onnx package handles "ai.onnx" only in places."""
    named = [*model.opset_import, *model.functions, *_all_nodes(model.graph.node)]
    for function in model.functions:
        named += [*function.opset_import, *_all_nodes(function.node)]
    for part in named:
        if part.domain == _DEFAULT:
            part.domain = ""


def guarded(what: str, step: Any, *arguments: Any) -> Any:
    """The result of a function of the onnx package. Any exception, as for damaged files, becomes CorruptModelError."""
    try:
        return step(*arguments)
    except McugenError:
        raise
    except Exception as error:
        reason = re.sub(r"\s+", " ", str(error)).strip()
        raise CorruptModelError(f"the file {what}: {reason[:300]}", hint=_HINT) from error


def _check_limits(model: onnx.ModelProto) -> None:
    count = len(model.graph.node) + sum(len(function.node) for function in model.functions)
    if count > MAX_NODES:
        raise UnsupportedError(f"the model has {count} operators, more than {MAX_NODES}")


def _checked(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, after the onnx package has checked it.

    The checks require shapes of outputs, which runtimes do not need: a copy with empty shapes is checked in this case.
    """
    shapeless = [k for k, value in enumerate(model.graph.output) if _has_no_shape(value)]
    asked = model
    if shapeless:
        asked = onnx.ModelProto()
        asked.CopyFrom(model)
    for k in shapeless:
        asked.graph.output[k].type.tensor_type.shape.SetInParent()
    checker.check_model(asked, skip_opset_compatibility_check=True)
    return model


def _has_no_shape(value: onnx.ValueInfoProto) -> bool:
    return value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape")


def _load_external(model: onnx.ModelProto, folder: Path) -> None:
    external_data_helper.load_external_data_for_model(model, str(folder))


def _converted(model: onnx.ModelProto, keeps: Kept) -> onnx.ModelProto:
    """The model with operators of version OPSET, except those that keep their version."""
    stated = _opset(model)
    if stated >= OPSET:
        return model
    for node in _all_nodes(model.graph.node):
        if not node.domain and (node.op_type in _UNCONVERTED or keeps(node.op_type, stated)):
            node.domain = _KEPT_DOMAIN
    model.opset_import.append(onnx.helper.make_opsetid(_KEPT_DOMAIN, stated))
    return version_converter.convert_version(model, OPSET)


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterable[onnx.NodeProto]:
    """The nodes, and the nodes of their subgraphs at any depth."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _all_nodes(attribute.g.node)


def _opset(model: onnx.ModelProto) -> int:
    """The version of the operators that the file states."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    return int(versions.get("", OPSET))


def _raw(model: onnx.ModelProto, opset: int, shapes: Mapping[str, Dims]) -> OnnxModel:
    graph = model.graph
    if graph.sparse_initializer:
        raise UnsupportedError("sparse constants are not supported", hint="store them dense")
    constants = {tensor.name: _array(tensor) for tensor in graph.initializer}
    versions = {entry.domain: entry.version for entry in model.opset_import}
    nodes = tuple(raw_node(node, versions) for node in graph.node)
    inputs = tuple(_declared(value) for value in graph.input if value.name not in constants)
    outputs = tuple(_declared(value, is_output=True) for value in graph.output)
    return OnnxModel(nodes, inputs, outputs, constants, opset, shapes)


def raw_node(node: onnx.NodeProto, versions: Mapping[str, int]) -> RawNode:
    """An operator as plain values. versions: domain -> version of its operators."""
    domain = "" if node.domain == _KEPT_DOMAIN else node.domain
    attributes = {attribute.name: _value(attribute, versions) for attribute in node.attribute}
    version = versions.get(node.domain, 1)
    return RawNode(domain, node.op_type, version, node.name, tuple(node.input), tuple(node.output), attributes, node)


def _value(attribute: onnx.AttributeProto, versions: Mapping[str, int]) -> Any:
    kind = onnx.AttributeProto
    plain = {kind.FLOAT: "f", kind.INT: "i", kind.FLOATS: "floats", kind.INTS: "ints"}
    if attribute.type in plain:
        found = getattr(attribute, plain[attribute.type])
        return found if attribute.type in (kind.FLOAT, kind.INT) else tuple(found)
    if attribute.type == kind.STRING:
        return _text(attribute.s)
    if attribute.type == kind.STRINGS:
        return tuple(_text(item) for item in attribute.strings)
    if attribute.type == kind.TENSOR:
        return _array(attribute.t)
    return _graph(attribute.g, versions) if attribute.type == kind.GRAPH else None


def _graph(graph: onnx.GraphProto, versions: Mapping[str, int]) -> OnnxGraph:
    if graph.sparse_initializer:
        raise UnsupportedError("sparse constants are not supported", hint="store them dense")
    return OnnxGraph(
        tuple(raw_node(node, versions) for node in graph.node),
        tuple(value.name for value in graph.input),
        tuple(value.name for value in graph.output),
        {tensor.name: _array(tensor) for tensor in graph.initializer},
        _shapes(graph),
    )


def _shapes(graph: onnx.GraphProto) -> dict[str, Dims]:
    """The shapes that a graph declares for its results and intermediate values."""
    known = ((v.name, v.type.tensor_type) for v in (*graph.value_info, *graph.output))
    stated = ((name, tensor.shape.dim) for name, tensor in known if tensor.HasField("shape"))
    return {name: tuple(d.dim_value if d.dim_value > 0 else None for d in dims) for name, dims in stated}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _array(tensor: onnx.TensorProto) -> np.ndarray:
    elements = int(np.prod([int(d) for d in tensor.dims], dtype=object)) if tensor.dims else 1
    if any(d < 0 for d in tensor.dims) or elements > MAX_ELEMENTS:
        what = f"constant {tensor.name!r} has the shape {list(tensor.dims)[:8]}"
        raise CorruptModelError(f"{what}, which is negative or above {MAX_ELEMENTS} elements")
    array = guarded(f"holds constant {tensor.name!r} that cannot be read", numpy_helper.to_array, tensor)
    return np.asarray(array)


def _declared(value: onnx.ValueInfoProto, *, is_output: bool = False) -> RawInput:
    if is_output and _is_list_of_maps(value):
        return RawInput(value.name, None, "map")
    if not value.type.HasField("tensor_type"):
        hint = "export the model with tensors as inputs and outputs, not sequences, maps or optional values"
        raise UnsupportedError(f"{value.name!r} is not a tensor", hint=hint)
    tensor = value.type.tensor_type
    if is_output and tensor.elem_type == onnx.TensorProto.STRING:
        return RawInput(value.name, None, "text")
    if tensor.elem_type not in DTYPES:
        names = onnx.TensorProto.DataType.DESCRIPTOR.values_by_number
        kind = names[tensor.elem_type].name if tensor.elem_type in names else tensor.elem_type
        hint = _UINT16_HINT if kind == "UINT16" else ""
        raise UnsupportedError(f"element type {kind} of {value.name!r} is not supported", hint=hint)
    dims = tuple(_dims(tensor.shape.dim)) if tensor.HasField("shape") else None
    return RawInput(value.name, dims, DTYPES[tensor.elem_type])


def _is_list_of_maps(value: onnx.ValueInfoProto) -> bool:
    is_list = value.type.HasField("sequence_type")
    return bool(is_list and value.type.sequence_type.elem_type.HasField("map_type"))


def _dims(dims: Iterable[onnx.TensorShapeProto.Dimension]) -> Iterable[int | str]:
    for k, dim in enumerate(dims):
        yield dim.dim_value if dim.HasField("dim_value") else dim.dim_param or f"dimension {k}"
