"""Whole signals for a model that takes a stream of samples: sounds [time], or arrays [time] or [time, channels]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import SampleStream
from mcugen.ir.types import TensorType
from mcugen.samples.column import Column
from mcugen.samples.preprocess import Plan, Word, parse

_IN_FILES = ("mono", "length")
"""Words that the host applies to files, besides `rate`. The C applies the others to each window."""


def plan_of(given: Plan, stream: SampleStream, words: tuple[Word, ...]) -> Plan:
    """The words that turn a sound file into a signal at the rate of the stream: `mono`, `rate`, and `length` if given.

    given: the words of --preprocess.
    """
    kept = [step.text for step in given.steps if step.name in _IN_FILES]
    lengths = [text for text in kept if text != "mono"]
    return parse(",".join(["mono", f"rate={stream.rate}", *lengths]), words)


def in_turn(column: Column, t: TensorType) -> Column:
    """Signals [time, channels] as the numbers of all channels in turn, for an input [1, time, channels] of type t."""
    if len(column.shape) != 2 or len(t.shape) != 3 or column.shape[1] != t.shape[2]:
        return column
    length = column.shape[0] * column.shape[1]
    return replace(column, shape=(length,), blocks=lambda n: (block.reshape(-1, length) for block in column.blocks(n)))


def type_of(column: Column, t: TensorType) -> TensorType:
    """The type of a signal as the loader reads it, for an input of type t. Raises UsageError.

    Sounds are real numbers, also for an input of integers without a scale; see `stored`.
    """
    if len(column.shape) != 1:
        message = f"expected signals of shape [time], found {list(column.shape)}"
        hint = "give an array [n, time], a row for each signal, or [n, time, channels] with the channels of the input"
        raise UsageError(message, where=column.where, hint=hint)
    is_real = column.count and next(column.blocks(1)).dtype.kind == "f"
    return TensorType(column.shape, "f32") if is_real else TensorType(column.shape, t.dtype, t.quant)


def stored(values: np.ndarray, t: TensorType) -> np.ndarray:
    """Real signals from -1 to 1 as integers, for an input without a scale; any other signals unchanged."""
    if values.dtype.kind != "f" or t.is_float or t.quant is not None:
        return values
    low, high = t.limits
    return np.clip(np.rint(values.astype(np.float64) * -float(low)), low, high).astype(t.np_dtype)
