"""DEPTHWISE_CONV_2D of float data with int8 weights. QuantizeDynamic quantizes the data at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _hybrid, _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops._window import Padding, Pair, SlidingWindow, image, in_words
from mcugen.oracle import hybrid


def _from_tflite(source: Source) -> HybridDepthwiseConv2D:
    a, w = source.attributes, source.inputs[1]
    if w is not None and w.dtype == "s4":
        raise UnsupportedError(
            "no runtime has a kernel for float data with 4-bit weights", hint="give this layer 8-bit weights"
        )
    a.ignore("depth_multiplier")  # given by the shapes; the schema calls it redundant
    return HybridDepthwiseConv2D(
        stride=(a["stride_h"], a["stride_w"]),
        dilation=(a["dilation_h_factor"], a["dilation_w_factor"]),
        padding=a["padding"],
        activation=a["fused_activation_function"],
    )


def params(call: Call) -> Params:
    op, w = call.op, call.constant(3)
    assert isinstance(op, HybridDepthwiseConv2D)
    return {
        **_hybrid.weight_fields(call, w, op.activation),
        **_hybrid.geometry(call, op.window(w.shape)),
        "multiplier": w.shape[3] // call.input(0).shape[3],
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: `seen`, products with data inside the image; `rows`, rows of taps."""
    x, w, y = call.input(0), call.input(3), call.output
    ones = np.ones((1, *x.shape[1:3], 1))
    seen = sum(float(tap.sum()) for _, _, tap in call.op.window(w.shape).taps(ones, 0.0))
    return {"seen": seen * y.shape[0] * y.shape[3], "rows": y.size * w.shape[1]}


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    op, w = call.op, call.input(3)
    x = _hybrid.float_data(sink, inputs, symmetric=False)
    x, padding = _tflite.around(sink, x, op.window(w.shape))
    dilation = {"dilation_h_factor": op.dilation[0], "dilation_w_factor": op.dilation[1]}
    attributes = {**_tflite.activation(call), **_tflite.strides(op.stride), **dilation, "padding": padding}
    attributes["depth_multiplier"] = w.shape[3] // call.input(0).shape[3]
    number = 6 if w.quant is not None and w.quant.per_channel else 4
    operands = [x, inputs[3], *(inputs[4:] if call.has(4) else ())]
    return _tflite.operator(call, sink, "DEPTHWISE_CONV_2D", operands, attributes, number)


@dataclass(frozen=True)
class HybridDepthwiseConv2D(Op):
    """y[n, i, j, o] = activation(scale_w[o] * s[n] * sum over taps of w[0, kh, kw, o] * (q[..., o / m] - z[n]) + b[o]).

    q: s8 [N, H, W, C]   s: f32 [N]   z: s8 [N]   w: s8 [1, KH, KW, C * m]   b: f32 [C * m] or absent
    y: f32 [N, OH, OW, C * m]. Sums are integers, scaled by scale_w[o] * s[n], rounded to float32.
    Source: LiteRT depthwise_conv.cc, EvalHybridPerChannel.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = "SAME"
    activation: str = "NONE"

    exact_floats = True
    takes_images = True
    litert_types = frozenset()
    imports = (
        Import(
            "tflite",
            "DEPTHWISE_CONV_2D",
            expand=_hybrid.layer(_from_tflite, lambda source, w: False),
            when=_hybrid.is_hybrid,
        ),
    )
    writes = (_tflite.to_target(to_tflite),)
    kernels = (
        Kernel(
            "mg_hybrid_depthwise_conv2d",
            Whole(),
            (_hybrid.constant_weights, _hybrid.sums_fit),
            params,
            operands=(0, 1, 2),
            cost=Cost(work, ("seen", "rows")),
            short="hybrid_depthw",
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
        if w.shape[0] != 1 or w.shape[3] % q.shape[3]:
            raise ShapeError(f"weights {list(w.shape)} must be [1, KH, KW, a multiple of {q.shape[3]} channels]")
        _hybrid.check_channels(w, b, w.shape[3], 3)
        h, width = self.window(w.shape).output((q.shape[1], q.shape[2]))
        return (TensorType((q.shape[0], h, width, w.shape[3]), "f32"),)

    def refused_by(self, call: Call, runtime: str) -> str:
        return _hybrid.refused_by(runtime)

    def reference_q(
        self, call: Call, q: np.ndarray, s: np.ndarray, z: np.ndarray, w: np.ndarray, b: np.ndarray | None = None
    ) -> np.ndarray:
        spread = np.repeat(hybrid.centred(q, z), w.shape[3] // q.shape[3], axis=3)
        sums = np.asarray(sum(tap * w[0, i, j] for i, j, tap in self.window(w.shape).taps(spread, 0.0)))
        return hybrid.results(call, sums, s, b, self.activation, twice=False)

    def window(self, w: Sequence[int]) -> SlidingWindow:
        """The window for weights of shape w."""
        return SlidingWindow((w[1], w[2]), self.stride, self.dilation, self.padding)

    def macs(self, call: Call) -> int:
        return call.output.size * int(np.prod(call.input(3).shape[1:3]))

    def in_words(self, call: Call) -> str:
        return in_words(self.window(call.input(3).shape), call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"size": (1, 5, 7), "c": 3, "kernel": (3, 3)},
    {"size": (2, 6, 5), "c": 4, "kernel": (2, 4), "stride": (2, 1), "activation": "RELU6"},
    {"size": (1, 9, 9), "c": 1, "kernel": (3, 3), "dilation": (2, 2), "multiplier": 3, "activation": "RELU"},
    {"size": (1, 4, 3), "c": 5, "kernel": (3, 2), "multiplier": 2, "bias": False},
)


def example(
    seed: int,
    size: tuple[int, int, int],
    c: int,
    kernel: Pair,
    multiplier: int = 1,
    bias: bool = True,
    weights: str = "s8",
    **fields: Any,
) -> Example:
    op, o = HybridDepthwiseConv2D(**fields), c * multiplier
    scales = tuple(0.01 * (1 + k % 3) for k in range(o if seed % 2 else 1))
    w = TensorType((1, *kernel, o), weights, QuantParams(scales, (0,) * len(scales), 3 if len(scales) > 1 else 0))
    each = (size[0],)
    x = (TensorType((*size, c), "s8"), TensorType(each, "f32"), TensorType(each, "s8"))
    inputs = (*x, w, *([TensorType((o,), "f32")] if bias else []))
    constants = dict.fromkeys(range(3, len(inputs)))
    return Example(op, inputs, op.infer(*inputs), constants, seed)
