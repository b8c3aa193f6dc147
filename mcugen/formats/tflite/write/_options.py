"""The options table of an operator, from attributes that are named as in imports."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import flatbuffers
import numpy as np
import tflite

_SHARED = {
    "Pool2DOptions": "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D",
    "ReducerOptions": "MEAN SUM REDUCE_PROD REDUCE_MAX REDUCE_MIN REDUCE_ANY REDUCE_ALL",
    "MaximumMinimumOptions": "MAXIMUM MINIMUM",
    "L2NormOptions": "L2_NORMALIZATION",
    "SequenceRNNOptions": "UNIDIRECTIONAL_SEQUENCE_RNN",
}
"""Tables that are not named after their operators."""

_ENUMS = {
    "padding": tflite.Padding,
    "fused_activation_function": tflite.ActivationFunctionType,
    "weights_format": tflite.FullyConnectedOptionsWeightsFormat,
    "mode": tflite.MirrorPadMode,
    "kernel_type": tflite.LSTMKernelType,
}
"""Attribute -> enumeration that has its value, a name. All other attributes with names are element types."""

_TEXTS = ("container", "shared_name")


def written(b: flatbuffers.Builder, operator: str, attributes: Mapping[str, Any]) -> tuple[int, int | None]:
    """The kind and the offset of the table; (0, None) for operators without one."""
    table = _table(operator)
    if not table:
        return 0, None
    module = importlib.import_module(f"tflite.{table}")
    values = {key: _value(b, key, value) for key, value in sorted(attributes.items())}
    getattr(module, f"{table}Start")(b)
    for key, value in values.items():
        getattr(module, f"{table}Add{_camel(key)}")(b, value)
    return int(getattr(tflite.BuiltinOptions, table)), int(getattr(module, f"{table}End")(b))


@cache
def _table(operator: str) -> str:
    """The options table of an operator, "" if it has none."""
    shared = next((table for table, names in _SHARED.items() if operator in names.split()), "")
    wanted = operator.replace("_", "").lower() + "options"
    return shared or next((name for name in vars(tflite.BuiltinOptions) if name.lower() == wanted), "")


def _value(b: flatbuffers.Builder, key: str, value: Any) -> Any:
    if key in _TEXTS:
        return b.CreateString(value)
    if isinstance(value, str):
        return getattr(_ENUMS.get(key, tflite.TensorType), value)
    if isinstance(value, (list, tuple)):
        return b.CreateNumpyVector(np.asarray(value, "<i4"))
    return value


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
