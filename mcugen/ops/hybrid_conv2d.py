"""CONV_2D and FULLY_CONNECTED of float data with int8 weights. QuantizeDynamic quantizes the data at run time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _hybrid, _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops._window import Padding, Pair, SlidingWindow, image, in_words
from mcugen.ops.reshape import Reshape
from mcugen.oracle import hybrid


def _from_conv(source: Source) -> HybridConv2D:
    a = source.attributes
    a.ignore("quantized_bias_type")  # the bias is float
    if len(source.inputs) < 3 or source.inputs[2] is None:
        raise UnsupportedError("no runtime computes this layer without a bias", hint="add a bias of zeros")
    w = source.inputs[1]
    return HybridConv2D(
        stride=(a["stride_h"], a["stride_w"]),
        dilation=(a["dilation_h_factor"], a["dilation_w_factor"]),
        padding=a["padding"],
        activation=a["fused_activation_function"],
        twice=_is_per_channel(w),
    )


def _is_per_channel(w: TensorType | None) -> bool:
    return w is not None and w.quant is not None and w.quant.per_channel


def _fully_connected(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to a convolution: each vector is an image of one pixel, quantized with a scale of its own."""
    a = source.attributes
    if a["weights_format"] != "DEFAULT":
        raise UnsupportedError(f"weights format {a['weights_format']} is not supported")
    keep, symmetric, activation = (
        a["keep_num_dims"],
        not a["asymmetric_quantize_inputs"],
        a["fused_activation_function"],
    )
    a.ignore("quantized_bias_type")  # the bias is float
    x, w, b = (e.inputs[k] if len(e.inputs) > k else None for k in range(3))
    if x is None or w is None or len(e.type(w).shape) != 2 or e.type(x).size % e.type(w).shape[1]:
        raise ShapeError(f"data {x and e.type(x)} cannot be split into vectors for weights {w and e.type(w)}")
    outputs, depth = e.type(w).shape
    rows, shape = e.type(x).size // depth, e.type(x).shape
    if keep and shape[-1] != depth:
        raise ShapeError(f"an input {list(shape)} cannot be split into vectors of {depth}")
    y = rows_times(source, e, (x, w, b), symmetric=symmetric, activation=activation)
    return [e.node(Reshape((*shape[:-1], outputs) if keep else (rows, outputs)), y)]


def rows_times(
    source: Source, e: Expansion, operands: tuple[str, str, str | None], *, symmetric: bool, activation: str = "NONE"
) -> str:
    """The products of N vectors and constant weights, plus a bias, as images [N, 1, 1, outputs].

    Each vector is quantized with a scale of its own. operands: x (N * depth elements), weights [outputs, depth], bias.
    """
    x, w, b = operands
    outputs, depth = e.type(w).shape
    data = e.data(w)
    if data is None:
        raise UnsupportedError("int8 weights that are computed at run time are not supported with float data")
    rows = e.type(x).size // depth
    images = e.node(Reshape((rows, 1, 1, depth)), x)
    found = _hybrid.quantized(source, e, images, rows, symmetric=symmetric)
    weights = e.constant(data.reshape(outputs, 1, 1, depth), e.type(w).quant)
    op = HybridConv2D(padding="VALID", activation=activation)
    return e.node(op, *found, weights, *([] if b is None else [b]))


def params(call: Call) -> Params:
    op, w = call.op, call.constant(3)
    assert isinstance(op, HybridConv2D)
    flat = w.reshape(w.shape[0], -1)
    return {
        **_hybrid.weight_fields(call, flat, op.activation),
        **_hybrid.geometry(call, op.window(w.shape)),
        "sums": flat.astype(np.int64).sum(axis=1).astype(np.int32),
        "groups": call.input(0).shape[3] // w.shape[3],
        "taps": flat.shape[1],
        "twice": int(op.twice),
    }


def scratch(call: Call) -> int:
    return int(np.prod(call.input(3).shape[1:]))


def work(call: Call) -> dict[str, float]:
    """The cost terms.

    reads     copies of contiguous channels
    gathered  bytes of these copies
    single    products left over after groups of four in each sum
    """
    x, w, y = call.input(0), call.input(3), call.output
    places = y.size // y.shape[3] * w.shape[1] * w.shape[2]
    taps = math.prod(w.shape[1:])
    return {
        "reads": places * (x.shape[3] // w.shape[3]),
        "gathered": places * x.shape[3],
        "single": y.size * (taps % 4),
    }


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """FULLY_CONNECTED for images of one pixel whose sums are scaled once; else CONV_2D."""
    op, q, w = call.op, call.input(0), call.input(3)
    per_channel = _is_per_channel(w)
    if not op.twice and (*q.shape[1:3], *w.shape[1:3]) == (1, 1, 1, 1) and q.shape[3] == w.shape[3]:
        return _to_fully_connected(call, sink, inputs)
    if op.twice != per_channel:
        how = "two steps" if per_channel else "one step"
        raise UnsupportedError(f"CONV_2D scales sums in {how} with these weight scales, unlike this layer")
    x = _hybrid.float_data(sink, inputs, symmetric=not per_channel)
    x, padding = _tflite.around(sink, x, op.window(w.shape))
    bias = inputs[4] if call.has(4) else sink.constant(np.zeros(w.shape[0], np.float32))
    dilation = {"dilation_h_factor": op.dilation[0], "dilation_w_factor": op.dilation[1]}
    attributes = {**_tflite.activation(call), **_tflite.strides(op.stride), **dilation, "padding": padding}
    number = 7 if w.dtype == "s4" else 5 if per_channel else 2
    return _tflite.operator(call, sink, "CONV_2D", [x, inputs[3], bias], attributes, number)


def _to_fully_connected(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, y = _hybrid.float_data(sink, inputs, symmetric=None), call.input(3), call.output
    found = sink.source(inputs[0])
    asymmetric = found is not None and not found.call.op.symmetric
    if w.dtype != "s8":
        raise UnsupportedError("FULLY_CONNECTED of float data with 4-bit weights cannot be written")
    weights = sink.constant(call.constant(3).reshape(w.shape[0], w.shape[3]), w.quant)
    bias = [inputs[4]] if call.has(4) else []
    attributes = {**_tflite.activation(call), "asymmetric_quantize_inputs": asymmetric, "weights_format": "DEFAULT"}
    number = 12 if _is_per_channel(w) else 9 if asymmetric else 3 if bias else 6
    flat = y.with_shape((y.shape[0], y.shape[3]))
    made = sink.operator("FULLY_CONNECTED", [sink.unshaped(x), weights, *bias], [flat], attributes, number)
    return [sink.reshaped(made[0], y)]


@dataclass(frozen=True)
class HybridConv2D(Op):
    """y[n, i, j, o] = activation(scale_w[o] * s[n] * sum over taps, channels of w[o, kh, kw, c] * (q - z[n]) + b[o]).

    q: s8 [N, H, W, C]   s: f32 [N]   z: s8 [N]   w: s8 or s4 [O, KH, KW, C / groups]   b: f32 [O] or absent
    y: f32 [N, OH, OW, O]. Sums are integers; their scaling is float32 arithmetic in the order of LiteRT.
    twice: whether sums are scaled by scale_w[o], then by s[n]; else by scale_w[o] * s[n], rounded to float32
    Source: LiteRT conv.cc, EvalHybrid and EvalHybridPerChannel; fully_connected.cc, EvalHybrid.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = "SAME"
    activation: str = "NONE"
    twice: bool = False

    exact_floats = True
    takes_images = True
    litert_types = frozenset()
    imports = (
        Import("tflite", "CONV_2D", expand=_hybrid.layer(_from_conv, lambda source, w: not _is_per_channel(w)),
               when=_hybrid.is_hybrid),
        Import("tflite", "FULLY_CONNECTED", expand=_fully_connected, when=_hybrid.is_hybrid),
    )  # fmt: skip
    writes = (_tflite.to_target(to_tflite),)
    kernels = (
        Kernel(
            "mg_hybrid_conv2d",
            Whole(),
            (_hybrid.constant_weights, _hybrid.sums_fit),
            params,
            operands=(0, 1, 2),
            scratch=scratch,
            cost=Cost(work, ("reads", "gathered", "single")),
        ),
    )

    def infer(
        self,
        q: TensorType | None,
        s: TensorType | None,
        z: TensorType | None,
        w: TensorType | None,
        b: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        q, w = image(q), image(w, "weights")
        _hybrid.check(q, s, z, w, q.shape[0])
        if q.shape[3] % w.shape[3] or w.shape[0] % (q.shape[3] // w.shape[3]):
            raise ShapeError(f"weights {list(w.shape)} do not divide {q.shape[3]} input channels into groups")
        _hybrid.check_channels(w, b, w.shape[0], 0)
        h, width = self.window(w.shape).output((q.shape[1], q.shape[2]))
        return (TensorType((q.shape[0], h, width, w.shape[0]), "f32"),)

    def refused_by(self, call: Call, runtime: str) -> str:
        return _hybrid.refused_by(runtime)

    def reference_q(
        self, call: Call, q: np.ndarray, s: np.ndarray, z: np.ndarray, w: np.ndarray, b: np.ndarray | None = None
    ) -> np.ndarray:
        groups = q.shape[3] // w.shape[3]
        data, weights = np.split(hybrid.centred(q, z), groups, axis=3), np.split(w.astype(np.float64), groups)
        sums = np.concatenate([self._sums(*part) for part in zip(data, weights, strict=True)], axis=3)
        return hybrid.results(call, sums, s, b, self.activation, twice=self.twice)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.asarray(sum(tap @ w[:, i, j].T for i, j, tap in self.window(w.shape).taps(x, 0.0)))

    def window(self, w: Sequence[int]) -> SlidingWindow:
        """The window for weights of shape w."""
        return SlidingWindow((w[1], w[2]), self.stride, self.dilation, self.padding)

    def macs(self, call: Call) -> int:
        return call.output.size * math.prod(call.input(3).shape[1:])

    def in_words(self, call: Call) -> str:
        return in_words(self.window(call.input(3).shape), call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (1, 5, 7), "c": 3, "o": 5, "kernel": (3, 3), "twice": True},
    {"size": (2, 6, 5), "c": 4, "o": 6, "kernel": (2, 4), "stride": (2, 1), "activation": "RELU6"},
    {"size": (1, 9, 9), "c": 1, "o": 3, "kernel": (3, 3), "dilation": (2, 1), "twice": True, "activation": "RELU"},
    {"size": (3, 1, 1), "c": 17, "o": 9, "kernel": (1, 1), "padding": "VALID"},
    {"size": (1, 4, 3), "c": 6, "o": 4, "kernel": (3, 2), "groups": 2, "bias": False, "weights": "s4"},
    {"size": (2, 1, 2), "c": 8, "o": 4, "kernel": (1, 1), "padding": "VALID", "twice": True, "activation": "RELU"},
    {"size": (1, 5, 4), "c": 2, "o": 2, "kernel": (3, 3), "stride": (2, 1), "bias": False},
)


def example(
    seed: int,
    size: tuple[int, int, int],
    c: int,
    o: int,
    kernel: Pair,
    groups: int = 1,
    bias: bool = True,
    weights: str = "s8",
    **fields: Any,
) -> Example:
    op = HybridConv2D(**fields)
    scales = tuple(0.01 * (1 + k % 3) for k in range(o if op.twice or seed % 2 else 1))
    w = TensorType((o, *kernel, c // groups), weights, QuantParams(scales, (0,) * len(scales)))
    each = (size[0],)
    x = (TensorType((*size, c), "s8"), TensorType(each, "f32"), TensorType(each, "s8"))
    inputs = (*x, w, *([TensorType((o,), "f32")] if bias else []))
    constants = dict.fromkeys(range(3, len(inputs)))
    return Example(op, inputs, op.infer(*inputs), constants, seed)
