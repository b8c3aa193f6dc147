"""SVDF: a layer whose filters (of a singular value decomposition) keep their values of the last runs as state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.fixed_point import INT_RANGE, activation_bounds, quantize_multiplier, wrap32
from mcugen.ir.imports import Expansion, Import, Source, cleared
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import Scales, refused
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ops import _tflite
from mcugen.ops._hybrid import is_hybrid
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.hybrid_conv2d import rows_times
from mcugen.ops.logistic import Logistic
from mcugen.ops.reshape import Reshape
from mcugen.ops.tanh import Tanh
from mcugen.oracle import fixed, quantized

_FUNCTIONS = {"TANH": Tanh, "SIGMOID": Logistic}
"""Activations of float data that become separate operators."""


def constant_weights(call: Call) -> bool:
    "weights and bias are constant"
    return call.constants[2] is not None and (not call.has(3) or call.constants[3] is not None)


def memory_of(dtype: str) -> Rule:
    """A rule: the memory has this element type."""

    def is_of_type(call: Call) -> bool:
        return call.input(0).dtype == dtype

    is_of_type.__doc__ = f"the memory is {dtype}"
    return is_of_type


def sizes(call: Call) -> dict[str, int]:
    """The sizes in the C structs."""
    batches, units = call.outputs[1].shape
    return {"batches": batches, "units": units, "rank": call.op.rank, "steps": call.input(2).shape[1]}


def folded_bias(call: Call) -> np.ndarray:
    """The initial sum of each unit: the bias, minus the memory's zero point * sum of the weights."""
    weights = call.constant(2).astype(np.int64).reshape(call.outputs[1].shape[1], -1)
    bias = call.constant(3).astype(np.int64) if call.has(3) else np.zeros(len(weights), np.int64)
    return wrap32(bias.reshape(-1) - call.input(0).zero_point * weights.sum(axis=1)).astype(np.int32)


def scale_fields(call: Call) -> dict[str, int]:
    """The struct fields for requantizing sums."""
    mult, shift = multiplier(call)
    low, high = INT_RANGE["s8"]
    y = call.outputs[1]
    return {"mult": mult, "shift": shift, "out_zero_point": y.zero_point, "out_min": low, "out_max": high}


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for the sums, computed in float32. Source: svdf_common.cc, PrepareSvdf."""
    state, weights, y = (np.float32(t.scale) for t in (call.input(0), call.input(2), call.outputs[1]))
    return quantize_multiplier(float(np.float32(state * weights) / y))


def params(call: Call) -> Params:
    memory = call.input(0)
    fields: Params = {"weights": call.constant(2).reshape(-1), **sizes(call)}
    if not memory.is_float:
        return {**fields, "bias": folded_bias(call), "zero_point": memory.zero_point, **scale_fields(call)}
    bias = call.constant(3).reshape(-1) if call.has(3) else np.zeros(call.outputs[1].shape[1], np.float32)
    low, high = activation_bounds(call.op.activation)
    return {**fields, "bias": bias, "out_min": low, "out_max": high}


def work(call: Call) -> dict[str, float]:
    """The cost terms: filters, units, and `single`, the steps of each filter left over after groups of four."""
    batches, units = call.outputs[1].shape
    filters, steps = batches * call.input(1).shape[1], call.input(2).shape[1]
    return {"filters": filters, "units": batches * units, "single": filters * (steps % 4)}


def from_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to a FullyConnected for the newest value of each filter, then Svdf, whose memory is a state.

    Source: TFLite SVDF; svdf_common.cc.
    """
    a, types = source.attributes, source.inputs
    symmetric = not a["asymmetric_quantize_inputs"]  # only matters for float data with int8 weights
    x, features, times, memory = types[0], types[1], types[2], types[4]
    variable = e.variables[4]
    if x is None or features is None or times is None or memory is None or variable is None:
        raise UnsupportedError("SVDF needs data, both weights, and a memory that is a variable tensor")
    hybrid = is_hybrid(source) and (features.dtype, memory.dtype, times.dtype) == ("s8", "f32", "s8")
    if not hybrid and (len({memory.dtype, times.dtype}) > 1 or (memory.dtype, features.dtype) not in _TYPES):
        raise UnsupportedError(
            f"SVDF of {x.dtype} data, {features.dtype} and {times.dtype} weights, {memory.dtype} memory: not supported"
        )
    name = a["fused_activation_function"]
    _refuse(e, memory, times, types[3], name)
    applied = _FUNCTIONS.get(name) if memory.is_float else None
    op = Svdf(a["rank"], "NONE" if applied or not memory.is_float else name)
    newest, weights = _hybrid_parts(source, e, symmetric=symmetric) if hybrid else (_newest(e, memory), e.inputs[2])
    before = e.read(variable, cleared(memory), memory.quant)
    bias = e.inputs[3] if len(e.inputs) > 3 else None
    after, y = e.nodes(op, before, newest, weights, bias, quant=(memory.quant, source.outputs[0].quant))
    e.write(variable, after)
    return [e.node(applied(), y) if applied else y]


def _newest(e: Expansion, memory: TensorType) -> str:
    op = FullyConnected(float_scales=not memory.is_float, widen=memory.dtype == "s16")
    return e.node(op, e.inputs[0], e.inputs[1], quant=_centred(memory))


def _hybrid_parts(source: Source, e: Expansion, *, symmetric: bool) -> tuple[str, str]:
    """(newest values, memory weights as floats) for float data with int8 weights. Source: LiteRT svdf.cc."""
    x, features, times = e.inputs[:3]
    found = None if times is None else e.data(times)
    if x is None or features is None or times is None or found is None or len(e.type(features).shape) != 2:
        raise UnsupportedError("SVDF of float data needs weights that are float, or constant int8 matrices")
    filters, inputs = e.type(features).shape
    if e.type(x).shape[-1:] != (inputs,):
        raise ShapeError(f"the last axis of data {e.type(x)} must be {inputs}, the weights per filter")
    y = rows_times(source, e, (x, features, None), symmetric=symmetric)
    newest = e.node(Reshape((e.type(y).shape[0], filters)), y)
    return newest, e.constant(found.astype(np.float32) * np.float32(e.type(times).scale))


def _refuse(e: Expansion, memory: TensorType, times: TensorType, bias: TensorType | None, activation: str) -> None:
    """Record the runtimes that refuse an integer layer. Source: svdf.cc of LiteRT, svdf_common.cc of TFLM: Prepare."""
    if memory.is_float:
        return
    if memory.dtype == "s8":
        e.refuse("litert", "it reads an int8 memory as int16, and writes beyond its end")
    elif activation != "RELU":
        e.refuse("litert", f"no kernel for SVDF of int8 data with the activation {activation}")
    if bias is not None and bias.quant is not None and abs(bias.scale - memory.scale * times.scale) >= _BIAS_SCALE:
        e.refuse("tflm", "no kernel unless the bias has the scale of the sums")


_BIAS_SCALE = 1e-5
"""Difference from which the scales of bias and sums count as unequal."""

_TYPES = {("s8", "s8"), ("s16", "s8"), ("f32", "f32")}
"""(element type of the memory, element type of the weights that compute its newest values)."""


def _centred(memory: TensorType) -> QuantParams | None:
    """The quantization of the newest values: the memory's scale, with zero point 0."""
    return None if memory.quant is None else QuantParams(memory.quant.scale, (0,) * len(memory.quant.scale))


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """SVDF, which includes the layer that computes the newest values. Its memory is an operand that it changes."""
    memory, made = str(inputs[0]), _makers(call, sink, str(inputs[1]))
    bias = inputs[3] if call.has(3) else None
    sink.keep(memory, memory, as_variable=True)
    activation = "RELU" if call.input(0).dtype == "s16" else call.op.activation  # no effect, but LiteRT demands it
    attributes = {"rank": call.op.rank, "fused_activation_function": activation}
    operands = [*made, inputs[2], bias, memory]
    return [memory, *sink.operator("SVDF", operands, call.outputs[1:], attributes, 3)]


def _makers(call: Call, sink: TfliteTarget, newest: str) -> Sequence[str | None]:
    """(data, weights) that give the newest values.

    Float values that no FULLY_CONNECTED computes are the data themselves; the weights are then an identity matrix.
    """
    if call.input(0).is_float:
        found = sink.made_by(newest, "FULLY_CONNECTED")
        if found is not None and found[2:] in ([], [None]) and len(sink.type(str(found[0])).shape) == 2:
            return found[:2]
        return [newest, sink.constant(np.eye(call.input(1).shape[1], dtype=np.float32))]
    waiting = sink.source(newest)
    if waiting is None or not isinstance(waiting.call.op, FullyConnected) or waiting.call.has(2):
        raise UnsupportedError("newest values of an SVDF must come from a FullyConnected without bias for it alone")
    return waiting.inputs[:2]


@dataclass(frozen=True)
class Svdf(Op):
    """The memory moves by one step and takes the newest values; y[u] = b[u] + sum over its filters of w * memory.

    memory: [B, F * M]: F filters of M steps, oldest first   newest: [B, F], minus the memory's zero point
    w: [F, M]   b: [F / rank] or absent   results: the next memory, and y [B, F / rank]
    The memory and w are s8 or s16, and y is s8; or all are f32. Integer newest values wrap if adding the zero point
    exceeds the type. Only float results have an activation.
    Source: TFLite SVDF; TensorFlow Lite Micro's svdf_common.cc, EvalIntegerSvdfReference, EvalFloatSvdfReference.
    """

    rank: int = 1
    activation: str = "NONE"

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s16 f32")
    imports = (Import("tflite", "SVDF", expand=from_tflite),)
    writes = (_tflite.to_target(to_tflite),)
    kernels = tuple(
        Kernel(
            f"mg_svdf_{dtype}",
            Whole(),
            (memory_of(dtype), constant_weights),
            params,
            operands=(0, 1),
            in_place=(0,),
            cost=Cost(work, ("filters", "units", "single")),
        )
        for dtype in ("s8", "s16", "f32")
    )

    def quantized(self, call: Call) -> Scales:
        return refused("mcugen has no rule for the scale of its memory")

    def infer(
        self, memory: TensorType | None, newest: TensorType | None, w: TensorType | None, b: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        if memory is None or newest is None or w is None or len(w.shape) != 2 or len(newest.shape) != 2:
            raise ShapeError(
                f"SVDF weights {w} and newest values {newest} must have two axes each, and a memory is needed"
            )
        filters, steps = w.shape
        batches = newest.shape[0]
        if newest.shape[1] != filters or memory.shape != (batches, filters * steps):
            raise ShapeError(f"a memory {list(memory.shape)} does not fit {steps} steps of {filters} filters")
        if self.rank < 1 or filters % self.rank:
            raise ShapeError(f"{filters} filters must be a multiple of the rank {self.rank}")
        units = filters // self.rank
        if b is not None and (b.size != units or b.dtype != ("f32" if memory.is_float else "s32")):
            raise ShapeError(f"a bias {b} does not fit {units} units")
        if {memory.dtype, newest.dtype, w.dtype} not in ({"s8"}, {"s16"}, {"f32"}):
            raise UnsupportedError(f"SVDF of {newest.dtype} data with a {memory.dtype} memory is not supported")
        return TensorType(memory.shape, memory.dtype), TensorType((batches, units), "f32" if memory.is_float else "s8")

    def reference(
        self, memory: np.ndarray, newest: np.ndarray, w: np.ndarray, b: np.ndarray | None = None
    ) -> tuple[np.ndarray, ...]:
        moved = _moved(memory, newest, w)
        sums = (moved * w).sum(axis=2).reshape(len(newest), -1, self.rank).sum(axis=2)
        return moved.reshape(memory.shape), quantized.clamped(sums if b is None else sums + b, self.activation)

    def reference_q(
        self, call: Call, memory: np.ndarray, newest: np.ndarray, w: np.ndarray, b: np.ndarray | None = None
    ) -> tuple[np.ndarray, ...]:
        """Integer layers.

        newest + zero point is stored without a clamp. Source: svdf_common.cc, EvalIntegerSvdfReference.
        """
        kept, y = call.input(0), call.outputs[1]
        added = fixed.int64((fixed.int64(newest) + kept.zero_point).astype(kept.np_dtype))
        moved = _moved(fixed.int64(memory), added, w)
        products = ((moved - kept.zero_point) * fixed.int64(w)).sum(axis=2)
        sums = products.reshape(len(newest), -1, self.rank).sum(axis=2)
        sums = fixed.wrapped(sums if b is None else sums + fixed.int64(b).reshape(-1))
        return moved.reshape(memory.shape), quantized.stored(fixed.scaled_twice(sums, *_scale_q(call)), y)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.input(0).is_float else {"scale": multiplier(call), "bias": folded_bias(call)}

    def scaling_q(self, call: Call) -> Scaling:
        if call.input(0).is_float:
            return {}
        per_unit = fixed.int64(call.constant(2)).reshape(call.outputs[1].shape[1], -1).sum(axis=1)
        bias = fixed.int64(call.constant(3)).reshape(-1) if call.has(3) else 0
        return {"scale": _scale_q(call), "bias": fixed.wrapped(bias - per_unit * call.input(0).zero_point)}

    def macs(self, call: Call) -> int:
        return call.input(0).size

    def in_words(self, call: Call) -> str:
        filters, steps = call.input(2).shape
        return f"{filters} filters of {steps} steps to {call.outputs[1].shape[1]}"

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(seed, *case) for seed, case in enumerate(_CASES)]


def _moved(memory: np.ndarray, newest: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The next memory as [batches, filters, steps]."""
    steps = memory.reshape(len(newest), *w.shape)
    return np.concatenate([steps[:, :, 1:], newest.reshape(len(newest), -1, 1)], axis=2)


def _scale_q(call: Call) -> quantized.Multiplier:
    """(mult, shift) for the sums. Source: svdf_common.cc, PrepareSvdf."""
    factors = (call.input(0).scale, call.input(2).scale)
    return quantized.product_multiplier(factors, call.outputs[1].scale, in_double=False)


_CASES: tuple[tuple[str, int, int, int, int, int, float, bool], ...] = (
    ("s8", 1, 4, 2, 5, 0, 0.02, True),
    ("s8", 2, 6, 1, 8, 100, 0.03, True),
    ("s8", 1, 3, 3, 1, -77, 0.01, False),
    ("s8", 1, 5, 1, 32, 37, 0.05, True),
    ("s8", 1, 8, 2, 19, -128, 0.04, True),
    ("s8", 1, 2, 1, 2, 127, 3.0, True),
    ("s16", 1, 6, 2, 5, 0, 5.0, True),
    ("s16", 2, 3, 1, 9, 0, 0.01, False),
    ("f32", 1, 6, 2, 5, 0, 0.0, True),
    ("f32", 2, 3, 1, 8, 0, 0.0, False),
)
"""(element type, batches, filters, rank, steps, zero point, gain, whether there is a bias) of each example."""


def example(
    seed: int, dtype: str, batches: int, filters: int, rank: int, steps: int, zero: int, gain: float, biased: bool
) -> Example:
    units, scaled = filters // rank, dtype != "f32"
    quants = [
        QuantParams((s,), (z,)) for s, z in ((0.1, zero), (0.1, 0), (0.02, 0), (0.1 * 0.02 / gain if gain else 1.0, 9))
    ]
    kinds = (dtype, dtype, dtype, "s8" if scaled else dtype)
    shapes = ((batches, filters * steps), (batches, filters), (filters, steps), (batches, units))
    memory, newest, w, y = (
        TensorType(shape, kind, quant if scaled else None)
        for shape, kind, quant in zip(shapes, kinds, quants, strict=True)
    )
    bias = TensorType((units,), "s32" if scaled else "f32") if biased else None
    data = np.random.default_rng(seed).integers(-(2**12), 2**12, units).astype(np.int32)
    constants = {2: None, **({3: data if scaled else None} if biased else {})}
    op = Svdf(rank, "NONE" if scaled or seed % 2 else "RELU")
    return Example(op, (memory, newest, w, *([bias] if biased else [])), (memory, y), constants, seed)
