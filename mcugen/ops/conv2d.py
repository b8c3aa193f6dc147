"""CONV_2D: dense two-dimensional convolution, with one or more groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Run
from mcugen.ir.op import Example, Op, Reordered, Scaling, Slimmed
from mcugen.ir.ranges import Range, Removal
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _accumulators, _blocked, _filter, _onnx, _ordered, _slim, _tflite
from mcugen.ops._dense import GATHERING, dense_fields, gathering, patch_bytes
from mcugen.ops._filter_examples import example
from mcugen.ops._weighted import Weighted, activation_of, matrix, narrowed, pixels, row_kernels, sums_fit, window_of
from mcugen.ops._window import Padding, Pair, SlidingWindow, image, in_words, total
from mcugen.oracle import filters


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    return Imported(
        Conv2D(
            stride=(a["stride_h"], a["stride_w"]),
            dilation=(a["dilation_h_factor"], a["dilation_w_factor"]),
            padding=a["padding"],
            activation=a["fused_activation_function"],
            sum_dtype=_filter.stated_sums(source),
        )
    )


def groups_of(call: Call) -> int:
    return call.input(0).shape[3] // call.input(1).shape[3]


def is_pointwise(call: Call) -> bool:
    "the kernel is 1x1 with stride 1 and one group"
    w = window_of(call)
    return w.kernel == (1, 1) and w.stride == (1, 1) and groups_of(call) == 1


def params(call: Call) -> Params:
    return dense_fields(call, matrix(call), window_of(call), activation_of(call), groups_of(call))


def work(call: Call) -> dict[str, float]:
    return gathering(call, window_of(call), groups_of(call))


def _by_tap(call: Call) -> np.ndarray:
    """The weights as [output channels, taps, input channels], zero points removed."""
    w = call.constant(1)
    return _filter.centred(call, w).reshape(w.shape[0], -1, w.shape[3])


def _taps(call: Call, x: Range) -> Range:
    """Bounds of the data under each tap: [1, taps], or with several groups [output channels, taps]."""
    groups, outputs, kernel = groups_of(call), call.input(1).shape[0], window_of(call).kernel

    def spread(bounds: np.ndarray) -> np.ndarray:
        rows = np.tile(bounds.reshape(groups, -1), kernel[0] * kernel[1])
        return np.repeat(rows, outputs // groups, axis=0) if groups > 1 else rows

    return Range(spread(x.low), spread(x.high))


def _pointwise_kernel(dtype: str, rule: Rule) -> Kernel:
    rules = (rule, _filter.constant_weights, is_pointwise, *_filter.proofs(dtype, sums_fit))
    return _filter.in_floats(Kernel(f"mg_conv2d_{dtype}__pointwise", Run(pixels), rules, params))


def one_group(call: Call) -> bool:
    "there is one group"
    return groups_of(call) == 1


_KERNELS = (
    *(_pointwise_kernel(*kind) for kind in _filter.TYPE_RULES),
    *row_kernels("conv2d", params, Cost(work, GATHERING), patch_bytes),
)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, window = call.op, window_of(call)
    x, padding = _tflite.around(sink, str(inputs[0]), window)
    dilation = {"dilation_h_factor": op.dilation[0], "dilation_w_factor": op.dilation[1]}
    attributes = {**_filter.writable(call, op.sum_dtype), **_tflite.strides(op.stride), **dilation, "padding": padding}
    operands = [x, *_filter.with_bias(call, sink, inputs, required=True)]
    return _tflite.operator(call, sink, "CONV_2D", operands, attributes, _version(call))


def _version(call: Call) -> int:
    if call.op.sum_dtype:
        return 8
    if _filter.has_nibbles(call):
        return 7
    return 6 if groups_of(call) > 1 else _tflite.version(call.input(0), s8=3, s16=4)


@dataclass(frozen=True)
class Conv2D(Weighted):
    """y[n, i, j, o] = activation(b[o] + sum over taps and channels of w[o, kh, kw, c] * x[n, i*s+kh*d-p, ..., c]).

    x: s8, s16, u8 or f32 [N, H, W, C]   w: [O, KH, KW, C / groups], s8 or s4 per channel (u8 with u8, f32 with f32)
    Weights in blocks of n taps t: w = m[o, t / n] * q[o, t], m from 1 to 255, q from -8 to 7, with a scale per output
    b: s32 (s64 or s32 with s16 data, f32 with f32) [O] or absent   y: as x, [N, OH, OW, O]
    sum_dtype: s32 if sums of int16 data without a bias wrap to 32 bits, else s64 or empty
    rounding: "even" or "single" if integer results are real numbers rounded once; then b is s32 or f32; see _rounding
    Source: TFLite CONV_2D; quantization specification, section CONV_2D.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = "SAME"
    activation: str = "NONE"
    sum_dtype: str = ""
    rounding: str = ""

    takes_images = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "CONV_2D", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.convolution((0, 3, 1, 2), _blocked.written))
    weight_operands = (1,)
    scaled_axis = 0
    met_axis = 3
    kernels = (*_KERNELS, *narrowed(_KERNELS, one_group), *_blocked.convolution(is_pointwise, one_group))

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "litert" and not call.has(2):
            return "no kernel without a bias"
        why = _filter.misread_bias(call) if runtime == "litert" else _filter.refused_weights(call, runtime)
        return why or super().refused_by(call, runtime)

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:
        x, w = image(x), image(w, "weights")
        if x.shape[3] % w.shape[3] or w.shape[0] % (x.shape[3] // w.shape[3]):
            raise ShapeError(f"weights {list(w.shape)} do not divide {x.shape[3]} input channels into groups")
        _filter.check_types(x, w, b, w.shape[0], self.rounding)
        _filter.check_symmetric(w)
        h, width = self.window(w.shape).output((x.shape[1], x.shape[2]))
        return (TensorType((x.shape[0], h, width, w.shape[0]), x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return filters.real_results(self._sums(x, w), b, self.activation)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        """The integer convolution, bit for bit.

        Source: reference_integer_ops/conv.h, reference_ops::Conv (uint8).
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
        x = call.range_of(0)
        if x is None or not _filter.constant_weights(call):
            return None
        skips = window_of(call).leaves(call.input(0).shape)
        return _accumulators.sums(call, matrix(call), _taps(call, x), may_skip=skips)

    def removable(self, call: Call, asked: Removal) -> Removal:
        """A grouped convolution keeps all channels, because its groups must stay equal in size."""
        if groups_of(call) != 1 or not _slim.has_weights(call):
            return asked.none
        skips = window_of(call).leaves(call.input(0).shape)
        return _slim.removable(call, asked, _by_tap(call), may_skip=skips)

    def without(self, call: Call, removed: Removal) -> Slimmed:
        outputs, inputs = ~removed.outputs[0], ~removed.of(0)
        changed = _slim.weights(call, 0, outputs, (3, inputs)) | _slim.biased(call, removed, _by_tap(call))
        return Slimmed(self, changed)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This convolution with weights stored in the order of the input's channels."""
        x, w = orders[0], call.input(1).shape
        if x is None or _ordered.channels_permuted(x) is None or groups_of(call) != 1 or call.constants[1] is None:
            return None
        rest = [Order.plain(t.shape) if t else None for t in call.inputs[2:]]
        return Reordered(self, (x, _ordered.along(x, w, 3), *rest), (Order.plain(call.output.shape),))

    def matrix(self, call: Call) -> np.ndarray:
        w = call.constant(1)
        return _filter.centred(call, w).reshape(w.shape[0], -1)

    def macs(self, call: Call) -> int:
        return call.output.size * int(np.prod(call.input(1).shape[1:]))

    def in_words(self, call: Call) -> str:
        groups = groups_of(call)
        return in_words(window_of(call), call) + (f" in {groups} groups" if groups > 1 else "")

    def window(self, w: Sequence[int]) -> SlidingWindow:
        """The window for weights of shape w."""
        return SlidingWindow((w[1], w[2]), self.stride, self.dilation, self.padding)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The sums without bias, in float64. They are exact for integers, since they stay below 2**53."""
        groups = x.shape[3] // w.shape[3]
        parts = zip(np.split(x, groups, axis=3), np.split(w, groups), strict=True)
        sums = [self._dense(*part) for part in parts]
        return sums[0] if groups == 1 else np.concatenate(sums, axis=3)

    def _dense(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return total(tap @ w[:, i, j].T for i, j, tap in self.window(w.shape).taps(x, 0.0))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (5, 7), "c": 3, "o": 5, "kernel": (3, 3), "zero": -128},
    {"size": (6, 5), "c": 8, "o": 17, "kernel": (2, 4), "stride": (2, 1)},
    {"size": (9, 9), "c": 1, "o": 3, "kernel": (3, 3), "dilation": (2, 2), "zero": 127},
    {"size": (1, 6), "c": 5, "o": 4, "kernel": (3, 3), "zero": 3},
    {"size": (6, 1), "c": 17, "o": 1, "kernel": (3, 1), "padding": "VALID", "zero": -5},
    {"size": (3, 3), "c": 2, "o": 2, "kernel": (5, 5), "zero": 11},
    {"size": (7, 7), "c": 3, "o": 8, "kernel": (2, 2), "stride": (3, 3), "zero": -128, "activation": "RELU6"},
    {"size": (6, 7), "c": 3, "o": 4, "kernel": (3, 3), "stride": (2, 2), "padding": ((1, 1), (1, 1)), "zero": -9},
    {"size": (2, 1), "c": 5, "o": 3, "kernel": (3, 4), "padding": ((2, 0), (3, 1)), "zero": 127},
    {"size": (5, 5), "c": 8, "o": 5, "kernel": (1, 1), "zero": 127, "activation": "RELU"},
    {"size": (5, 5), "c": 3, "o": 3, "kernel": (1, 1), "stride": (2, 2)},
    {"size": (3, 4), "c": 4, "o": 3, "kernel": (1, 1), "gain": 4.0, "batch": 2},
    {"size": (4, 3), "c": 4, "o": 3, "kernel": (3, 2), "gain": 1e-7, "batch": 3, "bias": False},
    {"size": (4, 4), "c": 6, "o": 4, "kernel": (3, 3), "zero": -128, "gain": 2.0, "bias_max": 2**30},
    {"size": (4, 4), "c": 2, "o": 3, "kernel": (2, 3), "zero": 127, "gain": 1e-7, "bias_max": 2**31 - 1},
    {"size": (5, 4), "c": 6, "o": 9, "kernel": (3, 3), "zero": -7, "groups": 3},
    {"size": (3, 4), "c": 19, "o": 6, "kernel": (1, 1), "zero": -128, "out_zero": -128, "gain": 0.002},
    {"size": (1, 5), "c": 48, "o": 9, "kernel": (1, 1), "zero": 4, "out_zero": -128, "gain": 3e-4},
    {"size": (2, 3), "c": 300, "o": 5, "kernel": (1, 1), "zero": -128, "out_zero": -128, "gain": 2e-4},
    {"size": (1, 3), "c": 385, "o": 8, "kernel": (1, 1), "out_zero": 5, "gain": 1e-4, "activation": "RELU6"},
    {"size": (1, 3), "c": 270, "o": 6, "kernel": (1, 1), "zero": 3, "out_zero": 5, "gain": 1e-4},
    {"size": (1, 1), "c": 240, "o": 2, "kernel": (1, 1), "zero": 127, "out_zero": -128, "gain": 3e-4},
    {"size": (1, 16), "c": 3, "o": 5, "kernel": (1, 1), "zero": -128, "gain": 0.002, "activation": "RELU"},
    {"size": (2, 17), "c": 13, "o": 6, "kernel": (1, 1), "zero": 3, "out_zero": -128, "gain": 0.002},
    {"size": (3, 4), "c": 37, "o": 6, "kernel": (3, 3), "zero": 9, "out_zero": -128, "gain": 2e-4},
    {"size": (12, 8), "c": 1, "o": 7, "kernel": (10, 4), "stride": (2, 2), "zero": 83, "out_zero": -128, "gain": 1e-3},
    {
        "size": (4, 9),
        "c": 5,
        "o": 4,
        "kernel": (2, 3),
        "dilation": (1, 2),
        "zero": -128,
        "out_zero": -128,
        "gain": 1e-3,
    },
    {"size": (9, 7), "c": 57, "o": 37, "kernel": (1, 1), "zero": -3, "activation": "RELU"},
    {"size": (6, 6), "c": 106, "o": 36, "kernel": (1, 1), "zero": 9},
    {"size": (8, 7), "c": 48, "o": 49, "kernel": (1, 1), "zero": -128, "activation": "RELU6"},
    {"size": (3, 1), "c": 70, "o": 3, "kernel": (2, 1), "zero": 4},
    {"size": (4, 8), "c": 6, "o": 4, "kernel": (3, 3), "stride": (1, 1), "zero": 5, "activation": "RELU"},
    {"size": (3, 9), "c": 3, "o": 2, "kernel": (2, 2), "dilation": (1, 2), "zero": 6},
    {"size": (3, 10), "c": 4, "o": 5, "kernel": (2, 3), "dilation": (1, 2), "zero": -100},
    {"size": (2, 5), "c": 40, "o": 4, "kernel": (2, 2), "zero": 1, "padding": "VALID"},
    {
        "size": (4, 5),
        "c": 11,
        "o": 5,
        "kernel": (1, 1),
        "gain": 0.3,
        "activation": "RELU_N1_TO_1",
        "per_channel": False,
    },
    {"size": (2, 3), "c": 3, "o": 1, "kernel": (2, 2), "gain": 5e-5, "out_zero": 7, "bias_max": 2**22},
    {"size": (2, 5), "c": 3, "o": 5, "kernel": (2, 2), "gain": 5e-5, "out_zero": 7, "bias_max": 2**22},
    {"size": (2, 3), "c": 2, "o": 3, "kernel": (2, 2), "gain": 5e-5, "activation": "RELU_N1_TO_1", "bias_max": 2**22},
    {"size": (2, 3), "c": 3, "o": 7, "kernel": (2, 1), "gain": 5e-5, "out_zero": -128, "bias_max": 2**22},
    {"size": (2, 6), "c": 29, "o": 3, "kernel": (1, 1), "zero": -128},
    {"size": (260, 2), "c": 1, "o": 3, "kernel": (260, 1), "padding": "VALID", "gain": 2e-3},
    {"size": (2, 7), "c": 57, "o": 4, "kernel": (1, 3), "stride": (1, 3), "padding": "VALID", "gain": 2e-3},
    {"kind": "s8w16", "size": (5, 6), "c": 3, "o": 5, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w16", "size": (3, 5), "c": 9, "o": 4, "kernel": (1, 1), "zero": 5},
    {"kind": "s8w16", "size": (4, 3), "c": 1, "o": 3, "kernel": (3, 2), "gain": 1e-7, "bias_max": 2**31 - 1},
    {"size": (3, 7), "c": 5, "o": 6, "kernel": (3, 3), "gain": 0.6, "activation": "RELU", "per_channel": False},
    {"kind": "s8w4", "size": (5, 6), "c": 3, "o": 7, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w4", "size": (3, 5), "c": 9, "o": 5, "kernel": (1, 1), "zero": 5, "gain": 0.05},
    {"kind": "s8w4", "rounding": "even", "size": (5, 5), "c": 5, "o": 5, "kernel": (3, 2), "zero": -3, "gain": 0.04},
    {"kind": "s8w4", "rounding": "even", "size": (3, 3), "c": 7, "o": 6, "kernel": (1, 1), "zero": -3, "gain": 0.04},
    {"kind": "s16", "size": (5, 6), "c": 3, "o": 5, "kernel": (3, 3), "activation": "RELU"},
    {"kind": "s16", "size": (3, 5), "c": 9, "o": 5, "kernel": (1, 1), "bias": False},
    {"kind": "s16", "size": (4, 5), "c": 2, "o": 3, "kernel": (2, 2), "gain": 1e-6, "bias_max": 2**38},
    {"kind": "s16", "size": (4, 5), "c": 4, "o": 3, "kernel": (3, 2), "stride": (1, 2), "bias_dtype": "s32"},
    {"kind": "s16", "size": (4, 3), "c": 1, "o": 2, "kernel": (2, 2), "bias_dtype": "s32", "bias_max": 2**31 - 1},
    {"kind": "f32", "size": (5, 6), "c": 3, "o": 5, "kernel": (3, 3), "activation": "RELU6"},
    {"kind": "f32", "size": (3, 5), "c": 9, "o": 4, "kernel": (1, 1), "activation": "RELU_N1_TO_1"},
    {"kind": "f32", "size": (4, 9), "c": 2, "o": 7, "kernel": (2, 3), "stride": (1, 2), "activation": "RELU"},
    {"kind": "f32", "size": (3, 5), "c": 7, "o": 6, "kernel": (1, 1), "activation": "RELU"},
    {"kind": "f32", "size": (2, 3), "c": 4, "o": 8, "kernel": (1, 1), "activation": "RELU6"},
    {"kind": "f32", "size": (3, 3), "c": 6, "o": 10, "kernel": (1, 1), "bias": False},
    {"kind": "f32", "size": (7, 5), "c": 4, "o": 6, "kernel": (2, 3), "groups": 2, "dilation": (1, 2), "bias": False},
    {"rounding": "even", "size": (5, 7), "c": 3, "o": 5, "kernel": (3, 3), "zero": -128},
    {"rounding": "even", "size": (6, 5), "c": 4, "o": 9, "kernel": (1, 1), "gain": 0.002, "activation": "RELU"},
    {"rounding": "even", "size": (4, 5), "c": 8, "o": 6, "kernel": (3, 3), "gain": 2.0**-7, "out_zero": 3},
    {"rounding": "even", "size": (3, 4), "c": 2, "o": 5, "kernel": (2, 2), "bias_dtype": "f32", "gain": 0.02},
    {"rounding": "even", "size": (3, 4), "c": 2, "o": 5, "kernel": (1, 1), "gain": 0.8, "zero": 7},
    {"rounding": "single", "size": (5, 7), "c": 3, "o": 16, "kernel": (3, 3), "zero": -128, "gain": 0.003},
    {"rounding": "single", "size": (9, 3), "c": 17, "o": 8, "kernel": (1, 1), "zero": 9, "bias": False, "gain": 3e-4},
    {"rounding": "even", "kind": "s8w16", "size": (5, 6), "c": 3, "o": 5, "kernel": (3, 3), "zero": -3},
    {"rounding": "single", "kind": "s8w16", "size": (5, 6), "c": 3, "o": 5, "kernel": (1, 1), "zero": -3},
    {"rounding": "even", "kind": "s16", "size": (5, 6), "c": 3, "o": 5, "kernel": (3, 3), "zero": 700, "gain": 1e-3},
    {"rounding": "even", "kind": "s16", "size": (3, 2), "c": 3, "o": 2, "kernel": (1, 1), "gain": 1e-3, "groups": 1},
    {"rounding": "even", "size": (2, 3), "c": 33, "o": 6, "kernel": (1, 1), "zero": 5, "gain": 0.0023},
    {"rounding": "even", "size": (1, 3), "c": 250, "o": 5, "kernel": (1, 1), "zero": 5, "gain": 0.0007},
    {"rounding": "even", "size": (2, 3), "c": 33, "o": 6, "kernel": (1, 1), "gain": 0.0023, "activation": "RELU6"},
    {"rounding": "even", "size": (1, 3), "c": 250, "o": 5, "kernel": (1, 1), "gain": 0.0007, "activation": "RELU6"},
    {"size": (3, 9), "c": 8, "o": 4, "kernel": (3, 3), "zero": -128, "out_zero": -128, "gain": 1e-3},
    {"size": (2, 18), "c": 36, "o": 2, "kernel": (3, 3), "zero": 3, "out_zero": 5, "gain": 4e-4},
    {"rounding": "single", "size": (1, 3), "c": 260, "o": 8, "kernel": (1, 1), "zero": 3, "gain": 2e-4},
    {"size": (1, 3), "c": 70, "o": 12, "kernel": (1, 1), "zero": 3, "out_zero": -128, "gain": 5e-4},
    {"size": (1, 4), "c": 48, "o": 8, "kernel": (1, 1), "zero": 3, "gain": 5e-4, "activation": "RELU6"},
    {"size": (3, 9), "c": 8, "o": 8, "kernel": (3, 3), "zero": -128, "out_zero": -128, "gain": 1e-3},
    {"kind": "s8w9", "size": (3, 5), "c": 9, "o": 5, "kernel": (1, 1), "zero": 5},
    {"kind": "s8w9", "size": (2, 4), "c": 530, "o": 4, "kernel": (1, 1), "zero": -128, "gain": 3e-4},
    {"kind": "s8w9", "size": (5, 6), "c": 3, "o": 7, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w9", "size": (3, 4), "c": 47, "o": 4, "kernel": (3, 3), "zero": 127, "gain": 4e-4},
    {"kind": "s8w9", "size": (4, 7), "c": 6, "o": 10, "kernel": (3, 3), "zero": 8, "groups": 2, "stride": (2, 1)},
    {"rounding": "even", "kind": "s8w9", "size": (3, 3), "c": 7, "o": 6, "kernel": (1, 1), "zero": -3},
    {"kind": "f16", "size": (4, 5), "c": 3, "o": 5, "kernel": (3, 3), "activation": "RELU6"},
    {"kind": "f16", "size": (2, 3), "c": 9, "o": 7, "kernel": (1, 1)},
    {"size": (2, 17), "c": 3, "o": 5, "kernel": (3, 3), "stride": (2, 2), "zero": -128, "out_zero": -128, "gain": 2e-3},
    {"size": (3, 9), "c": 5, "o": 6, "kernel": (2, 3), "zero": 9, "out_zero": 5, "gain": 1e-3},
    {"kind": "s8w9", "size": (2, 8), "c": 1, "o": 7, "kernel": (10, 4), "zero": 3, "gain": 1e-3, "activation": "RELU6"},
    {"rounding": "even", "kind": "s8w9", "size": (4, 5), "c": 3, "o": 5, "kernel": (3, 2), "zero": 9, "gain": 0.006},
    {"rounding": "single", "size": (2, 8), "c": 6, "o": 4, "kernel": (1, 3), "zero": 3, "gain": 2e-3},
    {"kind": "f16", "size": (3, 8), "c": 4, "o": 11, "kernel": (2, 3), "dilation": (1, 2), "activation": "RELU"},
    {"rounding": "even", "kind": "s8b4", "size": (3, 4), "c": 8, "o": 5, "kernel": (3, 3), "zero": -3, "gain": 2e-5},
    {"rounding": "even", "kind": "s8b4", "size": (2, 3), "c": 70, "o": 3, "kernel": (1, 1), "zero": 5, "gain": 2e-5},
)


def _example(
    seed: int,
    size: Pair,
    c: int,
    o: int,
    kernel: Pair,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Padding = "SAME",
    activation: str = "NONE",
    batch: int = 1,
    rounding: str = "",
    groups: int = 1,
    **types: Any,
) -> Example:
    op = Conv2D(stride, dilation, padding, activation, rounding=rounding)
    return example(op, seed, (batch, *size, c), (o, *kernel, c // groups), 0, **types)
