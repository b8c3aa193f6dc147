"""ONNX functions: definitions of operators by simpler ones, for operators that mcugen lacks.

Source: the ONNX specification (onnx/docs/IR.md, "Functions"); the definitions are in the onnx package's schemas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx

from mcugen.formats.onnx.container import DTYPES, RawNode, raw_node
from mcugen.ir.types import TensorType

_KINDS = {dtype: kind for kind, dtype in DTYPES.items()}


def body(node: RawNode, types: Sequence[TensorType | None]) -> tuple[RawNode, ...] | None:
    """The body of the ONNX function that defines an operator; None if ONNX has no function for it.

    types: the types of its operands. Names of values inside the function begin with the operator's first result, so
    that they are unique.
    """
    schema = _schema(node)
    function = None if schema is None else _function(schema, node, types)
    if schema is None or function is None:
        return None
    prefix = next((name for name in node.outputs if name), "")
    names = dict.fromkeys((*function.input, *function.output), "")
    names |= dict(zip(function.input, node.inputs, strict=False))
    names |= {
        formal: given or f"{prefix}/{formal}"
        for formal, given in zip(function.output, (*node.outputs, *("",) * len(function.output)), strict=False)
    }
    given = _attributes(schema, node)
    versions = {"" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in function.opset_import}
    versions.setdefault("", node.version)
    return tuple(raw_node(_renamed(inner, names, prefix, given), versions) for inner in function.node)


def exists(node: RawNode) -> bool:
    """Whether ONNX defines the operator by a function."""
    schema = _schema(node)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def _schema(node: RawNode) -> Any:
    try:
        return onnx.defs.get_schema(node.type, node.version, node.domain)
    except onnx.defs.SchemaError:
        return None


def _function(schema: Any, node: RawNode, types: Sequence[TensorType | None]) -> onnx.FunctionProto | None:
    """The function body for the newest opset that is not newer than the node's, else for the oldest opset.

    The latter happens to operators inside another function body, which may have an old opset.
    """
    fixed = schema.function_opset_versions
    made = [v for v in schema.context_dependent_function_opset_versions if v <= node.version]
    if fixed:
        version = max((v for v in fixed if v <= node.version), default=min(fixed))
        return _parsed(schema.get_function_with_opset_version(version))
    if not made:
        return None
    stated = onnx.NodeProto()
    stated.CopyFrom(node.proto)
    present = {attribute.name for attribute in stated.attribute}
    stated.attribute.extend(a for name, a in _attributes(schema, node).items() if name not in present)
    kinds = [_kind(t).SerializeToString() for t in types]
    data = schema.get_context_dependent_function_with_opset_version(max(made), stated.SerializeToString(), kinds)
    return _parsed(data) if data else None


def _parsed(data: bytes) -> onnx.FunctionProto:
    found: onnx.FunctionProto = onnx.FunctionProto.FromString(data)
    return found


def _kind(t: TensorType | None) -> onnx.TypeProto:
    """The type of an operand; an empty type if it is absent."""
    return onnx.TypeProto() if t is None else onnx.helper.make_tensor_type_proto(_KINDS[t.dtype], t.shape)


def _attributes(schema: Any, node: RawNode) -> dict[str, onnx.AttributeProto]:
    """The attributes of the operator: the schema's defaults, and those that the node states."""
    defaults = {name: a.default_value for name, a in schema.attributes.items() if a.default_value.type}
    return {**defaults, **{attribute.name: attribute for attribute in node.proto.attribute}}


def _renamed(
    node: onnx.NodeProto, names: Mapping[str, str], prefix: str, given: Mapping[str, onnx.AttributeProto]
) -> onnx.NodeProto:
    """A node of a function body with names as outside of the function, and with the operator's attributes."""
    made = onnx.NodeProto()
    made.CopyFrom(node)
    del made.attribute[:]
    for part in (made.input, made.output):
        part[:] = [_outside(name, names, prefix) for name in part]
    for attribute in node.attribute:
        if attribute.ref_attr_name and attribute.ref_attr_name not in given:
            continue
        kept = made.attribute.add()
        kept.CopyFrom(given[attribute.ref_attr_name] if attribute.ref_attr_name else attribute)
        kept.name = attribute.name
        if kept.type == onnx.AttributeProto.GRAPH:
            _rename_graph(kept.g, names, prefix, given)
    return made


def _outside(name: str, names: Mapping[str, str], prefix: str) -> str:
    return names.get(name, f"{prefix}/{name}") if name else ""


def _rename_graph(
    graph: onnx.GraphProto, names: Mapping[str, str], prefix: str, given: Mapping[str, onnx.AttributeProto]
) -> None:
    """Rename all values of a graph within a function."""
    for part in (graph.input, graph.output, graph.initializer, graph.value_info):
        for value in part:
            value.name = _outside(value.name, names, prefix)
    nodes = [_renamed(node, names, prefix, given) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
