"""Shared recipe of hybrid layers, which have float data and int8 weights: operand checks, C fields and imports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Param, Params
from mcugen.ir.fixed_point import activation_bounds
from mcugen.ir.imports import Expansion, Source
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops._window import SlidingWindow, fields
from mcugen.ops.quantize_dynamic import QuantizeDynamic

WEIGHTS = ("s8", "s4")
_LARGEST = 127 * 255
"""The largest magnitude of weight * (data - zero point)."""
_LARGEST_BIAS = 1e38


def is_hybrid(source: Source) -> bool:
    """Whether a layer has float data and int8 or int4 weights."""
    x, w = (source.inputs[k] if len(source.inputs) > k else None for k in (0, 1))
    return x is not None and w is not None and x.dtype == "f32" and w.dtype in WEIGHTS


def refused_by(runtime: str) -> str:
    """Why a runtime has no hybrid layers; "" if it has."""
    return "no kernel for float data with int8 weights" if runtime == "tflm" else ""


def quantized(source: Source, e: Expansion, x: str, groups: int, *, symmetric: bool) -> Sequence[str]:
    """Append a node that quantizes x; returns the names of its int8 data, scales and zero points.

    groups: number of parts of x, each with a scale of its own. Also records that TFLM has no hybrid layers.
    """
    e.refuse("tflm", refused_by("tflm"))
    return e.nodes(QuantizeDynamic(groups, symmetric), x)


def check(
    q: TensorType | None, scale: TensorType | None, zero: TensorType | None, w: TensorType | None, groups: int
) -> None:
    """Raise ShapeError, UnsupportedError or QuantizationError for operands that no hybrid layer has.

    groups: the number of scales and of zero points.
    """
    if q is None or w is None or q.dtype != "s8" or w.dtype not in WEIGHTS:
        raise UnsupportedError(f"data {q} with weights {w}: int8 data with int8 or int4 weights are needed")
    for what, t, dtype in (("scales", scale, "f32"), ("zero points", zero, "s8")):
        if t is None or t.dtype != dtype or t.size != groups:
            raise ShapeError(f"{what} {t}: there must be {groups}, of type {dtype}")
    if w.quant is None or any(w.quant.zero_point):
        raise QuantizationError(f"the weights {w} must have a scale and the zero point 0")


def check_channels(w: TensorType, b: TensorType | None, channels: int, axis: int) -> None:
    """Raise QuantizationError or UnsupportedError unless there is one weight scale, and one bias, per channel."""
    quant = w.quant
    if quant is not None and quant.per_channel and (len(quant.scale) != channels or quant.axis != axis):
        raise QuantizationError(f"the weights {w} do not have one scale for each of {channels} outputs")
    if b is not None and (b.dtype != "f32" or b.size != channels):
        raise UnsupportedError(f"bias {b} does not fit {channels} float outputs")


def weight_scales(call: Call, channels: int) -> np.ndarray:
    """The scale of each output channel's weights, in float32."""
    quant = call.input(3).quant
    return np.broadcast_to(np.asarray(quant.scale if quant else 1.0, np.float32), (channels,))


def recurrent_sums_fit(call: Call) -> bool:
    "all sums of products stay within 32 bits"
    return max(call.input(k).shape[1] for k in (3, 4)) * _LARGEST < 2**31


def recurrent_weights(call: Call) -> Params:
    """The struct fields of the input weights (operand 3) and recurrent weights (operand 4), each with its row sums."""
    weights = {"w": call.constant(3), "r": call.constant(4)}
    return {**weights, **{f"{k}_sums": w.astype(np.int32).sum(axis=1, dtype=np.int32) for k, w in weights.items()}}


def sums_fit(call: Call) -> bool:
    "all sums of products stay within 32 bits"
    w = call.input(3)
    return w.size // call.output.shape[-1] * _LARGEST < 2**31


def adjacent_columns(call: Call) -> bool:
    "the kernel's columns are adjacent in the image"
    return bool(call.op.dilation[1] == 1)


def gathered_rows(call: Call, whole: int) -> int:
    """Kernel rows that are gathered for the taps of all output pixels: none if these are `whole` adjacent bytes of the
    image, those of one of its pixels.
    """
    x, w, y = call.input(0), call.input(3), call.output
    in_place = w.shape[1:3] == (1, 1) and x.shape[3] == whole and x.shape[:3] == y.shape[:3]
    return 0 if in_place else y.size // y.shape[3] * w.shape[1]


def plain_results(call: Call) -> bool:
    "the activation is NONE, RELU or RELU6, and no bias is -0 or beyond 1e38"
    bias = call.constant(4) if call.has(4) else np.zeros(1, np.float32)
    plain = (np.abs(bias) < _LARGEST_BIAS) & ~(np.signbit(bias) & (bias == 0))
    return activation_bounds(call.op.activation)[0] in (0, -np.inf) and bool(plain.all())


def constant_weights(call: Call) -> bool:
    "weights and bias are constant"
    return all(c is not None for t, c in zip(call.inputs[3:], call.constants[3:], strict=True) if t is not None)


def weight_fields(call: Call, w: np.ndarray, activation: str) -> dict[str, Param]:
    """The struct fields that all hybrid kernels share, except the window. w: the weights in the kernel's order."""
    channels = call.output.shape[-1]
    bias = call.constant(4).reshape(-1) if call.has(4) else np.zeros(channels)
    low, high = activation_bounds(activation)
    return {
        "weights": w.astype(np.int8),
        "scale": weight_scales(call, channels).copy(),
        "bias": bias.astype(np.float32),
        "out_min": low,
        "out_max": high,
    }


def geometry(call: Call, window: SlidingWindow) -> Params:
    """The struct fields of a window that slides over whole images."""
    x, y = call.input(0), call.output
    return {
        **fields(window, x, y, adjacent=False),
        "images": x.shape[0],
        "in_h": x.shape[1],
        "out_h": y.shape[1],
        "stride_h": window.stride[0],
        "dilation_h": window.dilation[0],
        "pad_h": window.pad((x.shape[1], x.shape[2]))[0],
    }


def float_data(sink: TfliteTarget, inputs: Sequence[str | None], *, symmetric: bool | None) -> str:
    """The name of the float data of a hybrid layer, as it is written.

    symmetric: how the layer quantizes its data; None: either way. Raises UnsupportedError unless a QuantizeDynamic
    quantizes the data for this layer alone.
    """
    found = sink.source(inputs[0])
    known = found is not None and all(sink.source(name) is found for name in inputs[:3])
    if found is None or not known or not isinstance(found.call.op, QuantizeDynamic) or found.inputs[0] is None:
        raise UnsupportedError("the int8 data of a hybrid layer must come from a QuantizeDynamic for this layer alone")
    if found.call.op.groups != found.call.input(0).shape[0] or symmetric not in (None, found.call.op.symmetric):
        raise UnsupportedError(f"TensorFlow Lite has no hybrid layer whose data are quantized by {found.call.op}")
    return found.inputs[0]


def layer(
    make: Callable[[Source], Op], symmetric: Callable[[Source, TensorType], bool]
) -> Callable[..., Sequence[str]]:
    """The expansion of a hybrid convolution: QuantizeDynamic for each image, then the operator that `make` returns.

    symmetric: (source, type of the weights) -> whether the data are quantized without a zero point.
    """

    def expand(source: Source, e: Expansion) -> Sequence[str]:
        x, w, b = (e.inputs[k] if len(e.inputs) > k else None for k in range(3))
        if x is None or w is None or len(e.type(x).shape) != 4 or len(e.type(w).shape) != 4:
            raise ShapeError("a convolution needs data and weights of four axes")
        op = make(source)
        found = quantized(source, e, x, e.type(x).shape[0], symmetric=symmetric(source, e.type(w)))
        return [e.node(op, *found, w, *([] if b is None else [b]))]

    return expand
