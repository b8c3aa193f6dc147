"""Shared recipe of writing operators as those of TensorFlow Lite.

Versions are the lowest ones that runtimes accept for the types, and none that LiteRT's reference kernels lack: these
have DEPTH_TO_SPACE and TILE in version 1 alone, for all types. Source: lite/tools/versioning/op_version.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, cast

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _rounding
from mcugen.ops._window import SlidingWindow
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number


@dataclass(frozen=True, eq=False)
class Pending:
    """A call that is not written yet, as only the operator that reads its results can express it. inputs: its
    operands."""

    call: Call
    inputs: tuple[str | None, ...]


class TfliteTarget(Sink, Protocol):
    """The sink of this format. It also has operators that combine several of mcugen's, and operators with a memory."""

    def pending(self, call: Call, inputs: Sequence[str | None]) -> Sequence[str]:
        """Results that are written later, as part of an operator that also does this call: it gets the call by
        `source`."""

    def source(self, name: str | None) -> Pending | None:
        """The pending call that computes a result."""

    def reshaped(self, x: str, t: TensorType) -> str:
        """x in the shape of mcugen's operator: a RESHAPE, left out where readers take x itself by `unshaped`."""

    def unshaped(self, x: str, *, made_here: bool = False) -> str:
        """The value that a RESHAPE made x of, or x itself. made_here: only such as `reshaped` made."""

    def made_by(self, name: str, operator: str) -> Sequence[str | None] | None:
        """The operands of the `operator` that made a value, None if another one did.

        It is left out if nothing else reads the value.
        """

    def can_keep(self, before: str) -> bool:
        """Whether this is a state that begins as zero, and that no operator keeps in another way than as an operand."""

    def keep_last(self, before: str, steps: str, axis: int) -> None:
        """State that the operator keeps a state as an operand: its next value is the last one of `steps` along an
        axis."""

    def state_at(self, name: str) -> str:
        """The state of which `keep_last` stated that this is the next value; the value itself where it is none."""

    def state_intermediates(self, types: Sequence[TensorType]) -> None:
        """Give the operator that was written last intermediate tensors of these types."""

    def keep(self, before: str, after: str, *, as_variable: bool = False) -> None:
        """State that the operator keeps a state itself: its value now and in the next run.

        as_variable: it is an operand, which the operator changes. Raises UnsupportedError where it is no state of its
        own that begins as zero.
        """


def keeps(sink: TfliteTarget, names: Sequence[str]) -> bool:
    """Whether all of these are states with no other use; if so, operators from now on update them as operands."""
    if not all(sink.can_keep(name) for name in names):
        return False
    for name in names:
        sink.keep(name, name, as_variable=True)
    return True


def to_target(write: Callable[[Call, TfliteTarget, Sequence[str | None]], Sequence[str]]) -> Write:
    """A Write that needs more than a Sink."""
    return Write("tflite", lambda call, sink, inputs: write(call, cast(TfliteTarget, sink), inputs))


Attributes = Callable[[Call], Mapping[str, object]]


def require_runtime_meaning(call: Call) -> None:
    """Raise UnsupportedError where no runtime computes the call, or none with these integer results."""
    if _rounding.is_stated(call):
        raise UnsupportedError(
            f"integer results are rounded once ({call.op.rounding!r}), which no TensorFlow Lite kernel does",
            hint="quantize the float model for TensorFlow Lite",
        )
    if getattr(call.op, "flipped_u8", False):
        raise UnsupportedError("its uint8 data has become int8", hint="write the network as it was imported")
    reasons = {runtime: call.op.refused_by(call, runtime) for runtime in ("tflm", "litert")}
    if all(reasons.values()):
        raise UnsupportedError("no runtime computes it: " + ", ".join(f"{r}: {why}" for r, why in reasons.items()))


def version(t: TensorType, **versions: int) -> int:
    """The version for an element type: 1 for those that are not named."""
    return versions.get(t.dtype, 1)


def operator(
    call: Call,
    sink: Sink,
    name: str,
    inputs: Sequence[str | None],
    attributes: Mapping[str, Any] = MappingProxyType({}),
    number: int = 1,
) -> Sequence[str]:
    """The results of a call, as those of one operator in version `number`."""
    require_runtime_meaning(call)
    return sink.operator(name, inputs, call.outputs, attributes, number)


def _none(call: Call) -> Mapping[str, object]:
    return {}


def same(name: str, attributes: Attributes = _none, **versions: int) -> Write:
    """An operator of the format with the same operands. versions: by the element type of the first one."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        return operator(call, sink, name, inputs, attributes(call), version(call.input(0), **versions))

    return Write("tflite", write)


def custom(name: str, options: Callable[[Call], Mapping[str, Number]] | None = None) -> Write:
    """A custom operator of TensorFlow Lite Micro with the same operands."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        return customized(call, sink, name, inputs, None if options is None else options(call), call.outputs)

    return Write("tflite", write)


def customized(
    call: Call,
    sink: Sink,
    name: str,
    inputs: Sequence[str | None],
    options: Mapping[str, Number] | None,
    outputs: Sequence[TensorType],
) -> Sequence[str]:
    """The results of a custom operator. Raises UnsupportedError where the runtimes do not compute the call."""
    require_runtime_meaning(call)
    data = b"" if options is None else flexbuffer.written(options)
    return sink.operator(f"CUSTOM:{name}", inputs, outputs, {"custom_options": data})


def schema_name(t: TensorType) -> str:
    """The element type as the schema of the format names it."""
    if t.dtype == "bool":
        return "BOOL"
    return {"s": "INT", "u": "UINT", "f": "FLOAT"}[t.dtype[0]] + t.dtype[1:]


def vector(sink: Sink, values: Sequence[int]) -> str:
    """A constant operand of integers: axes, a shape, bounds."""
    return sink.constant(np.asarray(values, np.int32))


def reshape(sink: Sink, x: str, y: TensorType, stated: Sequence[int] | None = None) -> Sequence[str]:
    """RESHAPE to the shape of y. stated: that shape, where -1 means the remaining elements.

    It is operand and attribute both; a scalar's is an attribute alone, as no constant is empty.
    """
    shape = y.shape if stated is None else stated
    operands = [x, vector(sink, shape)] if shape else [x]
    return sink.operator("RESHAPE", operands, [y], {"new_shape": tuple(shape)})


def activation(call: Call) -> dict[str, Any]:
    return {"fused_activation_function": call.op.activation}


def strides(stride: tuple[int, int]) -> dict[str, Any]:
    return {"stride_h": stride[0], "stride_w": stride[1]}


def pad(sink: Sink, x: str, widths: Sequence[tuple[int, int]], value: int | float | None = None) -> str:
    """x with `value` around it; None: with zeros, for quantized types the zero point."""
    t = sink.type(x)
    shape = tuple(size + sum(width) for size, width in zip(t.shape, widths, strict=True))
    operands = [x, sink.constant(np.asarray(widths, np.int32))]
    if value is not None:
        operands.append(sink.constant(np.full((1,), value, t.np_dtype), t.quant))
    name = "PAD" if value is None else "PADV2"
    return sink.operator(name, operands, [t.with_shape(shape)], {}, pad_version(t))[0]


def pad_version(t: TensorType) -> int:
    return 4 if len(t.shape) > 4 else version(t, s8=2, s16=3)


def named_padding(window: SlidingWindow, size: tuple[int, int]) -> str:
    """SAME or VALID where that is what a window does on an image of that height and width, else ""."""
    if isinstance(window.padding, str):
        return window.padding
    for name in ("VALID", "SAME"):
        other = SlidingWindow(window.kernel, window.stride, window.dilation, name)
        fits = all(window.extent(d) <= size[d] for d in (0, 1)) or name == "SAME"
        if fits and (other.output(size), other.pad(size)) == (window.output(size), window.pad(size)):
            return name
    return ""


def around(sink: Sink, x: str, window: SlidingWindow, value: int | float | None = None) -> tuple[str, str]:
    """The operand of a window and its padding: SAME, VALID, or VALID on a padded image. value: as for `pad`."""
    height, width = sink.type(x).shape[1:3]
    name = named_padding(window, (height, width))
    if name or isinstance(window.padding, str):
        return x, name
    return pad(sink, x, ((0, 0), *window.padding, (0, 0)), value), "VALID"
