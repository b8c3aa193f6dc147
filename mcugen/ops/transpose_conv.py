"""TRANSPOSE_CONV: transposed convolution, the gradient of a convolution as a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, RowWindow, Window
from mcugen.ir.op import Example, Op, Scaling, Slimmed
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.ranges import Range, Removal
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _accumulators, _filter, _onnx, _rounding, _slim, _tflite
from mcugen.ops._activation import Activated
from mcugen.ops._filter_examples import example
from mcugen.ops._weighted import in_halves
from mcugen.ops._window import MAX_FIELD, Pair, SlidingWindow, image, in_words
from mcugen.oracle import filters

BLOCK = 4
"""Number of output channels whose weights are interleaved."""


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    shape = source.ints(0) or source.outputs[0].shape
    if len(shape) != 4:
        raise ShapeError(f"the output shape {list(shape)} must be [N, H, W, C]")
    has_bias = len(source.inputs) > 3 and source.inputs[3] is not None
    sums = _filter.stated_sums(source, 3)
    if sums == "s32" and not has_bias:
        raise UnsupportedError("quantized_bias_type INT32 without a bias is not supported: runtimes differ")
    op = TransposeConv(
        size=(shape[1], shape[2]),
        stride=(a["stride_h"], a["stride_w"]),
        padding=a["padding"],
        activation=a["fused_activation_function"],
    )
    return Imported(op, (2, 1, 3) if has_bias else (2, 1))


def op_of(call: Call) -> TransposeConv:
    return cast(TransposeConv, call.op)


def matrix(call: Call) -> np.ndarray:
    """The weights as [output channels, taps], zero points removed."""
    w = call.constant(1)
    return _filter.centred(call, w).reshape(w.shape[0], -1)


def _by_tap(call: Call) -> np.ndarray:
    """The weights as [output channels, taps, input channels], zero points removed."""
    w = call.constant(1)
    return _filter.centred(call, w).reshape(w.shape[0], -1, w.shape[3])


def sums_fit(call: Call) -> bool:
    "all sums of products stay within 32 bits"
    if call.input(0).dtype not in _filter.LARGEST or not _filter.constant_weights(call):
        return False
    w = matrix(call)
    data = _filter.LARGEST[call.input(0).dtype] + abs(call.input(0).zero_point)
    most = data * np.abs(w).sum(axis=1) + np.abs(_filter.bias_of(call, w.shape[0]))
    return bool(most.max(initial=0) < _filter.INT32_END)


def row_window(call: Call) -> RowWindow:
    """The input rows that contribute to an output row: kernel height / vertical stride, rounded up."""
    op, w = op_of(call), call.input(1).shape
    stride, pad = op.stride[0], op.pad(w)[0]
    size = -(-w[1] // stride)
    firsts = [(y + pad) // stride - (size - 1) for y in range(op.size[0])]
    return RowWindow.of_firsts(size, firsts, call.input(0).shape[1])


def params(call: Call) -> Params:
    x, y, w, op = call.input(0), call.output, matrix(call), op_of(call)
    packed, bias = _filter.interleave(w, BLOCK), _filter.bias_of(call, w.shape[0])
    pad = op.pad(call.input(1).shape)
    return {
        **_filter.weight_fields(call, packed, w, op.activation),
        "bias": bias.astype(np.int32) if _rounding.is_stated(call) else _filter.wrap_bias(call, bias),
        **dict(zip(("kernel_h", "kernel_w"), call.input(1).shape[1:3], strict=True)),
        **dict(zip(("in_w", "in_c"), x.shape[2:], strict=True)),
        **dict(zip(("out_w", "out_c"), y.shape[2:], strict=True)),
        **dict(zip(("stride_h", "stride_w"), op.stride, strict=True)),
        "rows": row_window(call).size,
        "phase_h": pad[0] % op.stride[0],
        **dict(zip(("first_w", "phase_w"), divmod(pad[1], op.stride[1]), strict=True)),
    }


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """TRANSPOSE_CONV, with operands in its order: output shape, weights, data, bias.

    quantized_bias_type is written for an int32 bias of int16 data.
    """
    op = call.op
    sums = "s32" if call.input(0).dtype == "s16" and call.has(2) and call.input(2).dtype == "s32" else ""
    attributes = {**_filter.writable(call, sums), **_tflite.strides(op.stride), "padding": op.padding}
    weights, *bias = _filter.with_bias(call, sink, inputs)
    operands = [_tflite.vector(sink, call.output.shape), weights, inputs[0], *bias]
    return _tflite.operator(call, sink, "TRANSPOSE_CONV", operands, attributes, _version(call, sums))


def _version(call: Call, sums: str) -> int:
    if sums:
        return 5
    if call.op.activation != "NONE":
        return 4
    return 3 if call.has(2) else _tflite.version(call.input(1), s8=2)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, x, w, y = call.op, call.input(0).shape, call.input(1).shape, _onnx.channels_first_type(call.output)
    before, whole = op.pad(w), [(x[d + 1] - 1) * op.stride[d] + w[d + 1] for d in (0, 1)]
    after = [whole[d] - before[d] - op.size[d] for d in (0, 1)]
    attributes = {"strides": op.stride, "pads": (*before, *(max(n, 0) for n in after))}
    attributes["output_padding"] = tuple(max(-n, 0) for n in after)
    operands = [_onnx.channels_first(sink, str(inputs[0])), _onnx.transposed(sink, str(inputs[1]), (3, 0, 1, 2))]
    return [_onnx.channels_last(sink, _onnx.weighted(call, sink, y, "ConvTranspose", operands, attributes, 1))]


_KERNELS = _filter.all_kernels(
    "transpose_conv",
    sums_fit,
    lambda symbol: Kernel(symbol, Window(row_window), params=params),
)


@dataclass(frozen=True)
class TransposeConv(Activated):
    """y[n, i*s+kh-p, j*s+kw-p, o] = activation(b[o] + sum over i, j, kh, kw and c of w[o, kh, kw, c] * x[n, i, j, c]).

    x: s8, s16, u8 or f32 [N, H, W, C]   w: [O, KH, KW, C], s8 per channel (u8 with u8, f32 with f32)
    b: s32 (s64 with s16 data, f32 with f32) [O] or absent   y: as x, [N, size, O]
    rounding: "even" if integer results are real numbers rounded once; then b is s32 or f32; see _rounding
    size: (rows, columns) of y, stated in the file; p is the padding of a convolution from y to x
    Source: TFLite TRANSPOSE_CONV; quantization specification, section TRANSPOSE_CONV.
    """

    size: Pair
    stride: Pair = (1, 1)
    padding: str = "SAME"
    activation: str = "NONE"
    rounding: str = ""

    takes_images = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "TRANSPOSE_CONV", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    weight_operands = (1,)
    kernels = (*_KERNELS, *in_halves(_KERNELS))

    def refused_by(self, call: Call, runtime: str) -> str:
        nibbles = "no kernel for s4 weights" if _filter.has_nibbles(call) else ""
        return nibbles or _filter.misread_bias(call) or super().refused_by(call, runtime)

    def quantized(self, call: Call) -> Scales:
        return OWN

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:
        x, w = image(x), image(w, "weights")
        if w.shape[3] != x.shape[3]:
            raise ShapeError(f"weights of {w.shape[3]} input channels do not fit an input of {x.shape[3]}")
        _filter.check_types(x, w, b, w.shape[0], self.rounding)
        _filter.check_symmetric(w)
        if max(w.shape[0], w.shape[3]) > MAX_FIELD:
            raise UnsupportedError(f"weights {list(w.shape)}: at most {MAX_FIELD} channels are supported")
        if min(self.size) < 1:
            raise ShapeError(f"the output size {self.size[0]}x{self.size[1]} must be positive")
        if self._window(w.shape).output(self.size) != (x.shape[1], x.shape[2]):
            raise ShapeError(f"an output of {self.size[0]}x{self.size[1]} does not fit the input {list(x.shape)}")
        return (TensorType((x.shape[0], *self.size, w.shape[0]), x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return filters.real_results(self._sums(x, w), b, self.activation)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        """The integer transposed convolution, bit for bit.

        Source: reference_integer_ops/transpose_conv.h, reference_ops::TransposeConv (uint8).
        """
        return filters.results(call, self._sums(*filters.operands(call, x, w)), b, self.activation)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def scaling(self, call: Call) -> Scaling:
        return _filter.scaling(call, call.output.shape[3], self.activation)

    def scaling_q(self, call: Call) -> Scaling:
        return filters.scaling(call, call.output.shape[3], self.activation)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _accumulators.results(call, call.accumulators, self.activation)

    def accumulators(self, call: Call) -> Range | None:
        """Bounds of the sums. Any tap may be missing, because pixels differ in the taps that reach them."""
        x = call.range_of(0)
        if x is None or not _filter.constant_weights(call):
            return None
        places = call.input(1).shape[1] * call.input(1).shape[2]
        taps = Range(*(np.tile(v, places)[None] for v in (x.low, x.high)))
        return _accumulators.sums(call, matrix(call), taps, may_skip=True)

    def removable(self, call: Call, asked: Removal) -> Removal:
        return _slim.removable(call, asked, _by_tap(call), may_skip=True) if _slim.has_weights(call) else asked.none

    def without(self, call: Call, removed: Removal) -> Slimmed:
        outputs, inputs = ~removed.outputs[0], ~removed.of(0)
        changed = _slim.weights(call, 0, outputs, (3, inputs)) | _slim.biased(call, removed, _by_tap(call))
        return Slimmed(self, changed)

    def macs(self, call: Call) -> int:
        return call.input(0).size * call.input(1).size // call.input(0).shape[3]

    def in_words(self, call: Call) -> str:
        return in_words(self._window(call.input(1).shape), call)

    def pad(self, w: Sequence[int]) -> Pair:
        """Padding (above, left) around the output that taps can reach."""
        return self._window(w).pad(self.size)

    def _window(self, w: Sequence[int]) -> SlidingWindow:
        """The window of the forward convolution, which slides over the output."""
        return SlidingWindow((w[1], w[2]), self.stride, (1, 1), self.padding)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The sums without bias, in float64, exact for integers. Products outside the output are dropped."""
        pad = self.pad(w.shape)
        reach = [max((x.shape[d + 1] - 1) * self.stride[d] + w.shape[d + 1], pad[d] + self.size[d]) for d in (0, 1)]
        canvas = np.zeros((x.shape[0], *reach, w.shape[0]))
        for i in range(w.shape[1]):
            for j in range(w.shape[2]):
                rows = slice(i, i + (x.shape[1] - 1) * self.stride[0] + 1, self.stride[0])
                columns = slice(j, j + (x.shape[2] - 1) * self.stride[1] + 1, self.stride[1])
                canvas[:, rows, columns] += x @ w[:, i, j].T
        return canvas[:, pad[0] : pad[0] + self.size[0], pad[1] : pad[1] + self.size[1]]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (3, 4), "c": 3, "o": 5, "kernel": (3, 3), "out": (3, 4), "zero": -128},
    {"size": (2, 3), "c": 8, "o": 17, "kernel": (2, 4), "stride": (2, 1), "out": (4, 3)},
    {"size": (3, 3), "c": 1, "o": 3, "kernel": (3, 3), "stride": (2, 2), "out": (5, 6), "zero": 127},
    {"size": (1, 6), "c": 5, "o": 4, "kernel": (3, 3), "stride": (1, 2), "padding": "VALID", "out": (3, 13)},
    {"size": (4, 1), "c": 17, "o": 1, "kernel": (3, 1), "stride": (3, 1), "padding": "VALID", "out": (12, 1)},
    {"size": (3, 3), "c": 2, "o": 2, "kernel": (5, 5), "out": (3, 3), "zero": 11, "activation": "RELU"},
    {"size": (2, 2), "c": 3, "o": 8, "kernel": (2, 2), "stride": (3, 3), "out": (6, 6), "zero": -128, "bias": False},
    {"size": (2, 3), "c": 4, "o": 3, "kernel": (2, 2), "stride": (2, 2), "out": (4, 6), "gain": 4.0, "batch": 2},
    {"size": (2, 3), "c": 4, "o": 5, "kernel": (3, 2), "out": (2, 3), "zero": 127, "gain": 1e-7, "bias_max": 2**31 - 1},
    {"kind": "s8w16", "size": (2, 3), "c": 3, "o": 5, "kernel": (3, 3), "stride": (2, 2), "out": (4, 6), "zero": 9},
    {
        "kind": "s8w16",
        "size": (2, 3),
        "c": 2,
        "o": 2,
        "kernel": (2, 2),
        "out": (2, 3),
        "gain": 1e-7,
        "bias_max": 2**31 - 1,
    },
    {"kind": "s16", "size": (3, 3), "c": 3, "o": 5, "kernel": (3, 3), "stride": (2, 2), "out": (6, 5)},
    {"kind": "s16", "size": (2, 3), "c": 2, "o": 3, "kernel": (2, 2), "out": (2, 3), "gain": 1e-6, "bias_max": 2**38},
    {"kind": "f32", "size": (3, 3), "c": 5, "o": 6, "kernel": (3, 2), "stride": (2, 1), "out": (6, 3), "batch": 2},
    {"kind": "f32", "size": (2, 3), "c": 3, "o": 3, "kernel": (4, 4), "stride": (2, 2), "out": (4, 5), "bias": False},
    {"rounding": "even", "size": (3, 4), "c": 3, "o": 5, "kernel": (3, 3), "stride": (2, 2), "out": (6, 8), "zero": 7},
    {
        "rounding": "even",
        "size": (2, 3),
        "c": 5,
        "o": 3,
        "kernel": (2, 2),
        "out": (2, 3),
        "gain": 2.0**-6,
        "bias_dtype": "f32",
    },
    {"rounding": "even", "kind": "s8w16", "size": (2, 3), "c": 2, "o": 5, "kernel": (2, 3), "out": (2, 3), "zero": -9},
    {"rounding": "even", "kind": "s16", "size": (2, 3), "c": 3, "o": 2, "kernel": (2, 2), "out": (2, 3), "gain": 1e-3},
    {"rounding": "single", "size": (2, 3), "c": 5, "o": 3, "kernel": (3, 2), "out": (2, 3), "zero": 7, "gain": 0.003},
    {"rounding": "single", "kind": "s8w16", "size": (3, 2), "c": 2, "o": 3, "kernel": (2, 2), "out": (3, 2), "zero": 9},
    {"kind": "f16", "size": (3, 3), "c": 5, "o": 7, "kernel": (3, 2), "stride": (2, 1), "out": (6, 3)},
)


def _example(
    seed: int,
    size: Pair,
    c: int,
    o: int,
    kernel: Pair,
    out: Pair,
    stride: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    batch: int = 1,
    rounding: str = "",
    **types: Any,
) -> Example:
    op = TransposeConv(out, stride, padding, activation, rounding)
    return example(op, seed, (batch, *size, c), (o, *kernel, c), 0, **types)
