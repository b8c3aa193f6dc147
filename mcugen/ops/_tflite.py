"""Shared recipe of writing operators to TensorFlow Lite.

An operator gets the lowest version that runtimes accept for its types. LiteRT's reference kernels have only version 1
of DEPTH_TO_SPACE and TILE, for all types. Source: lite/tools/versioning/op_version.cc.
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
    """A call that is written as a part of the operator that reads its results. inputs: names of the call's operands."""

    call: Call
    inputs: tuple[str | None, ...]


class TfliteTarget(Sink, Protocol):
    """A .tflite network that is written. Its operators may combine several operators of mcugen, and may keep state."""

    def pending(self, call: Call, inputs: Sequence[str | None]) -> Sequence[str]:
        """Names of results that no operator computes yet. The operator that reads them gets the call from `source`."""

    def source(self, name: str | None) -> Pending | None:
        """The pending call with this result; None if there is none."""

    def reshaped(self, x: str, t: TensorType) -> str:
        """The name of a RESHAPE of x to the type t. The RESHAPE is dropped if all its readers use `unshaped`."""

    def unshaped(self, x: str, *, made_here: bool = False) -> str:
        """The operand of the RESHAPE that computes x; x if no RESHAPE does.

        made_here: only if `reshaped` appended the RESHAPE.
        """

    def made_by(self, name: str, operator: str) -> Sequence[str | None] | None:
        """The operands of the operator that computes a value; None unless it is an `operator`.

        The operator is dropped if nothing else reads the value.
        """

    def can_keep(self, before: str) -> bool:
        """Whether an operator can update this state as its operand.

        It can if the state begins as zero and no operator updates it otherwise.
        """

    def keep_last(self, before: str, steps: str, axis: int) -> None:
        """Record that the operator updates a state as its operand. The state's next value is the last step of `steps`.

        before: name of the state's present value. axis: the axis of `steps` along which the steps lie.
        """

    def state_at(self, name: str) -> str:
        """The state that `keep_last` recorded with `name` as its next value; else `name` itself."""

    def state_intermediates(self, types: Sequence[TensorType]) -> None:
        """Add intermediate tensors of these types to the operator written last."""

    def keep(self, before: str, after: str, *, as_variable: bool = False) -> None:
        """Record that the operator updates a state itself. before, after: the state's present and next value.

        as_variable: the state is an operand that the operator changes. Raises UnsupportedError unless the state begins
        as zero and no other operator updates it.
        """


def keeps(sink: TfliteTarget, names: Sequence[str]) -> bool:
    """Whether the operator can update all these states as its operands (`can_keep`); if so, records that it does."""
    if not all(sink.can_keep(name) for name in names):
        return False
    for name in names:
        sink.keep(name, name, as_variable=True)
    return True


def to_target(write: Callable[[Call, TfliteTarget, Sequence[str | None]], Sequence[str]]) -> Write:
    """A Write to .tflite with a function that takes a TfliteTarget."""
    return Write("tflite", lambda call, sink, inputs: write(call, cast(TfliteTarget, sink), inputs))


Attributes = Callable[[Call], Mapping[str, object]]


def require_runtime_meaning(call: Call) -> None:
    """Raise UnsupportedError if no runtime computes the call with these results."""
    if _rounding.is_stated(call):
        raise UnsupportedError(
            f"the integer results are rounded once ({call.op.rounding!r}): TensorFlow Lite kernels round otherwise",
            hint="quantize the float model for TensorFlow Lite",
        )
    if getattr(call.op, "flipped_u8", False):
        raise UnsupportedError(
            "uint8 data of the model was converted to int8, which changes results in runtimes",
            hint="write the network as it was imported",
        )
    reasons = {runtime: call.op.refused_by(call, runtime) for runtime in ("tflm", "litert")}
    if all(reasons.values()):
        raise UnsupportedError("no runtime computes it: " + ", ".join(f"{r}: {why}" for r, why in reasons.items()))


def version(t: TensorType, **versions: int) -> int:
    """The operator version for the element type of t. versions: element type -> version; 1 for other types."""
    return versions.get(t.dtype, 1)


def operator(
    call: Call,
    sink: Sink,
    name: str,
    inputs: Sequence[str | None],
    attributes: Mapping[str, Any] = MappingProxyType({}),
    number: int = 1,
) -> Sequence[str]:
    """The results of a call, written as one operator of version `number`.

    Raises UnsupportedError if no runtime computes the call.
    """
    require_runtime_meaning(call)
    return sink.operator(name, inputs, call.outputs, attributes, number)


def _none(call: Call) -> Mapping[str, object]:
    return {}


def same(name: str, attributes: Attributes = _none, **versions: int) -> Write:
    """A Write to one operator with the same operands. versions: element type of operand 0 -> operator version."""

    def write(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
        return operator(call, sink, name, inputs, attributes(call), version(call.input(0), **versions))

    return Write("tflite", write)


def custom(name: str, options: Callable[[Call], Mapping[str, Number]] | None = None) -> Write:
    """A Write to a custom operator of TensorFlow Lite Micro with the same operands."""

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
    """The results of a custom operator. Raises UnsupportedError if no runtime computes the call."""
    require_runtime_meaning(call)
    data = b"" if options is None else flexbuffer.written(options)
    return sink.operator(f"CUSTOM:{name}", inputs, outputs, {"custom_options": data})


def schema_name(t: TensorType) -> str:
    """The name of the element type in the schema of .tflite."""
    if t.dtype == "bool":
        return "BOOL"
    return {"s": "INT", "u": "UINT", "f": "FLOAT"}[t.dtype[0]] + t.dtype[1:]


def vector(sink: Sink, values: Sequence[int]) -> str:
    """A constant operand of integers: axes, a shape, bounds."""
    return sink.constant(np.asarray(values, np.int32))


def reshape(sink: Sink, x: str, y: TensorType, stated: Sequence[int] | None = None) -> Sequence[str]:
    """RESHAPE of x to the shape of y. stated: the shape to write, in which one -1 means the remaining elements.

    The shape is written as operand and attribute. For a scalar it is an attribute alone, as constants cannot be empty.
    """
    shape = y.shape if stated is None else stated
    operands = [x, vector(sink, shape)] if shape else [x]
    return sink.operator("RESHAPE", operands, [y], {"new_shape": tuple(shape)})


def activation(call: Call) -> dict[str, Any]:
    return {"fused_activation_function": call.op.activation}


def strides(stride: tuple[int, int]) -> dict[str, Any]:
    return {"stride_h": stride[0], "stride_w": stride[1]}


def pad(sink: Sink, x: str, widths: Sequence[tuple[int, int]], value: int | float | None = None) -> str:
    """x padded with `value`; None: with real zero. widths: (before, after) per axis."""
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
    """"SAME" or "VALID" if it pads an image of that (height, width) as the window does, else ""."""
    if isinstance(window.padding, str):
        return window.padding
    for name in ("VALID", "SAME"):
        other = SlidingWindow(window.kernel, window.stride, window.dilation, name)
        fits = all(window.extent(d) <= size[d] for d in (0, 1)) or name == "SAME"
        if fits and (other.output(size), other.pad(size)) == (window.output(size), window.pad(size)):
            return name
    return ""


def around(sink: Sink, x: str, window: SlidingWindow, value: int | float | None = None) -> tuple[str, str]:
    """(image, padding) to write for a window over x: "SAME" or "VALID", with the image padded first if neither fits.

    value: see `pad`.
    """
    height, width = sink.type(x).shape[1:3]
    name = named_padding(window, (height, width))
    if name or isinstance(window.padding, str):
        return x, name
    return pad(sink, x, ((0, 0), *window.padding, (0, 0)), value), "VALID"
