"""PAD and PADV2: elements of one value, added around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, RowWindow, Whole, Window
from mcugen.ir.op import Example, Op, Reordered, Slimmed, has_int16_zero_point
from mcugen.ir.ranges import Range, Removal
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _ordered, _pool, _strided, _tflite

Widths = tuple[tuple[int, int], ...]


def from_tflite(source: Source) -> Imported:
    widths = source.ints(1)
    if widths is None:
        raise UnsupportedError("the padding (operand 1) is computed at run time", hint="make it a constant")
    pairs = tuple(zip(widths[0::2], widths[1::2], strict=False))
    wide = source.inputs[1] is not None and source.inputs[1].dtype != "s32"
    refusing = {"tflm": "it reads int64 widths as int32"} if wide else {}
    return Imported(Pad(pairs), inputs=(0, 2) if source.name == "PADV2" else (0,), refused_by=refusing)


def _widths(call: Call) -> Widths:
    assert isinstance(call.op, Pad)
    return call.op.widths


def pad_value(call: Call, value: np.ndarray | None = None) -> int | float:
    """The stored value of the padding: the operand `value`, else the output's zero point."""
    if value is not None:
        return float(value.reshape(-1)[0]) if call.output.is_float else int(value.reshape(-1)[0])
    return call.output.quant.zero_point[0] if call.output.quant else 0


def constant_value(call: Call) -> int | float:
    return pad_value(call, call.constant(1) if call.has(1) else None)


def value_is_constant(call: Call) -> bool:
    "the padding value is constant"
    return not call.has(1) or call.constants[1] is not None


def pads_rows(call: Call) -> bool:
    "only rows, columns and channels of images are padded"
    return len(call.output.shape) == 4 and _widths(call)[0] == (0, 0)


def row_window(call: Call) -> RowWindow:
    return RowWindow(1, 1, 1, _widths(call)[1][0], call.input(0).shape[1], call.output.shape[1])


def row_params(call: Call) -> Params:
    """The struct fields of a padded row: `before` padding elements, `runs` times `run` elements of the input with `gap`
    padding elements in between, `after` padding elements.
    """
    x, y = call.input(0).shape, call.output.shape
    (left, right), (first, last) = _widths(call)[2:]
    joined = first == last == 0
    return {
        "value": constant_value(call),
        "before": left * y[3] + first,
        "runs": 1 if joined else x[2],
        "run": x[2] * x[3] if joined else x[3],
        "gap": first + last,
        "after": right * y[3] + last,
    }


def whole_params(call: Call) -> Params:
    """The struct fields of a kernel that fills the output with the value, then copies the input into it."""
    x, y, element = call.input(0), call.output, call.output.np_dtype.itemsize
    strides = _strided.dense(y.shape)
    found = _strided.loops(x.shape, _strided.dense(x.shape), strides)
    first = sum(before * stride for (before, _), stride in zip(_widths(call), strides, strict=True))
    value = np.array(constant_value(call), y.np_dtype)
    return {
        **_strided.fields(found, element),
        "offset": first * element,
        "elements": y.size,
        "value": np.frombuffer(value.astype(value.dtype.newbyteorder("<")).tobytes(), np.uint8),
    }


def _row_kernel(dtype: str, rule: Any) -> Kernel:
    return Kernel(
        f"mg_pad_rows_{dtype}",
        Window(row_window, constant_value),
        accepts=(rule, value_is_constant, pads_rows),
        params=row_params,
        operands=(0,),
    )


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    widths = sink.constant(np.asarray(call.op.widths, np.int32))
    name = "PADV2" if call.has(1) else "PAD"
    operands = [inputs[0], widths, *(inputs[1:] if call.has(1) else ())]
    return _tflite.operator(call, sink, name, operands, {}, _tflite.pad_version(call.input(0)))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if not value_is_constant(call):
        raise UnsupportedError("the padding value is computed at run time: .onnx files need a constant")
    widths = {k: width for k, width in enumerate(call.op.widths) if width != (0, 0)}
    if not widths:
        return sink.operator("Identity", inputs[:1], call.outputs)
    value, y = constant_value(call), call.output
    around = y.np_dtype.type(value) if y.quant is None else np.float32(y.scale * (value - y.zero_point))
    pads = (*(before for before, _ in widths.values()), *(after for _, after in widths.values()))
    return sink.operator("Pad", inputs[:1], call.outputs, {"pads": pads, "value": around, "axes": tuple(widths)})


@dataclass(frozen=True)
class Pad(Op):
    """y = x with widths[k] = (before, after) elements added along axis k.

    x: any type and shape   value: type of x, one element; if absent, 0 or the output's zero point
    y: as x, [d + before + after, ...]
    Source: TFLite PAD, PADV2.
    """

    widths: Widths

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 f32")
    imports = (Import("tflite", "PAD", from_tflite), Import("tflite", "PADV2", from_tflite))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        _row_kernel("s8", _pool.int8_data),
        _row_kernel("s16", _pool.int16_data),
        _row_kernel("f32", _pool.float_data),
        Kernel("mg_pad", Whole(), accepts=(_strided.has_c_type, value_is_constant), params=whole_params, operands=(0,)),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and not call.has(1) and has_int16_zero_point(call):
            return "it ignores the zero point of int16 data, and pads with 0"
        if len(self.widths) > 5:
            return f"no kernel for {len(self.widths)} axes, at most 5"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None, value: TensorType | None = None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if len(self.widths) != len(x.shape) or any(n < 0 for pair in self.widths for n in pair):
            raise ShapeError(f"padding {[list(p) for p in self.widths]} must be two sizes per axis of {list(x.shape)}")
        if value is not None and (value.size != 1 or value.dtype != x.dtype):
            raise ShapeError(f"the padding value {value} must be one element of {x.dtype}")
        return (TensorType(tuple(d + a + b for d, (a, b) in zip(x.shape, self.widths, strict=True)), x.dtype),)

    def keeps_values(self, call: Call) -> bool:
        """Whether the operator pads with zeros: each result is then an element of the operand or its zero point."""
        return len(call.inputs) == 1

    def removable(self, call: Call, asked: Removal) -> Removal:
        """A channel of the operand is dropped with its channel of the result.

        Padding channels can always be dropped.
        """
        if not self.widths:
            return asked.none
        before, count = self.widths[-1][0], asked.of(0).size
        y = asked.outputs[0].copy()
        y[before : before + count] &= asked.of(0)
        return Removal((y[before : before + count], *asked.none.inputs[1:]), (y,))

    def without(self, call: Call, removed: Removal) -> Slimmed:
        before, count = self.widths[-1][0], removed.of(0).size
        keep = ~removed.outputs[0]
        last = (int(keep[:before].sum()), int(keep[before + count :].sum()))
        return Slimmed(Pad((*self.widths[:-1], last)))

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        axes = [k for k, width in enumerate(self.widths) if width != (0, 0)]
        found = _ordered.resized(call, orders, axes)
        if found is None or found[1].inputs[0] is None:
            return None
        widths = [(0, 0)] * len(found[1].inputs[0].dims)
        for axis, stored in found[0].items():
            widths[stored] = self.widths[axis]
        return replace(found[1], op=replace(self, widths=tuple(widths)))

    def reference(self, x: np.ndarray, value: np.ndarray | None = None) -> np.ndarray:
        return self._padded(x, 0.0 if value is None else float(value.reshape(-1)[0]))

    def reference_q(self, call: Call, x: np.ndarray, value: np.ndarray | None = None) -> np.ndarray:
        """Stored elements are moved, and padded with the stored value."""
        return self._padded(x, pad_value(call, value))

    def _padded(self, x: np.ndarray, value: int | float) -> np.ndarray:
        return np.pad(x, self.widths, constant_values=value) if self.widths else x

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """The operand's bounds, extended to the padding value if axes other than the channels are padded.

        Channels that are padding have the padding value as bounds.
        """
        x = call.range_of(0)
        if x is None or not value_is_constant(call) or not self.widths:
            return super().bounds(call)
        value = int(constant_value(call))
        inner = x.including(value) if any(a or b for a, b in self.widths[:-1]) else x
        low, high = (np.pad(v, self.widths[-1:], constant_values=value) for v in (inner.low, inner.high))
        return (Range(low, high),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        types = (*_strided.DTYPES, ("s8", QuantParams((0.1,), (127,))))
        plain = [_example(k, cls(w), shape, *t) for t in types for k, (w, shape) in enumerate(_CASES)]
        values = [_example(k, cls(w), shape, *t, value=5) for t in types for k, (w, shape) in enumerate(_CASES[:4])]
        return [*plain, *values]


_CASES: tuple[tuple[Widths, Shape], ...] = (
    (((0, 0), (1, 2), (3, 0), (0, 0)), (1, 3, 4, 2)),
    (((0, 0), (0, 1), (0, 1), (2, 1)), (2, 3, 5, 3)),
    (((0, 0), (2, 0), (1, 1), (0, 2)), (1, 1, 1, 1)),
    (((1, 1), (0, 1), (1, 0), (2, 1)), (1, 3, 4, 2)),
    (((0, 1), (2, 0), (1, 1)), (2, 3, 4)),
    (((0, 0), (0, 0), (0, 0), (0, 0)), (1, 2, 3, 4)),
    (((3, 2),), (5,)),
    (((1, 0), (0, 1), (0, 0), (1, 1), (0, 2)), (2, 1, 3, 2, 2)),
)


def _example(k: int, op: Pad, shape: Shape, dtype: str, quant: QuantParams | None, value: int | None = None) -> Example:
    x = TensorType(shape, dtype, quant)
    y = TensorType(op.infer(x)[0].shape, dtype, quant)
    if value is None:
        return Example(op, (x,), (y,), {}, k)
    return Example(op, (x, TensorType((), dtype, quant)), (y,), {1: np.array(value, x.np_dtype)}, k)
