"""JSON Schema of report.json, derived from the classes of mcugen.report.facts. docs/report.schema.json is a copy."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from mcugen.report.facts import SCHEMA, Report

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_KINDS: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def schema() -> dict[str, Any]:
    """The schema of report.json for one model."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"report.json of mcugen, schema {SCHEMA}",
        "description": "A build of one model. Several models that share their memory have `models`, a list of these.",
        **_of(Report),
    }


def _of(kind: Any) -> dict[str, Any]:
    """The schema of a Python type."""
    if kind in _NAMES:
        return {"type": _NAMES[kind]}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _of_class(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0])}
    if origin is types.UnionType:
        return {"anyOf": [_of(one) for one in arguments]}
    raise TypeError(f"{kind} has no schema")


def _of_class(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    names = [item.name for item in dataclasses.fields(kind)]
    return {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "properties": {name: _of(hints[name]) for name in names},
        "required": names,
        "additionalProperties": False,
    }


def misfit(value: Any, wanted: Any = None, place: str = "") -> str:
    """Path of the first value that does not match the schema; "" if all match. wanted: a part of the schema, by default
    the whole.
    """
    part = schema() if wanted is None else wanted
    if "anyOf" in part:
        return "" if any(not misfit(value, one) for one in part["anyOf"]) else place or "the document"
    kind: Any = _KINDS.get(part["type"], type(None))
    if not isinstance(value, kind) or (isinstance(value, bool) and part["type"] != "boolean"):
        return place or "the document"
    if part["type"] == "array":
        return next((bad for k, v in enumerate(value) if (bad := misfit(v, part["items"], f"{place}[{k}]"))), "")
    if part["type"] == "object":
        if odd := sorted({*value} ^ {*part["required"]}):
            return f"{place}.{odd[0]}"
        return next((bad for k, v in value.items() if (bad := misfit(v, part["properties"][k], f"{place}.{k}"))), "")
    return ""
