"""Quantized LSTM (long short-term memory) over int8 or int16 sequences, with an int16 cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Param, Params, Rule
from mcugen.ir.fixed_point import quantize_multiplier, reduced_multiplier, wrap32
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ops import _sigmoid, _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.oracle import fixed, quantized, recurrent_cells

GATES = 4
_GATE_BITS = 12
"""Fractional bits of the gates' sums."""

_FUNCTION_BITS = 15
"""Fractional bits of the gates, and of the cell's tanh."""

_SERIES_BITS = 6
"""The most integer bits of a cell for which LiteRT has a tanh."""


def sizes(call: Call) -> tuple[int, int, int, int]:
    """(steps, batches, inputs, hidden units)."""
    shape, op = call.input(0).shape, call.op
    assert isinstance(op, QuantizedLstm)
    steps, batches = (shape[0], shape[1]) if op.time_major else (shape[1], shape[0])
    return steps, batches, shape[2], call.input(2).shape[1]


def is_tabled(call: Call) -> bool:
    "the reference runtime is TensorFlow Lite Micro, or data is int16, which only that runtime supports"
    return call.reference == "tflm" or int16_data(call)


def is_series(call: Call) -> bool:
    "the reference runtime is LiteRT"
    return not is_tabled(call)


def int8_data(call: Call) -> bool:
    "data is int8"
    return call.input(0).dtype == "s8"


def int16_data(call: Call) -> bool:
    "data is int16"
    return call.input(0).dtype == "s16"


def constant_weights(call: Call) -> bool:
    "weights and biases are constant"
    return all(call.constants[k] is not None for k in (1, 2, 3))


def multipliers(call: Call, k: int, data: float) -> list[tuple[int, int]]:
    """(mult, shift) for each gate's sums of weights * data. k: index of the weights' operand. data: the data's scale.

    TFLM computes the product of the scales in float64, LiteRT in float32.
    Source: lstm_eval_common.cc, CreateGateParams; unidirectional_sequence_lstm.cc, PopulateQuantizedLstmParams8x8_16.
    """
    rounded = np.float64 if is_tabled(call) else np.float32
    scales = _gate_scales(call.input(k))
    real = [float(rounded(np.float32(data)) * rounded(np.float32(s)) * rounded(2.0**_GATE_BITS)) for s in scales]
    return [quantize_multiplier(r) for r in real]


def _gate_scales(w: TensorType) -> tuple[float, ...]:
    """The scale of each gate's weights. w: the gates' weights, joined along the first axis."""
    if w.quant is None or len(w.quant.scale) != w.shape[0]:
        raise QuantizationError(f"the weights {w} need one scale for each row")
    return w.quant.scale[:: w.shape[0] // GATES]


def hidden_multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) of the product of the output gate and the cell's tanh."""
    return quantize_multiplier(2.0 ** (-2 * _FUNCTION_BITS) / float(np.float32(call.input(4).scale)))


def cell_power(t: TensorType) -> int:
    """log2 of a cell's scale. Raises QuantizationError unless the scale is a power of two."""
    mantissa, exponent = math.frexp(t.scale)
    if mantissa != 0.5:
        raise QuantizationError(f"the scale of the cell {t} must be a power of two")
    return exponent - 1


def litert_lacks(state: TensorType, cell: TensorType) -> str:
    """Why LiteRT does not compute a layer with this state and cell; "" if it does."""
    if state.dtype == "s16":
        return "no LSTM kernel for s16 data"
    has_tanh = 0 <= _FUNCTION_BITS + cell_power(cell) <= _SERIES_BITS
    return "" if has_tanh else f"no tanh for the cell scale {cell.scale:g}"


def clip_of(call: Call) -> int:
    """The clip of the cell as a stored integer, 0 for none."""
    return int(min(max(call.op.cell_clip / call.input(5).scale, 0.0), 32767.0))


def biases(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(initial sums of the data, initial sums of the state): the bias, minus zero points * row sums of the weights."""
    data, state = (call.constant(k).astype(np.int64).sum(axis=1) for k in (1, 2))
    first = call.constant(3).astype(np.int64) - call.input(0).zero_point * data
    second = -call.input(4).zero_point * state
    if int16_data(call):
        return first, second
    return wrap32(first).astype(np.int32), wrap32(second).astype(np.int32)


def by_unit(rows: np.ndarray) -> np.ndarray:
    """Rows [4 * H, ...] of all gates as [H, 4, ...], with the four gates of a unit adjacent."""
    return rows.reshape(GATES, -1, *rows.shape[1:]).swapaxes(0, 1)


def params(call: Call) -> Params:
    steps, batches, inputs, hidden = sizes(call)
    w_bias, r_bias = biases(call)
    mult, shift = hidden_multiplier(call)
    fields: dict[str, Param] = {
        "w": by_unit(call.constant(1)).swapaxes(1, 2).reshape(-1),
        "r": by_unit(call.constant(2)).swapaxes(1, 2).reshape(-1),
        "w_bias": by_unit(w_bias).reshape(-1),
        "r_bias": by_unit(r_bias).reshape(-1),
        **dict(zip(("steps", "batches", "inputs", "hidden"), sizes(call), strict=True)),
        **distances(call, steps, batches, inputs, hidden),
        "clip": clip_of(call),
        "h_zero_point": call.input(4).zero_point,
        "h_mult": mult,
        "h_shift": shift,
        "cell_shift": cell_power(call.input(5)),
    }
    for name, k, data in (("w", 1, 0), ("r", 2, 4)):
        for gate, (m, s) in enumerate(multipliers(call, k, call.input(data).scale)):
            m = int(reduced_multiplier(m)) if int16_data(call) else m
            fields |= {f"{name}_mult[{gate}]": m, f"{name}_shift[{gate}]": s}
    return {**fields, "table": _sigmoid.table()} if is_tabled(call) else fields


def distances(call: Call, steps: int, batches: int, inputs: int, results: int) -> dict[str, int]:
    """Strides of a step and of a batch in elements, for vectors of `inputs` and of `results` numbers."""
    step, batch = (batches, 1) if call.op.time_major else (1, steps)
    ends = (("in", inputs), ("out", results))
    return {f"{what}_{end}": n * width for what, n in (("step", step), ("batch", batch)) for end, width in ends}


def scratch(call: Call) -> int:
    """Scratch in bytes: 0, but not None, because C takes a pointer that kernels of other families use."""
    return 0


def work(call: Call) -> dict[str, float]:
    """The cost terms, summed over all sequences: steps, and hidden units computed."""
    steps, batches, _, hidden = sizes(call)
    return {"steps": steps * batches, "units": steps * batches * hidden}


def _kernel(symbol: str, *rules: Rule, struct: str = "mg_lstm_s8") -> Kernel:
    rules = (*rules, constant_weights)
    return Kernel(
        symbol,
        Whole(),
        rules,
        params,
        operands=(0, 4, 5),
        scratch=scratch,
        in_place=(5,),
        text=Text(struct=struct),
        cost=Cost(work, ("steps", "units")),
    )


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM with its state and its cell as variables."""
    op, x, h, c = call.op, str(inputs[0]), sink.state_at(str(inputs[4])), str(inputs[5])
    if not (sink.can_keep(h) and sink.can_keep(c)):
        raise UnsupportedError("the state and the cell must begin as zero, and no other operator may update them")
    operands: list[str | None] = [x]
    for k in (1, 2):
        arrays, scales = np.split(call.constant(k), GATES), _gate_scales(call.input(k))
        operands += [sink.constant(a, QuantParams((s,), (0,))) for a, s in zip(arrays, scales, strict=True)]
    biases = [sink.constant(a) for a in np.split(call.constant(3), GATES)]
    operands += [*[None] * 3, *biases, None, None, h, c, *[None] * 4]
    attributes = {"fused_activation_function": "TANH", "cell_clip": op.cell_clip, "time_major": op.time_major}
    number = 3 if int8_data(call) else 1
    _tflite.require_runtime_meaning(call)
    made = sink.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, call.outputs[1:], attributes, number)
    empty = [TensorType((0,), "f32")] * GATES
    sink.state_intermediates([*empty, TensorType((0,), call.input(4).dtype, call.input(4).quant)])
    sink.keep_last(h, made[0], 0 if op.time_major else 1)
    sink.keep(c, c, as_variable=True)
    return [c, *made]


@dataclass(frozen=True)
class QuantizedLstm(Op):
    """c = f * c + i * g, h = o * tanh(c), step by step: i, f, o = sigmoid(W x + b + R h), g = tanh(W x + b + R h).

    x: s8 or s16 [B, T, I], or [T, B, I] with time_major   w: s8 [4 * H, I]   r: s8 [4 * H, H]
    b: s32 [4 * H], s64 with s16 data   h: as x, [B, H]   c: s16 [B, H], with a scale that is a power of two
    gates in the order i, f, g, o   results: the last cell, and y: as x, [B, T, H] or [T, B, H], h after each step
    cell_clip: bound of |c|, 0 for none
    TFLM computes sigmoid and tanh from tables, LiteRT from series. They also round products differently.
    Source: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM; lstm_eval.cc of both runtimes.
    """

    time_major: bool = False
    cell_clip: float = 0.0

    tflm_types = dtypes("s8 s16")
    litert_types = dtypes("s8")
    writes = (_tflite.to_target(to_tflite),)
    kernels = (
        _kernel("mg_lstm_s8", int8_data, is_tabled),
        _kernel("mg_lstm_s8_series", int8_data, is_series),
        _kernel("mg_lstm_s16", int16_data, struct="mg_lstm_s16"),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        why = litert_lacks(call.input(4), call.input(5)) if runtime == "litert" else ""
        return why or super().refused_by(call, runtime)

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        r: TensorType | None,
        b: TensorType | None,
        h: TensorType | None,
        c: TensorType | None,
    ) -> tuple[TensorType, ...]:
        if x is None or w is None or r is None or b is None or h is None or c is None or len(x.shape) != 3:
            raise ShapeError(f"an operand of the LSTM is missing, or its data {x} have not 3 axes")
        found = tuple(t.dtype for t in (x, w, r, b, h, c))
        if found not in _TYPES:
            raise UnsupportedError(f"an LSTM with operands of types {', '.join(found)} is not supported")
        hidden = r.shape[-1]
        batches = x.shape[1 if self.time_major else 0]
        wanted = ((GATES * hidden, x.shape[2]), (GATES * hidden, hidden), (GATES * hidden,), *((batches, hidden),) * 2)
        for t, shape in zip((w, r, b, h, c), wanted, strict=True):
            if t.shape != shape:
                raise ShapeError(f"an operand {t} of an LSTM on {x} must have the shape {list(shape)}")
        if not math.isfinite(self.cell_clip):
            raise UnsupportedError(f"cell_clip={self.cell_clip} must be finite")
        return TensorType(c.shape, "s16"), TensorType((*x.shape[:2], hidden), x.dtype)

    def reference(
        self, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray, h: np.ndarray, c: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        y = []
        for row in x if self.time_major else x.swapaxes(0, 1):
            i, f, g, o = np.split(row @ w.T + b + h @ r.T, GATES, axis=1)
            c = _sigmoid_of(f) * c + _sigmoid_of(i) * np.tanh(g)
            c = np.clip(c, -self.cell_clip, self.cell_clip) if self.cell_clip > 0 else c
            h = _sigmoid_of(o) * np.tanh(c)
            y.append(h)
        return c, np.stack(y, axis=0 if self.time_major else 1)

    def reference_q(self, call: Call, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """Source: TFLM lstm_eval.h, LstmStepInteger; LiteRT lstm_eval.cc, LstmStepInteger8x8_16."""
        x, w, r, b, h, c = (fixed.int64(a) for a in operands)
        zero = call.input(4).zero_point
        y = []
        for row in x if self.time_major else x.swapaxes(0, 1):
            gates = recurrent_cells.gates_of(call, (row - call.input(0).zero_point) @ w.T + b, (h - zero) @ r.T)
            c = recurrent_cells.next_cell(call, gates, c)
            product = recurrent_cells.tanh_of_cell(call, c) * gates[3]
            h = quantized.stored(fixed.scaled_twice(product, *recurrent_cells.hidden_multiplier(call)), call.input(4))
            y.append(h)
        return c, np.stack(y, axis=0 if self.time_major else 1)

    def scaling(self, call: Call) -> Scaling:
        w_bias, r_bias = biases(call)
        found = {"w": multipliers(call, 1, call.input(0).scale), "r": multipliers(call, 2, call.input(4).scale)}
        clip = clip_of(call) if self.cell_clip > 0 else 0
        return {**found, "h": hidden_multiplier(call), "clip": clip, "w_bias": w_bias, "r_bias": r_bias}

    def scaling_q(self, call: Call) -> Scaling:
        w, r, b = (fixed.int64(call.constant(k)) for k in (1, 2, 3))
        x, h = call.input(0), call.input(4)
        first = b - x.zero_point * w.sum(axis=1)
        return {
            "w": recurrent_cells.gate_multipliers(call, 1, x),
            "r": recurrent_cells.gate_multipliers(call, 2, h),
            "h": recurrent_cells.hidden_multiplier(call),
            "clip": recurrent_cells.clip_of(call),
            "w_bias": first if x.dtype == "s16" else fixed.wrapped(first),
            "r_bias": fixed.wrapped(-h.zero_point * r.sum(axis=1)),
        }

    def macs(self, call: Call) -> int:
        steps, batches, inputs, hidden = sizes(call)
        return steps * batches * GATES * hidden * (inputs + hidden)

    def in_words(self, call: Call) -> str:
        steps, batches, inputs, hidden = sizes(call)
        return f"{inputs} to {hidden}, {steps} steps" + (f", {batches} times" if batches > 1 else "")

    @classmethod
    def examples(cls) -> Sequence[Example]:
        wide = [example(20 + k, *_CASES[k][:4], 0, 0, *_CASES[k][6:], dtype="s16") for k in (0, 1, 2, 5)]
        return [*(example(seed, *case) for seed, case in enumerate(_CASES)), *wide]


_TYPES = (("s8", "s8", "s8", "s32", "s8", "s16"), ("s16", "s8", "s8", "s64", "s16", "s16"))
"""Supported element types of the six operands."""


def _sigmoid_of(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-x)))


_CASES: tuple[tuple[int, int, int, int, int, int, int, float, bool], ...] = (
    (3, 1, 5, 4, -128, 0, -12, 10.0, False),
    (1, 2, 9, 6, 3, -4, -11, 0.0, False),
    (4, 2, 7, 5, 0, 127, -10, 1.5, True),
    (2, 1, 33, 9, 127, -128, -13, 0.3, False),
    (6, 1, 1, 3, -128, 5, -9, 0.0, True),
    (2, 1, 16, 8, 4, 4, -15, 0.9, False),
    (1, 1, 3, 4, 0, 5, -11, 2.0**-11, False),
)
"""(steps, batches, inputs, hidden, zero points of data and state, log2 of the cell's scale, clip, time_major)."""


def example(
    seed: int,
    steps: int,
    batches: int,
    inputs: int,
    hidden: int,
    x_zero: int,
    h_zero: int,
    cell: int,
    clip: float,
    time_major: bool,
    dtype: str = "s8",
) -> Example:
    def weights(count: int, scale: float) -> TensorType:
        scales = np.repeat(scale * (1.0 + 0.3 * np.arange(GATES)) * (1.0 if seed % 2 else 8.0), hidden)
        quant = QuantParams(tuple(float(np.float32(s)) for s in scales), (0,) * scales.size)
        return TensorType((GATES * hidden, count), "s8", quant)

    def state(dtype: str, scale: float, zero: int, shape: tuple[int, ...]) -> TensorType:
        return TensorType(shape, dtype, QuantParams((float(np.float32(scale)),), (zero,)))

    ends = (steps, batches) if time_major else (batches, steps)
    fine = 1.0 if dtype == "s8" else 256.0
    h, c = state(dtype, 0.0078 / fine, h_zero, (batches, hidden)), state("s16", 2.0**cell, 0, (batches, hidden))
    x, y = state(dtype, 0.02 / fine, x_zero, (*ends, inputs)), TensorType((*ends, hidden), dtype, h.quant)
    b = TensorType((GATES * hidden,), "s32" if dtype == "s8" else "s64")
    numbers = np.random.default_rng(seed).integers(-(2**11), 2**11, GATES * hidden) * int(fine)
    data = numbers.astype(b.np_dtype)
    types = (x, weights(inputs, 0.004), weights(hidden, 0.006), b, h, c)
    return Example(QuantizedLstm(time_major, clip), types, (c, y), {1: None, 2: None, 3: data}, seed)
