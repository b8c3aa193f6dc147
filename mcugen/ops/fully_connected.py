"""FULLY_CONNECTED: the product of a matrix and each vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Param, Params, Rule
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Accumulate, Kernel, Run, Text
from mcugen.ir.op import Example, Op, Reordered, Scaling, Slimmed
from mcugen.ir.ranges import Range, Removal, channels_of, met
from mcugen.ir.types import TensorType, dtypes, images_of, rows_of
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _accumulators, _blocked, _filter, _onnx, _ordered, _rounding, _slim, _tflite
from mcugen.ops._filter_examples import example
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops._weighted import Weighted, activation_of, matrix, narrowed, pixels, rounds_once, sums_fit
from mcugen.oracle import filters
from mcugen.oracle.quantized import is_tflm

BLOCK = 4
"""Number of outputs whose weights are interleaved."""


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    if a["weights_format"] != "DEFAULT":
        raise UnsupportedError(f"weights format {a['weights_format']} is not supported")
    a.ignore("asymmetric_quantize_inputs")  # only matters for float input with int8 weights, which is refused
    sums = _filter.stated_sums(source)
    return Imported(FullyConnected(a["fused_activation_function"], bool(a["keep_num_dims"]), sums))


def rounds_twice(call: Call) -> bool:
    "the runtime rounds sums twice, as TFLM does, or the operator states how it rounds"
    return not rounds_once(call) or _rounding.is_stated(call)


def int8_to_int16(call: Call) -> bool:
    "input and weights are int8, the output is int16, rounded twice"
    if rounds_once(call) or _rounding.is_stated(call):
        return False
    return (call.input(0).dtype, call.input(1).dtype, call.output.dtype) == ("s8", "s8", "s16")


def by_runtime(call: Call) -> bool:
    "input, weights and output are int8, and the operator leaves rounding to the runtime"
    return _filter.int8_data(call) and not _rounding.is_stated(call)


def is_image(call: Call) -> bool:
    "the data is one image of several rows, and all of it is one vector"
    x = call.input(0)
    return images_of(x.shape) == 1 and rows_of(x.shape) > 1 and x.size == call.input(1).shape[1]


def _by_channel(call: Call) -> np.ndarray:
    """The weights as [outputs, pixels, input channels], zero points removed."""
    return matrix(call).reshape(call.input(1).shape[0], -1, channels_of(call.input(0)))


def params(call: Call) -> Params:
    w = matrix(call)
    fields = _filter.weight_fields(call, _filter.interleave(w, BLOCK), w, activation_of(call))
    fields |= {"in_len": w.shape[1], "out_len": w.shape[0]}
    if call.input(0).is_float:
        return fields
    fields.pop("in_zero_point", None)
    if _rounding.is_stated(call):
        return fields
    return fields | _scale_fields(call)


def _scale_fields(call: Call) -> dict[str, Param]:
    """The multipliers' fields: one multiplier for all outputs if the weights have one scale."""
    quant = call.input(1).quant
    per_channel = quant is not None and quant.per_channel
    mult, shift = _filter.c_multipliers(call, call.input(1).shape[0] if per_channel else 1)
    if rounds_once(call):
        mult, shift = _filter.multipliers(call, mult.size)
    return {"mult": mult, "shift": shift, "scale_stride": int(per_channel), "rounds_once": int(rounds_once(call))}


def single_rounding_fits(call: Call) -> bool:
    "with LiteRT's single rounding, outputs stay within 32 bits before the activation"
    if (
        not rounds_once(call)
        or _rounding.is_stated(call)
        or call.input(0).is_float
        or not _filter.constant_weights(call)
    ):
        return True
    w = matrix(call)
    mult, shift = _filter.multipliers(call, w.shape[0])
    scaled = _filter.largest_sums(call, w) * mult.astype(np.float64)
    return bool((scaled < 0.9 * 2.0**63).all() and (scaled * 2.0 ** (shift - 31.0) < 2.0**30).all())


def _own_rules(symbol: str) -> tuple[Rule, ...]:
    return () if symbol.endswith("__acc64") else (single_rounding_fits,)


_KERNELS = _filter.all_kernels(
    "fully_connected",
    sums_fit,
    lambda symbol: Kernel(symbol, Run(pixels), _own_rules(symbol), params=params),
)
_BY_ROWS = Kernel(
    "mg_fully_connected_s8_rows",
    Accumulate(),
    (by_runtime, _filter.constant_weights, sums_fit, single_rounding_fits, is_image),
    params=lambda call: {**params(call), "row_len": call.input(0).size // rows_of(call.input(0).shape)},
    scratch=lambda call: 4 * call.input(1).shape[0],
)
_WIDENING = Kernel(
    "mg_fully_connected_s8_s16",
    Run(pixels),
    (int8_to_int16, _filter.constant_weights),
    params=params,
    text=Text(struct="mg_fully_connected_s8"),
)


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """FULLY_CONNECTED. A layer with `float_scales` is written as a part of the SVDF that reads its results."""
    op = call.op
    if op.float_scales:
        return sink.pending(call, inputs)
    attributes = {**_filter.writable(call, op.sum_dtype), "keep_num_dims": op.keep_dims, "weights_format": "DEFAULT"}
    operands = [inputs[0], *(_filter.with_bias(call, sink, inputs) if call.has(2) else inputs[1:])]
    return _tflite.operator(call, sink, "FULLY_CONNECTED", operands, attributes, _version(call))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.op.float_scales or call.op.widen:
        raise UnsupportedError(
            "this fully connected layer is a part of an SVDF and cannot be written alone",
            hint="write the network as it was imported",
        )
    x, w, y = call.input(0), call.input(1), call.output
    outputs, length = w.shape
    vectors = _onnx.reshaped(sink, str(inputs[0]), x.with_shape((x.size // length, length)))
    flat = y.with_shape((y.size // outputs, outputs))
    operands = [vectors, _blocked.written(call, sink, str(inputs[1]))]
    made = _onnx.weighted(call, sink, flat, "Gemm", operands, {"transB": 1}, 1)
    return [_onnx.reshaped(sink, made, y)]


def _version(call: Call) -> int:
    if call.op.sum_dtype:
        return 11
    if _filter.has_nibbles(call):
        return 10
    without_bias = 6 if len(call.inputs) == 2 else 5 if call.op.keep_dims else 1
    return max(without_bias, _tflite.version(call.input(0), s8=4, s16=7))


@dataclass(frozen=True)
class FullyConnected(Weighted):
    """y[n, o] = activation(b[o] + sum over k of w[o, k] * x[n, k]).

    x: s8, s16, u8 or f32, any shape with a multiple of K elements   w: [O, K], s8 or s4 (u8 with u8, f32 with f32)
    Weights in blocks of n inputs: w = m[o, k / n] * q[o, k], m from 1 to 255, q from -8 to 7, with a scale per output
    b: s32 (s64 with s16 data, f32 with f32) [O] or absent   y: as x, [N, O], or [..., O] with keep_dims
    sum_dtype: s32 if sums of int16 data without a bias wrap to 32 bits, else s64 or empty
    widen: whether y is s16 with s8 data
    float_scales: whether multipliers are computed in float32 and sums rounded twice, as in SVDF
    rounding: "even" or "single" if integer results are real numbers rounded once; then b is s32 or f32; see _rounding
    Source: TFLite FULLY_CONNECTED; quantization specification, section FULLY_CONNECTED.
    """

    activation: str = "NONE"
    keep_dims: bool = False
    sum_dtype: str = ""
    float_scales: bool = False
    rounding: str = ""
    widen: bool = False

    exact_scales: ClassVar[bool] = True
    """Whether scale_x * scale_w stays float64 for uint8 weights. `float_scales` overrides it."""

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "FULLY_CONNECTED", from_tflite),)
    writes = (_tflite.to_target(to_tflite), Write("onnx", to_onnx))
    weight_operands = (1,)
    scaled_axis = 0
    met_axis = 1
    kernels = (*_KERNELS, *narrowed(_KERNELS), _WIDENING, _BY_ROWS, *_blocked.DENSE)

    def refused_by(self, call: Call, runtime: str) -> str:
        quant = call.input(1).quant
        if runtime == "tflm" and _filter.has_nibbles(call) and quant is not None and quant.per_channel:
            return "no kernel for s4 weights with one scale per channel"
        why = _filter.misread_bias(call) if runtime == "litert" else _filter.refused_weights(call, runtime)
        return why or super().refused_by(call, runtime)

    def infer(self, x: TensorType | None, w: TensorType | None, b: TensorType | None = None) -> tuple[TensorType, ...]:
        if x is None or w is None or len(w.shape) != 2:
            raise ShapeError(f"weights must have the shape [outputs, inputs], not {w}")
        outputs, inputs = w.shape
        if x.size % inputs or (self.keep_dims and x.shape[-1] != inputs):
            raise ShapeError(f"an input {list(x.shape)} cannot be split into vectors of {inputs}")
        _filter.check_types(x, w, b, outputs, self.rounding)
        shape = (*x.shape[:-1], outputs) if self.keep_dims else (x.size // inputs, outputs)
        if self.widen and x.dtype != "s8":
            raise UnsupportedError(f"s16 results of {x.dtype} data are not supported: only s8 data can have them")
        return (TensorType(shape, "s16" if self.widen else x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return filters.real_results(x.reshape(-1, w.shape[1]) @ w.T, b, self.activation)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        """The integer matrix product, bit for bit.

        Source: reference_integer_ops/fully_connected.h, reference_ops::FullyConnected (uint8).
        """
        data, weights = filters.operands(call, x, w)
        once = not self.float_scales and (filters.was_uint8(call) or not is_tflm(call))
        return filters.results(call, data.reshape(-1, w.shape[1]) @ weights.T, b, self.activation, once=once)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def scaling(self, call: Call) -> Scaling:
        return _filter.scaling(call, call.input(1).shape[0], self.activation)

    def scaling_q(self, call: Call) -> Scaling:
        return filters.scaling(call, call.input(1).shape[0], self.activation)

    def matrix(self, call: Call) -> np.ndarray:
        return _filter.centred(call, call.constant(1))

    def rounds_once(self, call: Call) -> bool:
        if _rounding.is_stated(call):
            return True
        return self._runtime_rounds_once(call)

    def _runtime_rounds_once(self, call: Call) -> bool:
        """LiteRT rounds fully connected layers once, and so do operators on int16 in an .onnx.

        TFLM, which has no uint8 layers, rounds twice as in convolutions.
        """
        return not self.float_scales and (call.reference != "tflm" or _filter.is_legacy(call))

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _accumulators.results(call, call.accumulators, self.activation, once=rounds_once(call))

    def accumulators(self, call: Call) -> Range | None:
        x = call.range_of(0)
        if x is None or not _filter.constant_weights(call):
            return None
        seen = met(x, call.input(1).shape[1])
        return _accumulators.sums(call, matrix(call), Range(seen.low[None], seen.high[None]), may_skip=False)

    def removable(self, call: Call, asked: Removal) -> Removal:
        """An input channel is dropped with all its weights: one column for each pixel that a vector contains."""
        if not _slim.has_weights(call) or call.input(1).shape[1] % asked.of(0).size:
            return asked.none
        return _slim.removable(call, asked, _by_channel(call), may_skip=False)

    def without(self, call: Call, removed: Removal) -> Slimmed:
        inputs = np.tile(~removed.of(0), call.input(1).shape[1] // removed.of(0).size)
        changed = _slim.weights(call, 0, ~removed.outputs[0], (1, inputs))
        return Slimmed(self, changed | _slim.biased(call, removed, _by_channel(call)))

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This product with the weights' columns in the order in which the vectors are stored."""
        x, (outputs, length) = orders[0], call.input(1).shape
        found = None if x is None else x.reshaped((call.input(0).size // length, length))
        if found is None or call.constants[1] is None or not found.leads(0):
            return None
        vectors = found.in_shape(found.logical_shape)
        rest = [Order.plain(t.shape) if t else None for t in call.inputs[2:]]
        y = Order.plain(call.output.shape).in_shape((vectors.stored_shape[0], outputs))
        weights = _ordered.along(vectors, (outputs, length), 1)
        return Reordered(replace(self, keep_dims=False), (vectors, weights, *rest), (y,))

    def macs(self, call: Call) -> int:
        return call.output.size * call.input(1).shape[1]

    def in_words(self, call: Call) -> str:
        made, given = call.input(1).shape
        return f"{given} to {made}" + (f", {pixels(call)} times" if pixels(call) > 1 else "")

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


_CASES: tuple[dict[str, Any], ...] = (
    {"shape": (1, 5), "outputs": 3, "zero": -128},
    {"shape": (1, 17), "outputs": 9, "zero": 127, "activation": "RELU"},
    {"shape": (3, 8), "outputs": 4, "gain": 3.0},
    {"shape": (2, 3, 6), "outputs": 5, "zero": 7, "keep_dims": True, "bias": False},
    {"shape": (1, 2, 2, 4), "outputs": 8, "zero": -9, "per_channel": True, "activation": "RELU6"},
    {"shape": (1, 1), "outputs": 16, "zero": -128, "gain": 1e-8},
    {"shape": (1, 64), "outputs": 6, "zero": 11, "bias_max": 2**30, "gain": 1e-6},
    {"shape": (2, 7), "outputs": 6, "zero": 127, "bias_max": 2**31 - 1, "gain": 1e-7},
    {"shape": (1, 530), "outputs": 7, "zero": 5, "gain": 3e-4},
    {"shape": (1, 300), "outputs": 5, "zero": -128, "out_zero": -128, "gain": 2e-4},
    {"shape": (2, 260), "outputs": 6, "zero": 3, "gain": 2e-4, "activation": "RELU6"},
    {"shape": (1, 17, 5), "outputs": 6, "zero": 3, "out_zero": -128, "gain": 0.002, "keep_dims": True},
    {"shape": (3, 33), "outputs": 3, "zero": -128, "out_zero": -128, "gain": 0.002, "per_channel": True},
    {"kind": "s8w16", "shape": (1, 13), "outputs": 7, "zero": -128, "activation": "RELU6"},
    {"kind": "s8w16", "shape": (2, 3), "outputs": 5, "zero": 100, "bias_max": 2**31 - 1, "gain": 1e-7},
    {"kind": "s8w4", "shape": (2, 13), "outputs": 7, "zero": -128, "activation": "RELU6", "gain": 0.1},
    {"kind": "s8w4", "rounding": "even", "shape": (1, 9), "outputs": 9, "zero": 5, "gain": 0.1},
    {"kind": "s16", "shape": (1, 11), "outputs": 6, "activation": "RELU"},
    {"kind": "s16", "shape": (2, 6), "outputs": 5, "per_channel": True, "bias_max": 3 * 2**30, "gain": 1e-6},
    {"kind": "s16", "shape": (1, 9), "outputs": 4, "bias_dtype": "s32"},
    {"kind": "s16", "shape": (2, 6), "outputs": 5, "bias_max": 2**38, "gain": 1e-7},
    {"kind": "s16", "shape": (2, 6), "outputs": 5, "bias_max": 2**40, "gain": 3.0},
    {"shape": (2, 7), "outputs": 6, "zero": 127, "bias_max": 2**31 - 1, "gain": 7.0},
    {"kind": "f32", "shape": (3, 10), "outputs": 7, "activation": "RELU6"},
    {"kind": "f32", "shape": (1, 2, 2, 3), "outputs": 4, "bias": False},
    {"kind": "f32", "shape": (2, 5), "outputs": 17, "activation": "RELU"},
    {"kind": "f32", "shape": (1, 3), "outputs": 14},
    {"rounding": "even", "shape": (1, 17), "outputs": 9, "zero": 127, "activation": "RELU"},
    {"rounding": "even", "shape": (3, 40), "outputs": 6, "zero": -5, "gain": 0.003, "per_channel": True},
    {"rounding": "even", "shape": (2, 8), "outputs": 5, "zero": -5, "gain": 2.0**-8, "bias_dtype": "f32"},
    {"rounding": "single", "shape": (1, 300), "outputs": 5, "zero": -128, "out_zero": -128, "gain": 2e-4},
    {"rounding": "even", "kind": "s8w16", "shape": (1, 13), "outputs": 7, "zero": -128},
    {"rounding": "even", "kind": "s16", "shape": (2, 11), "outputs": 6, "gain": 1e-3},
    {"shape": (1, 17), "outputs": 7, "zero": -128, "out_zero": 0, "gain": 3.0, "widen": True},
    {"shape": (2, 64), "outputs": 9, "zero": 5, "out_zero": 0, "gain": 300.0, "bias": False, "widen": True},
    {"rounding": "even", "shape": (2, 250), "outputs": 6, "zero": -5, "gain": 0.0007},
    {"rounding": "even", "shape": (2, 33), "outputs": 6, "zero": -5, "gain": 0.0023, "activation": "RELU6"},
    {"rounding": "even", "shape": (2, 250), "outputs": 6, "gain": 0.0007, "activation": "RELU6"},
    {"rounding": "single", "kind": "s8w16", "shape": (2, 13), "outputs": 6, "zero": -7},
    {"shape": (3, 48), "outputs": 8, "zero": 3, "out_zero": -128, "gain": 5e-4},
    {"kind": "s8w9", "shape": (2, 13), "outputs": 7, "zero": -128, "activation": "RELU6"},
    {"kind": "s8w9", "shape": (1, 530), "outputs": 6, "zero": 127, "gain": 4e-4},
    {"rounding": "even", "kind": "s8w9", "shape": (1, 32), "outputs": 6, "zero": -3},
    {"kind": "f16", "shape": (1, 10), "outputs": 7},
    {"kind": "s8w8", "shape": (2, 37), "outputs": 7, "zero": -128, "activation": "RELU"},
    {"kind": "f16", "shape": (2, 19), "outputs": 12, "activation": "RELU6"},
    {"rounding": "even", "kind": "s8b4", "shape": (2, 96), "outputs": 6, "zero": -3, "gain": 2e-5, "per_channel": True},
    {"rounding": "even", "kind": "s8b4", "shape": (1, 45), "outputs": 3, "zero": 7, "gain": 3e-5, "activation": "RELU"},
)


def _example(
    seed: int,
    shape: tuple[int, ...],
    outputs: int,
    activation: str = "NONE",
    keep_dims: bool = False,
    rounding: str = "",
    widen: bool = False,
    **types: Any,
) -> Example:
    inputs = shape[-1] if keep_dims or len(shape) == 2 else int(np.prod(shape))
    op = FullyConnected(activation, keep_dims, float_scales=widen, rounding=rounding, widen=widen)
    made = example(op, seed, shape, (outputs, inputs), 0, **{"per_channel": False, "gain": 0.02, **types})
    return replace(made, outputs=tuple(replace(t, dtype="s16") for t in made.outputs)) if widen else made
