"""SignalDelay and SignalFramer: results are slices of the samples saved in earlier runs, followed by the new ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import Shape
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.pack import Pack
from mcugen.ops.strided_slice import StridedSlice
from mcugen.system import flexbuffer


def _delay(source: Source, e: Expansion) -> Sequence[str]:
    """The samples delayed by `delay_length`; zeros at first. Source: TFLM signal library, delay.cc."""
    length = int(flexbuffer.options(source.attributes["custom_options"], delay_length=0)["delay_length"])
    x, size = _samples(e)
    if not 0 <= length <= _MOST:
        raise UnsupportedError(f"a delay of {length} samples is not supported")
    if not length:
        return [x]
    joined = _joined(e, x, "delayed", length)
    e.write(e.own("delayed"), _part(e, joined, size, length))
    return [_part(e, joined, 0, size)]


def _framer(source: Source, e: Expansion) -> Sequence[str]:
    """Overlapping frames, and whether all of them are complete. Source: TFLM signal library, framer.cc.

    Incomplete frames begin with zeros here, and with undefined samples in the runtime.
    """
    options = flexbuffer.options(source.attributes["custom_options"], frame_size=0, frame_step=0, prefill=0)
    size, step = int(options["frame_size"]), int(options["frame_step"])
    x, given = _samples(e)
    if not 0 < step <= size <= _MOST or given % step:
        raise ShapeError(f"{given} samples cannot be cut into frames of {size} samples with a step of {step}")
    frames = given // step
    steps = -(-size // step)
    kept = size - step if options["prefill"] else (steps - 1) * step
    joined = _joined(e, x, "kept", kept)
    if kept:
        e.write(e.own("kept"), _part(e, joined, given, kept))
    made = [_part(e, joined, k * step, size) for k in range(frames)]
    y = e.node(Pack(len(e.type(x).shape) - 1), *made)
    return [y, e.constant(np.array(True)) if options["prefill"] or steps == 1 else _is_full(e, steps - 1, frames)]


def _is_full(e: Expansion, missing: int, frames: int) -> str:
    """Whether the first frame of a run is complete: a state counts up from -missing to 0."""
    one = e.constant(np.array(1, np.int32))
    zero = e.constant(np.array(0, np.int32))
    counter = e.own("missing")
    count = e.read(counter, np.array(-missing, np.int32))
    more = e.node(Add(), count, e.constant(np.array(frames, np.int32)))
    e.write(counter, e.node(Minimum(), more, zero))
    return e.node(Cast("bool"), e.node(Maximum(), e.node(Add(), count, one), zero))


_MOST = 1 << 16


def _samples(e: Expansion) -> tuple[str, int]:
    """The data and the length of its last axis."""
    e.refuse("litert", "no operator of the signal library")
    x = e.inputs[0] if e.inputs else None
    if x is None or e.type(x).dtype != "s16" or not e.type(x).shape:
        raise UnsupportedError("samples that are not s16 are not supported")
    return x, e.type(x).shape[-1]


def _joined(e: Expansion, x: str, name: str, kept: int) -> str:
    """The samples saved so far (zeros at first) followed by the new ones."""
    if not kept:
        return x
    shape: Shape = (*e.type(x).shape[:-1], kept)
    before = e.read(e.own(name), np.zeros(shape, np.int16), e.type(x).quant)
    return e.node(Concatenation(len(shape) - 1), before, x, quant=e.type(x).quant)


def _part(e: Expansion, x: str, first: int, count: int) -> str:
    """Samples [first, first + count) of the last axis."""
    t = e.type(x)
    if (first, count) == (0, t.shape[-1]):
        return x
    ranges = (*((0, d, 1) for d in t.shape[:-1]), (first, count, 1))
    return e.node(StridedSlice(ranges, (*t.shape[:-1], count)), x, quant=t.quant)


IMPORTS = (
    Import("tflite", "CUSTOM:SignalDelay", expand=_delay),
    Import("tflite", "CUSTOM:SignalFramer", expand=_framer),
)
