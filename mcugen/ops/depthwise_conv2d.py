"""DEPTHWISE_CONV_2D: two-dimensional convolution of each channel separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel
from mcugen.ir.op import Example, Op, Reordered, Scaling, Slimmed
from mcugen.ir.ranges import Range, Removal, chosen
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _accumulators, _filter, _onnx, _ordered, _slim, _tflite
from mcugen.ops._dense import GATHERING, dense_fields, gathering, patch_bytes
from mcugen.ops._filter_examples import example
from mcugen.ops._weighted import Weighted, activation_of, matrix, narrowed, row_kernels, window_of
from mcugen.ops._window import Padding, Pair, SlidingWindow, edge_pixels, fields, image, in_words
from mcugen.options import RUNTIMES
from mcugen.oracle import filters

BLOCK = 4
"""Number of channels whose weights are interleaved."""
TERMS = ("edge_outputs", "edge_taps", "looped_taps", "looped_runs", "single_outputs", "single_taps")


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    has_empty_bias = len(source.inputs) > 2 and source.inputs[2] is None
    absent = "no kernel for a bias operand that is stated as absent" if has_empty_bias else ""
    a.ignore("depth_multiplier")  # given by the shapes; the schema calls it redundant
    return Imported(
        DepthwiseConv2D(
            stride=(a["stride_h"], a["stride_w"]),
            dilation=(a["dilation_h_factor"], a["dilation_w_factor"]),
            padding=a["padding"],
            activation=a["fused_activation_function"],
        ),
        refused_by=dict.fromkeys(RUNTIMES, absent),
    )


def multiplier_of(call: Call) -> int:
    """Output channels per input channel."""
    return call.output.shape[3] // call.input(0).shape[3]


def reads_one_channel(call: Call) -> bool:
    "the input has one channel, so this is a dense convolution"
    return call.input(0).shape[3] == 1


def params(call: Call) -> Params:
    w, multiplier = matrix(call), multiplier_of(call)
    packed = _filter.interleave(w, BLOCK if multiplier == 1 else 1)
    return {
        **_filter.weight_fields(call, packed, w, activation_of(call)),
        **fields(window_of(call), call.input(0), call.output, adjacent=False),
        "depth_multiplier": multiplier,
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: work that costs more than inner pixels of 3-column windows, four channels at a time.

    edge_*    outputs and taps at the left and right side of the image
    looped_*  taps, and rows of taps, of windows that are not three columns wide
    single_*  outputs and taps of channels computed one at a time
    """
    w, y = window_of(call), call.output
    taps, channels = w.kernel[0] * w.kernel[1], y.shape[3]
    single = channels % BLOCK if multiplier_of(call) == 1 else channels
    edges = edge_pixels(w, call.input(0), y, adjacent=False) * (channels - single)
    inner = y.size // channels * (channels - single) - edges
    return {
        "edge_outputs": edges,
        "edge_taps": edges * taps,
        "looped_taps": 0 if w.kernel[1] == 3 else inner * taps,
        "looped_runs": 0 if w.kernel[1] == 3 else inner * w.kernel[0],
        "single_outputs": single * (y.size // channels),
        "single_taps": single * taps * (y.size // channels),
    }


def dense_work(call: Call) -> dict[str, float]:
    return gathering(call, window_of(call))


def dense_params(call: Call) -> Params:
    return dense_fields(call, matrix(call), window_of(call), activation_of(call))


def one_output_each(call: Call) -> bool:
    "each input channel has one output channel"
    return multiplier_of(call) == 1


def _dense_kernels() -> tuple[Kernel, ...]:
    made = row_kernels("conv2d", dense_params, Cost(dense_work, GATHERING), patch_bytes)
    return tuple(replace(kernel, accepts=(*kernel.accepts, reads_one_channel)) for kernel in made)


_KERNELS = (*_dense_kernels(), *row_kernels("depthwise_conv2d", params, Cost(work, TERMS)))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, window = call.op, window_of(call)
    x, padding = _tflite.around(sink, str(inputs[0]), window)
    dilation = {"dilation_h_factor": op.dilation[0], "dilation_w_factor": op.dilation[1]}
    attributes = {**_filter.writable(call), **_tflite.strides(op.stride), **dilation, "padding": padding}
    attributes["depth_multiplier"] = multiplier_of(call)
    operands = [x, *_filter.with_bias(call, sink, inputs)]
    return _tflite.operator(call, sink, "DEPTHWISE_CONV_2D", operands, attributes, _version(call))


def _version(call: Call) -> int:
    if _filter.has_nibbles(call):
        return 7
    other = 1 if call.op.dilation == (1, 1) else 2
    return {"s8": 3, "s16": 5}.get(call.input(0).dtype, other)


@dataclass(frozen=True)
class DepthwiseConv2D(Weighted):
    """y[n, i, j, o] = activation(b[o] + sum over taps of w[0, kh, kw, o] * x[n, i*s+kh*d-p, ..., o / multiplier]).

    x: s8, s16, u8 or f32 [N, H, W, C]   w: [1, KH, KW, O], s8 or s4 per channel (u8 with u8, f32 with f32)
    O is a multiple of C.
    b: s32 (s64 with s16 data, f32 with f32) [O] or absent   y: as x, [N, OH, OW, O]
    rounding: "even" or "single" if integer results are real numbers rounded once; then b is s32 or f32; see _rounding
    Source: TFLite DEPTHWISE_CONV_2D; quantization specification, section DEPTHWISE_CONV_2D.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = "SAME"
    activation: str = "NONE"
    rounding: str = ""

    takes_images = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "DEPTHWISE_CONV_2D", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.convolution((3, 0, 1, 2)))
    weight_operands = (1,)
    scaled_axis = 3
    met_axis = 3
    kernels = (*_KERNELS, *narrowed(_KERNELS))

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "litert" and _filter.has_nibbles(call) and call.input(0).dtype == "s16":
            return "it reads s4 weights as bytes with s16 data"
        return _filter.refused_weights(call, runtime) or super().refused_by(call, runtime)

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:
        x, w = image(x), image(w, "weights")
        if w.shape[0] != 1 or w.shape[3] % x.shape[3]:
            raise ShapeError(f"weights {list(w.shape)} must be [1, KH, KW, a multiple of {x.shape[3]} channels]")
        _filter.check_types(x, w, b, w.shape[3], self.rounding)
        _filter.check_symmetric(w)
        if not self.rounding:
            _filter.check_wide_bias(x, b)
        h, width = self.window(w.shape).output((x.shape[1], x.shape[2]))
        return (TensorType((x.shape[0], h, width, w.shape[3]), x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return filters.real_results(self._sums(x, w), b, self.activation)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        """The integer convolution, bit for bit.

        Source: reference_integer_ops/depthwise_conv.h, reference_ops::DepthwiseConv (uint8).
        """
        return filters.results(call, self._sums(*filters.operands(call, x, w, 3)), b, self.activation)

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
        taps = Range(*(np.repeat(v, multiplier_of(call))[:, None] for v in (x.low, x.high)))
        skips = window_of(call).leaves(call.input(0).shape)
        return _accumulators.sums(call, matrix(call), taps, may_skip=skips)

    def removable(self, call: Call, asked: Removal) -> Removal:
        """An input channel is dropped if all its results are, and only then; the last input channel stays."""
        data, results = asked.of(0), asked.outputs[0]
        if not _slim.has_weights(call):
            return asked.none
        if data.size == 1:
            return Removal(asked.none.inputs, (results,))
        gone = data & results.reshape(data.size, -1).all(axis=1)
        return Removal((gone, *asked.none.inputs[1:]), (np.repeat(gone, results.size // data.size),))

    def without(self, call: Call, removed: Removal) -> Slimmed:
        keep = ~removed.outputs[0]
        bias = {2: (chosen(call.input(2), -1, keep), call.constant(2)[..., keep])} if call.has(2) else {}
        return Slimmed(self, _slim.weights(call, 3, keep) | bias)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This convolution with weights and results stored in the order of the input's channels."""
        x = orders[0]
        constant = all(
            data is not None or t is None for t, data in zip(call.inputs[1:], call.constants[1:], strict=True)
        )
        if x is None or _ordered.channels_permuted(x) is None or not constant or multiplier_of(call) != 1:
            return None
        rest = [None if t is None else _ordered.along(x, t.shape, len(t.shape) - 1) for t in call.inputs[1:]]
        shape = call.output.shape
        result = x.resized({1: shape[1], 2: shape[2]})
        return None if result is None else Reordered(self, (x, *rest), (result,))

    def matrix(self, call: Call) -> np.ndarray:
        w = call.constant(1)
        return _filter.centred(call, w, 3).reshape(-1, w.shape[3]).T

    def macs(self, call: Call) -> int:
        return call.output.size * int(np.prod(call.input(1).shape[1:3]))

    def in_words(self, call: Call) -> str:
        return in_words(window_of(call), call)

    def window(self, w: Sequence[int]) -> SlidingWindow:
        """The window for weights of shape w."""
        return SlidingWindow((w[1], w[2]), self.stride, self.dilation, self.padding)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The sums without bias, in float64. They are exact for integers, since they stay below 2**53."""
        spread = x if w.shape[3] == x.shape[3] else np.repeat(x, w.shape[3] // x.shape[3], axis=3)
        (first, *others) = self.window(w.shape).taps(spread, 0.0)

        def row(i: int, j: int) -> np.ndarray:
            """The weights of a tap, repeated for a row of pixels, so that NumPy multiplies the row in one loop."""
            return np.tile(w[0, i, j], (first[2].shape[2], 1))

        total = first[2] * row(*first[:2])
        product = np.empty_like(total)
        for i, j, tap in others:
            total += np.multiply(tap, row(i, j), out=product)
        return np.asarray(total)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (5, 7), "c": 3, "kernel": (3, 3), "zero": -128},
    {"size": (6, 5), "c": 8, "kernel": (2, 4), "stride": (2, 1)},
    {"size": (9, 9), "c": 5, "kernel": (3, 3), "dilation": (2, 2), "zero": 127},
    {"size": (1, 6), "c": 1, "multiplier": 3, "kernel": (3, 3), "zero": 3},
    {"size": (6, 1), "c": 17, "kernel": (3, 1), "padding": "VALID", "zero": -5},
    {"size": (3, 3), "c": 4, "kernel": (5, 5), "zero": 11},
    {"size": (7, 7), "c": 8, "kernel": (2, 2), "stride": (3, 3), "zero": -128, "activation": "RELU6"},
    {"size": (6, 7), "c": 5, "kernel": (3, 3), "stride": (2, 2), "padding": ((1, 1), (1, 1)), "zero": -9},
    {"size": (2, 1), "c": 4, "kernel": (3, 4), "padding": ((2, 0), (3, 1)), "zero": 127},
    {"size": (4, 8), "c": 3, "multiplier": 2, "kernel": (3, 3), "zero": 127, "activation": "RELU"},
    {"size": (5, 5), "c": 4, "kernel": (1, 1), "stride": (2, 2)},
    {"size": (3, 4), "c": 4, "kernel": (1, 1), "gain": 4.0, "batch": 2},
    {"size": (4, 3), "c": 9, "kernel": (3, 2), "gain": 1e-7, "batch": 3, "bias": False},
    {"size": (4, 4), "c": 6, "kernel": (3, 3), "zero": -128, "gain": 2.0, "bias_max": 2**30},
    {"size": (4, 4), "c": 5, "kernel": (2, 3), "zero": 127, "gain": 1e-7, "bias_max": 2**31 - 1},
    {"size": (4, 5), "c": 1, "multiplier": 5, "kernel": (3, 2), "zero": -99, "gain": 1e-7, "bias_max": 2**31 - 1},
    {"size": (4, 13), "c": 5, "kernel": (3, 3), "zero": -128, "activation": "RELU"},
    {"size": (3, 40), "c": 7, "kernel": (2, 3), "zero": 5},
    {"size": (4, 12), "c": 6, "kernel": (3, 3), "zero": -7, "out_zero": -128, "gain": 0.003, "activation": "RELU6"},
    {"size": (5, 9), "c": 6, "kernel": (5, 5), "zero": -1},
    {"size": (3, 16), "c": 4, "kernel": (1, 7), "stride": (1, 1), "activation": "RELU6"},
    {"size": (7, 23), "c": 9, "kernel": (3, 3), "stride": (2, 2), "zero": -128},
    {"size": (3, 15), "c": 5, "kernel": (2, 7), "stride": (2, 2), "padding": "VALID", "zero": 127},
    {"size": (3, 17), "c": 4, "kernel": (2, 4), "stride": (1, 3), "zero": 3},
    {"size": (2, 12), "c": 5, "kernel": (2, 13), "zero": -9},
    {"size": (2, 30), "c": 4, "kernel": (1, 14), "stride": (1, 2), "zero": 100},
    {"size": (9, 1), "c": 5, "kernel": (3, 3), "zero": 17},
    {"size": (12, 1), "c": 6, "kernel": (10, 1), "padding": "VALID", "zero": -128},
    {"size": (1, 5), "c": 702, "kernel": (1, 3), "zero": 1},
    {"size": (4, 5), "c": 19, "kernel": (3, 3), "zero": -128, "out_zero": -128, "gain": 0.002},
    {"size": (17, 1), "c": 9, "kernel": (13, 1), "padding": "VALID", "zero": 7, "out_zero": -128, "gain": 0.002},
    {"size": (3, 13), "c": 7, "kernel": (3, 3), "zero": -128, "out_zero": -128, "gain": 0.002},
    {"size": (13, 1), "c": 19, "kernel": (13, 1), "padding": "VALID", "zero": 7, "gain": 0.002},
    {"size": (4, 16), "c": 3, "kernel": (2, 3), "stride": (1, 2), "zero": 7, "gain": 0.003},
    {"size": (15, 2), "c": 3, "kernel": (5, 1), "zero": -128, "out_zero": -128, "gain": 0.003},
    {"size": (24, 1), "c": 2, "kernel": (3, 1), "stride": (2, 1), "zero": 5, "gain": 0.003, "activation": "RELU"},
    {"size": (9, 7), "c": 7, "kernel": (7, 2), "stride": (2, 2), "dilation": (1, 3), "gain": 0.003},
    {"size": (3, 9), "c": 1, "multiplier": 7, "kernel": (1, 16), "zero": 5, "out_zero": -128, "gain": 0.002},
    {"size": (4, 5), "c": 5, "kernel": (2, 3), "gain": 0.3, "per_channel": False, "activation": "RELU_N1_TO_1"},
    {"size": (4, 5), "c": 3, "kernel": (3, 1), "gain": 0.02, "zero": 9, "out_zero": -128},
    {"size": (3, 16), "c": 5, "kernel": (3, 2), "dilation": (1, 2), "out_zero": -128, "gain": 0.002},
    {"size": (3, 16), "c": 5, "kernel": (3, 1), "dilation": (1, 3), "out_zero": -128, "gain": 0.002},
    {"size": (5, 7), "c": 6, "kernel": (3, 3), "zero": 3, "gain": 0.6, "activation": "RELU", "per_channel": False},
    {"kind": "s8w4", "size": (5, 6), "c": 7, "kernel": (3, 3), "zero": -128, "activation": "RELU6", "gain": 0.1},
    {"kind": "s8w4", "size": (5, 4), "c": 3, "multiplier": 3, "kernel": (3, 3), "zero": 9, "gain": 0.1},
    {"kind": "s8w4", "rounding": "even", "size": (4, 5), "c": 5, "kernel": (3, 2), "zero": 9, "gain": 0.1},
    {"kind": "s8w16", "size": (5, 6), "c": 6, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w16", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 2), "zero": 9},
    {"kind": "s8w16", "size": (4, 9), "c": 3, "kernel": (3, 3), "zero": 3},
    {"kind": "s8w16", "size": (4, 3), "c": 4, "kernel": (3, 2), "gain": 1e-7, "bias_max": 2**31 - 1},
    {"kind": "s8w16", "size": (4, 3), "c": 1, "kernel": (3, 2), "gain": 1e-7, "bias_max": 2**31 - 1},
    {"kind": "s16", "size": (5, 6), "c": 5, "kernel": (3, 3), "activation": "RELU"},
    {"kind": "s16", "size": (5, 6), "c": 1, "multiplier": 4, "kernel": (4, 3), "bias": False},
    {"kind": "s16", "size": (4, 5), "c": 5, "kernel": (2, 2), "gain": 1e-6, "bias_max": 2**38},
    {"kind": "s16", "size": (4, 5), "c": 1, "kernel": (2, 2), "gain": 1e-6, "bias_max": 2**38},
    {"kind": "f32", "size": (5, 6), "c": 6, "kernel": (3, 3), "activation": "RELU6"},
    {"kind": "f32", "size": (4, 7), "c": 9, "kernel": (2, 3), "stride": (2, 2), "activation": "RELU"},
    {"kind": "f32", "size": (3, 3), "c": 8, "kernel": (3, 2), "dilation": (1, 2)},
    {"kind": "f32", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 2), "bias": False},
    {"kind": "f32", "size": (7, 5), "c": 3, "multiplier": 3, "kernel": (2, 3), "dilation": (1, 2), "batch": 2},
    {"rounding": "even", "size": (5, 7), "c": 9, "kernel": (3, 3), "zero": -128, "activation": "RELU"},
    {"rounding": "even", "size": (6, 16), "c": 5, "kernel": (3, 3), "zero": 7, "gain": 0.002},
    {"rounding": "even", "size": (4, 5), "c": 4, "kernel": (2, 2), "gain": 2.0**-6, "out_zero": -3},
    {"rounding": "single", "size": (9, 1), "c": 6, "kernel": (3, 1), "zero": 1, "gain": 0.003},
    {"rounding": "even", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 3), "zero": 3, "bias_dtype": "f32"},
    {"rounding": "even", "kind": "s8w16", "size": (5, 6), "c": 6, "kernel": (3, 3), "zero": -128},
    {"rounding": "even", "kind": "s16", "size": (5, 6), "c": 5, "kernel": (3, 3), "gain": 1e-3},
    {"rounding": "even", "size": (6, 7), "c": 9, "kernel": (3, 3), "zero": 7, "gain": 0.0023},
    {"rounding": "even", "size": (4, 5), "c": 19, "kernel": (3, 3), "zero": 7, "gain": 0.0023, "activation": "RELU6"},
    {"rounding": "even", "kind": "s8w16", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 2), "zero": 9},
    {"rounding": "even", "kind": "s16", "size": (5, 6), "c": 1, "multiplier": 4, "kernel": (4, 3), "gain": 0.0007},
    {"rounding": "single", "size": (3, 40), "c": 7, "kernel": (2, 3), "zero": 5},
    {"rounding": "single", "size": (15, 1), "c": 17, "kernel": (13, 1), "padding": "VALID", "zero": 7, "gain": 0.002},
    {"rounding": "single", "size": (15, 2), "c": 3, "kernel": (5, 1), "gain": 0.003, "activation": "RELU"},
    {"kind": "s8w4", "size": (5, 6), "c": 1, "multiplier": 7, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w4", "rounding": "even", "size": (5, 6), "c": 1, "multiplier": 8, "kernel": (5, 5), "gain": 0.04},
    {"kind": "s8w16", "size": (5, 6), "c": 1, "multiplier": 5, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w9", "size": (5, 6), "c": 6, "kernel": (3, 3), "zero": -128, "activation": "RELU6"},
    {"kind": "s8w9", "size": (5, 6), "c": 1, "multiplier": 5, "kernel": (3, 2), "zero": 9, "stride": (2, 1)},
    {"rounding": "even", "kind": "s8w9", "size": (5, 6), "c": 1, "multiplier": 5, "kernel": (3, 3), "gain": 0.006},
    {"rounding": "even", "kind": "s8w9", "size": (5, 6), "c": 7, "kernel": (3, 3), "zero": -128, "gain": 0.006},
    {"rounding": "single", "kind": "s8w16", "size": (5, 4), "c": 6, "kernel": (3, 2), "zero": 11},
    {"rounding": "single", "kind": "s8w16", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 2), "zero": 9},
    {"rounding": "single", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 3), "zero": 3, "gain": 0.01},
    {"size": (3, 5), "c": 70, "kernel": (3, 3), "zero": -7, "out_zero": -128, "gain": 0.002},
    {"size": (5, 8), "c": 190, "kernel": (3, 3), "stride": (2, 2), "zero": 9, "gain": 0.002},
    {"size": (4, 2), "c": 6, "kernel": (3, 3), "zero": -128, "out_zero": -128, "gain": 0.003, "activation": "RELU6"},
    {"size": (3, 9), "c": 1, "multiplier": 8, "kernel": (1, 16), "zero": 5, "out_zero": -128, "gain": 0.002},
    {"kind": "f16", "size": (4, 5), "c": 6, "kernel": (3, 3), "activation": "RELU6"},
    {"kind": "f16", "size": (5, 6), "c": 1, "multiplier": 3, "kernel": (3, 2), "bias": False},
)


def _example(
    seed: int,
    size: Pair,
    c: int,
    kernel: Pair,
    multiplier: int = 1,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Padding = "SAME",
    activation: str = "NONE",
    batch: int = 1,
    rounding: str = "",
    **types: Any,
) -> Example:
    op = DepthwiseConv2D(stride, dilation, padding, activation, rounding)
    return example(op, seed, (batch, *size, c), (1, *kernel, c * multiplier), 3, **{"gain": 0.03, **types})
