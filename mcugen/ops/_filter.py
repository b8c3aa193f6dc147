"""Shared recipe of operators with weights: type rules, multipliers, folded biases, accumulator bounds, packing.

Operands are (data, weights, optional bias) throughout; weights are treated as a matrix [output channels, taps].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir.call import Call, Param, Params, Rule, fact
from mcugen.ir.fixed_point import activation_range, quantize_multiplier, reduced_multiplier, wrap32
from mcugen.ir.imports import Source
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Scaling
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink
from mcugen.ops import _rounding, _tflite
from mcugen.ops._activation import float_clamp_fields

WEIGHT_TYPES = {"s8": ("s8", "s16", "s4"), "s16": ("s8", "s4"), "u8": ("u8",), "f32": ("f32",)}
BIAS_TYPES = {"s8": ("s32",), "s16": ("s64", "s32"), "u8": ("s32",), "f32": ("f32",)}
INT32_END = 2**31
LARGEST = {"s8": 128, "s16": 32768}


def check_types(x: TensorType, w: TensorType, b: TensorType | None, channels: int, rounding: str = "") -> None:
    """Raise UnsupportedError or QuantizationError on operand types that no runtime computes together.

    rounding: the operator's field of that name, see `_rounding`. If it is not empty, the bias may be float, the weights
    int16, and the input may have any zero point.
    """
    _rounding.check(rounding)
    if x.dtype == "f32" and w.dtype == "s8":
        raise UnsupportedError("float input with int8 weights (dynamic-range quantization) is not supported")
    stated = ("s8", "s16", "s4") if rounding and not x.is_float else ()
    if w.dtype not in (stated or WEIGHT_TYPES.get(x.dtype, ())):
        raise UnsupportedError(f"{x.dtype} input with {w.dtype} weights is not supported")
    biases = ("s32", "f32") if stated else BIAS_TYPES[x.dtype]
    if b is not None and (b.dtype not in biases or b.size != channels):
        raise UnsupportedError(f"bias {b} does not fit {channels} outputs of {x.dtype} input")
    for name, t in (("input", x), ("weights", w)):
        if not t.is_float and t.quant is None:
            raise QuantizationError(f"the {name} {t} has no scale")
    if w.quant and len(w.quant.scale) not in (1, channels):
        raise QuantizationError(f"the weights {w} have {len(w.quant.scale)} scales for {channels} outputs")
    if x.dtype == "s16" and x.zero_point != 0 and not rounding:
        raise QuantizationError(f"the input {x} must have the zero point 0")


def check_wide_bias(x: TensorType, b: TensorType | None) -> None:
    """Raise UnsupportedError for an int32 bias on int16 data: runtimes refuse the bias, or read beyond its end."""
    if x.dtype == "s16" and b is not None and b.dtype == "s32":
        raise UnsupportedError(f"bias {b} does not fit int16 input: it must be s64")


def misread_bias(call: Call) -> str:
    """Why a runtime misreads an int32 bias on int16 data; "" if it does not."""
    bias = call.input(2).dtype if call.has(2) else ""
    stated = getattr(call.op, "sum_dtype", "") == "s32"
    misread = call.input(0).dtype == "s16" and bias == "s32" and not stated
    return "it reads the int32 bias as int64: no quantized_bias_type is stated" if misread else ""


def refused_weights(call: Call, runtime: str) -> str:
    """Why a runtime refuses 4-bit weights with this data; "" if it accepts them, or if the weights are wider."""
    is_wide = call.input(0).dtype == "s16"
    return "no kernel for s4 weights with s16 data" if has_nibbles(call) and is_wide and runtime == "tflm" else ""


def has_nibbles(call: Call) -> bool:
    """Whether the weights have four bits."""
    return call.input(1).dtype == "s4"


def check_symmetric(w: TensorType) -> None:
    """Raise QuantizationError if int8 or int4 weights have a zero point: runtimes ignore it, or refuse the weights."""
    if w.dtype in ("s8", "s4") and w.quant and any(w.quant.zero_point):
        raise QuantizationError(f"the weights {w} must have the zero point 0")


def symmetric(data: np.ndarray, quant: QuantParams) -> tuple[np.ndarray, QuantParams]:
    """8-bit weights minus their zero points: int8 if all fit, else int16. The zero points become 0."""
    along = [1] * data.ndim
    if quant.per_channel:
        along[quant.axis] = -1
    less = data.astype(np.int16) - np.array(quant.zero_point, np.int16).reshape(along)
    fits = less.min(initial=0) >= -128 and less.max(initial=0) <= 127
    return less.astype(np.int8 if fits else np.int16), replace(quant, zero_point=(0,) * len(quant.scale))


def stated_sums(source: Source, k: int = 2) -> str:
    """The attribute quantized_bias_type as an element type; "" if the file states none.

    k: index of the bias among the operands. Raises UnsupportedError if the bias has another type.
    """
    stated = {"INT32": "s32", "INT64": "s64"}.get(source.attributes["quantized_bias_type"], "")
    bias = source.inputs[k] if len(source.inputs) > k else None
    if bias is not None and stated and stated != bias.dtype:
        raise UnsupportedError(f"quantized_bias_type {stated} with a bias {bias} is not supported")
    return stated


def writable(call: Call, sum_dtype: str = "") -> dict[str, str]:
    """The TensorFlow Lite attributes that all operators with weights have. Raises UnsupportedError for int16 weights.
    """
    if call.input(1).dtype == "s16":
        raise UnsupportedError("no runtime has int16 weights", hint="write the network as it was imported")
    stated = {"s32": "INT32", "s64": "INT64"}.get(sum_dtype)
    return _tflite.activation(call) | ({} if stated is None else {"quantized_bias_type": stated})


def with_bias(call: Call, sink: Sink, inputs: Sequence[str | None], *, required: bool = False) -> list[str | None]:
    """The names of the weights and the bias to write.

    A bias without a scale gets scale_x * scale_w, because runtimes check the bias's scale.
    inputs: the data, the weights, and the bias if there is one. required: whether the format demands a bias; an
    absent bias is then written as zeros.
    """
    x, w, given = call.input(0), inputs[1], [name for name in inputs[2:] if name is not None]
    data = call.constants[2] if call.has(2) else None
    if not given and required and x.dtype != "s16":
        data = np.zeros(call.output.shape[-1], np.float32 if x.is_float else np.int32)
    quant = call.input(1).quant
    stated = call.has(2) and call.input(2).quant is not None
    if data is None or (given and (x.is_float or stated)):
        return [w, *given]
    scales = (
        () if x.is_float or quant is None else tuple(float(np.float32(x.scale) * np.float32(s)) for s in quant.scale)
    )
    return [w, sink.constant(data, QuantParams(scales, (0,) * len(scales)) if scales else None)]


@fact
def multipliers(call: Call, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """(mult s32, shift s8) of each output channel, for scale_x * scale_w / scale_y.

    If the operator states its rounding, the pair is proved to round so. Otherwise scales are float32, and are
    multiplied and divided in float64. Two exceptions: uint8 convolutions round scale_x * scale_w to float32, and
    operators with `float_scales` round every result to float32.

    Source: kernel_util.cc, PopulateConvolutionQuantizationParams; svdf_common.cc, PrepareSvdf.
    """
    if _rounding.is_stated(call):
        found = _rounding.scaled(call, str(call.op.activation))
        return found.mult.astype(np.int32), (-found.right).astype(np.int8)
    quant = call.input(1).quant
    if quant is None:
        raise QuantizationError(f"the weights {call.input(1)} have no scale")
    rounds_all = getattr(call.op, "float_scales", False)
    dtype = np.dtype(np.float32 if rounds_product(call) or rounds_all else np.float64)
    scales = np.asarray(quant.scale, np.float32).astype(dtype) * np.asarray(call.input(0).scale, np.float32).astype(
        dtype
    )
    real = np.broadcast_to(scales.astype(np.float64), (channels,)) / np.float64(np.float32(call.output.scale))
    if rounds_all:
        real = real.astype(np.float32)
    pairs = [quantize_multiplier(float(r)) for r in real]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)


def scaling(call: Call, channels: int, activation: str) -> Scaling:
    """The multiplier of each output channel, and the bounds of the activation; empty for floats."""
    if call.input(0).is_float:
        return {}
    if _rounding.is_stated(call):
        return {"factors": _rounding.factors(call, channels), "bounds": activation_range(activation, call.output)}
    mult, shift = multipliers(call, channels)
    return {"mult": mult, "shift": shift, "bounds": activation_range(activation, call.output)}


def is_legacy(call: Call) -> bool:
    """Whether the weights were uint8 in the model; int16 weights are uint8 weights minus their zero point."""
    return call.input(1).dtype in ("u8", "s16")


def rounds_product(call: Call) -> bool:
    """Whether scale_x * scale_w is rounded to float32."""
    if getattr(call.op, "product_in_float", False):
        return True
    return is_legacy(call) and not getattr(call.op, "exact_scales", False)


def centred(call: Call, w: np.ndarray, axis: int = 0) -> np.ndarray:
    """The weights minus their zero points, in int64; floats unchanged. axis: the axis of per-channel zero points."""
    quant = call.input(1).quant
    if w.dtype.kind == "f" or quant is None:
        return w
    zero = np.asarray(quant.zero_point, np.int64)
    shape = [1] * w.ndim
    shape[axis] = zero.size
    return w.astype(np.int64) - zero.reshape(shape)


def is_wide(call: Call) -> bool:
    """Whether the runtime sums in 64 bits: data are int16, and neither the bias nor its stated type is int32."""
    if call.input(0).dtype != "s16" or (call.has(2) and call.input(2).dtype == "s32") or _rounding.is_stated(call):
        return False
    return call.has(2) or getattr(call.op, "sum_dtype", "") != "s32"


def bias_of(call: Call, channels: int) -> np.ndarray:
    """The constant bias, or zeros if there is none: int64, or float64 with float data.

    A float bias with integer data is divided by the scale of the sums and rounded.
    """
    if call.has(2) and call.input(2).is_float and not call.input(0).is_float:
        return _rounding.whole_bias(call, channels)
    wide = np.float64 if call.input(0).is_float else np.int64
    return call.constant(2).reshape(-1).astype(wide) if call.has(2) else np.zeros(channels, wide)


def folded_bias(call: Call, sums: np.ndarray) -> np.ndarray:
    """bias - zero_point(x) * sum of weights, per output channel, in int64. sums: weight sums per channel."""
    return np.asarray(bias_of(call, sums.size) - call.input(0).zero_point * sums)


def largest_sums(call: Call, w: np.ndarray) -> np.ndarray:
    """A bound of |folded bias + sum| of each channel. w: [channels, taps], zero points removed."""
    data = LARGEST[call.input(0).dtype]
    return np.asarray(data * np.abs(w).sum(axis=1) + np.abs(folded_bias(call, w.sum(axis=1))))


def interleave(w: np.ndarray, block: int) -> np.ndarray:
    """The order that blocked kernels read: blocks of channels tap by tap, then the remaining channels.

    w: [channels, taps].
    """
    full = w.shape[0] // block * block
    blocks = w[:full].reshape(-1, block, w.shape[1]).transpose(0, 2, 1)
    return np.concatenate([blocks.reshape(-1), w[full:].reshape(-1)])


def wrap_bias(call: Call, bias: np.ndarray) -> np.ndarray:
    """A bias in the kernels' type: int64 with int16 data, int32 (wrapped) with int8 data, else float32."""
    if call.input(0).is_float:
        return bias.astype(np.float32)
    return bias if call.input(0).dtype == "s16" else wrap32(bias).astype(np.int32)


def weight_fields(call: Call, packed: np.ndarray, w: np.ndarray, activation: str) -> dict[str, Param]:
    """The struct fields that all kernels with weights share: weights, bias and requantization constants.

    w: [channels, taps], zero points removed; packed: the weights in the kernel's order.
    """
    x = call.input(0)
    fields: dict[str, Param] = {"weights": packed.astype(call.input(1).np_dtype)}
    if x.is_float:
        return fields | {"bias": wrap_bias(call, bias_of(call, w.shape[0])), **float_clamp_fields(call, activation)}
    bias = wrap_bias(call, folded_bias(call, w.sum(axis=1)))
    if _rounding.is_stated(call):
        zero: dict[str, Param] = {"bias": bias.astype(np.int32), "in_zero_point": x.zero_point}
        return fields | zero | _rounding.fields(call, activation)
    mult, shift = c_multipliers(call, w.shape[0])
    fields |= {"mult": mult, "shift": shift, "all_right": int(shift.max(initial=-1) < 0)}
    fields |= clamp_fields(activation, call.output)
    if x.dtype == "s16":
        return fields | {"bias": bias, "wide": int(is_wide(call))}
    return fields | {"bias": bias, "in_zero_point": x.zero_point}


def c_multipliers(call: Call, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """(mult s32, shift s8) as kernels take them. With 64-bit sums mult is reduced to 16 bits."""
    mult, shift = multipliers(call, channels)
    return (reduced_multiplier(mult).astype(np.int32) if is_wide(call) else mult), shift


def clamp_fields(activation: str, y: TensorType) -> dict[str, int]:
    """out_zero_point, out_min and out_max of the C parameter structs."""
    low, high = activation_range(activation, y)
    return {"out_zero_point": y.zero_point, "out_min": low, "out_max": high}


def outside(call: Call) -> int | float:
    """The stored value of data outside the image."""
    return 0.0 if call.input(0).is_float else call.input(0).zero_point


def constant_weights(call: Call) -> bool:
    "weights and bias are constant"
    return all(c is not None for t, c in zip(call.inputs[1:], call.constants[1:], strict=True) if t is not None)


def _types(call: Call) -> tuple[str, str, str]:
    return call.input(0).dtype, call.input(1).dtype, call.output.dtype


def int8_data(call: Call) -> bool:
    "input, weights and output are int8"
    return _types(call) == ("s8", "s8", "s8")


def int8_data_wide_weights(call: Call) -> bool:
    "input and output are int8, weights int16"
    return _types(call) == ("s8", "s16", "s8")


def int8_outside(call: Call) -> bool:
    "input and output are int8, weights int8 or int16"
    return int8_data(call) or int8_data_wide_weights(call)


def int16_data(call: Call) -> bool:
    "input and output are int16, weights int8"
    return _types(call) == ("s16", "s8", "s16")


def float_data(call: Call) -> bool:
    "input, weights and output are float"
    return _types(call) == ("f32", "f32", "f32")


def _rounded(rule: Rule, stated: bool) -> Rule:
    """The rule that `rule` holds and that the operator states its rounding; if `stated` is false, that it does not."""

    def rounded(call: Call) -> bool:
        return rule(call) and _rounding.is_stated(call) == stated

    rounded.__doc__ = (rule.__doc__ or "") + (", and the operator states how it rounds" if stated else "")
    return rounded


_KINDS: tuple[tuple[str, Rule], ...] = (
    ("s8", int8_data),
    ("s8w16", int8_data_wide_weights),
    ("s16", int16_data),
)
TYPE_RULES: tuple[tuple[str, Rule], ...] = (
    *((name, _rounded(rule, False)) for name, rule in _KINDS),
    *((f"{name}_line", _rounded(rule, True)) for name, rule in _KINDS),
    *((f"{name}_single", _rounded(rule, True)) for name, rule in _KINDS if name != "s16"),
    ("f32", float_data),
)
"""Type suffix of a kernel's symbol -> rule. `_line` and `_single` are for operators that state their rounding: `_line`
requantizes in integers, `_single` in float32.
"""


def all_kernels(name: str, fit: Rule, make: Callable[[str], Kernel]) -> tuple[Kernel, ...]:
    """The kernels mg_<name>_<type> of all types, and for integers mg_<name>_<type>__acc64, which sums in 64 bits.

    fit: the rule that sums stay within 32 bits. make: returns the kernel for a symbol, with further rules.
    """
    made: list[Kernel] = []
    for dtype, rule in TYPE_RULES:
        proof = proofs(dtype, fit)
        made.append(_ruled(make(f"mg_{name}_{dtype}"), rule, *proof))
        if proof and not dtype.endswith(("_line", "_single")):
            made.append(_ruled(make(f"mg_{name}_{dtype}__acc64"), rule))
    return tuple(made)


def in_floats(kernel: Kernel) -> Kernel:
    """The kernel; if its symbol ends with `_single`, the struct fields of single.h replace the fields of line.h."""
    if not kernel.symbol.removesuffix("__pointwise").endswith("_single"):
        return kernel

    def params(call: Call) -> Params:
        fields = kernel.params(call) if kernel.params else {}
        others = {name: value for name, value in fields.items() if not name.startswith("line.")}
        return others | _rounding.float_fields(call, str(call.op.activation))

    return replace(kernel, params=params)


def _ruled(kernel: Kernel, *rules: Rule) -> Kernel:
    kernel = in_floats(kernel)
    return replace(kernel, accepts=(rules[0], constant_weights, *rules[1:], *kernel.accepts))


def proofs(dtype: str, fit: Rule) -> tuple[Rule, ...]:
    """The rules for summing integers in 32 bits; none for floats. dtype: a suffix of `TYPE_RULES`."""
    if dtype.endswith("_line"):
        return (fit, _rounding.has_line)
    if dtype.endswith("_single"):
        return (fit, _rounding.has_floats)
    return () if dtype == "f32" else (fit,)
