"""LiteRT's quantized LSTM with optional layer normalization, projection, peephole weights and coupled gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Param, Params
from mcugen.ir.fixed_point import quantize_multiplier, wrap32
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ops.lstm_quantized import cell_power, distances, litert_lacks
from mcugen.oracle import fixed, full_recurrent

_FUNCTION_BITS = 15
_MOST_UNITS = 1 << 12
"""The most units of a layer: with more, the mean of the layer norm has too few bits."""


def sizes(call: Call) -> tuple[int, int, int, int, int]:
    """(steps, batches, inputs, hidden units, number of results per step)."""
    shape, op = call.input(0).shape, call.op
    assert isinstance(op, FullLstm)
    steps, batches = (shape[0], shape[1]) if op.time_major else (shape[1], shape[0])
    return steps, batches, shape[2], call.input(5).shape[1], call.input(4).shape[1]


def gates(call: Call) -> tuple[int, ...]:
    """Indices of the gates that have weights, among i, f, g and o."""
    return (1, 2, 3) if call.op.coupled else (0, 1, 2, 3)


def _scale(t: TensorType, part: int, count: int) -> np.float32:
    """The scale of rows in part `part` of t, whose first axis has `count` equal parts."""
    if t.quant is None or len(t.quant.scale) != t.shape[0]:
        raise QuantizationError(f"the operand {t} needs one scale for each row")
    return np.float32(t.quant.scale[part * t.shape[0] // count])


@np.errstate(over="ignore")  # quantize_multiplier refuses infinite multipliers
def multipliers(call: Call) -> dict[str, list[tuple[int, int]]]:
    """Name -> (mult, shift) pairs that requantize these values.

    w: input sums, r: recurrent sums, p: peepholes, n: layer norms: one pair for each gate
    h: hidden values, j: results of the projection: one pair
    """
    op, own, x, h, c = call.op, gates(call), call.input(0), call.input(4), call.input(5)
    to = [np.float32(op.gate_scales[g]) for g in own]
    found: dict[str, list[float]] = {}
    for name, k, data in (("w", 1, x), ("r", 2, h)):
        parts = [_scale(call.input(k), n, len(own)) * np.float32(data.scale) for n in range(len(own))]
        found[name] = [float(part / gate) for part, gate in zip(parts, to, strict=True)]
    if call.has(6):
        seeing = [n for n, g in enumerate(own) if g != 2]
        scales = [float(_scale(call.input(6), n, len(seeing))) * float(np.float32(c.scale)) for n in range(len(seeing))]
        found["p"] = [float(np.float32(s / float(to[n]))) for s, n in zip(scales, seeing, strict=True)]
    found["h"] = [float(np.float32(2.0 ** (-2 * _FUNCTION_BITS) / float(np.float32(op.hidden_scale))))]
    if call.has(8):
        product = np.float32(call.input(8).scale) * np.float32(op.hidden_scale)
        found["j"] = [float(product / np.float32(h.scale))]
    made = {name: [quantize_multiplier(real) for real in reals] for name, reals in found.items()}
    if call.has(7):
        pairs = [quantize_multiplier(float(_scale(call.input(7), n, len(own)))) for n in range(len(own))]
        made["n"] = [(mult, shift + 12) for mult, shift in pairs]
    return made


def guards(call: Call) -> list[int]:
    """The least variance of each layer norm, per gate."""
    own = gates(call) if call.has(7) else ()
    return [max(1, int(np.float32(10000) * _scale(call.input(7), n, len(own)))) for n in range(len(own))]


def biases(call: Call) -> dict[str, np.ndarray]:
    """Name of the weights (w, r, j) -> initial accumulators, s32.

    w: bias (0 with layer norms) - zero point * row sums; r: -zero point * row sums; j: bias + hidden_zero * row sums
    """
    w, r = (call.constant(k).astype(np.int64).sum(axis=1) for k in (1, 2))
    first = -call.input(0).zero_point * w + (0 if call.has(7) else call.constant(3).astype(np.int64))
    found = {"w": first, "r": -call.input(4).zero_point * r}
    if call.has(8):
        found["j"] = call.op.hidden_zero * call.constant(8).astype(np.int64).sum(axis=1)
        found["j"] += call.constant(9).astype(np.int64) if call.has(9) else 0
    return {name: wrap32(values).astype(np.int32) for name, values in found.items()}


def clips(call: Call) -> tuple[int, int]:
    """The clips of the cell and of projected results, as stored integers; 0 for none."""
    cell, made = np.float32(max(call.op.cell_clip, 0.0)), np.float32(max(call.op.proj_clip, 0.0))
    stored = cell / np.float32(call.input(5).scale), made / np.float32(call.input(4).scale)
    return min(int(stored[0]), 32767), min(int(stored[1]), 127) if call.has(8) else 0


def params(call: Call) -> Params:
    steps, batches, inputs, _, results = sizes(call)
    clip, result_clip = clips(call)
    arrays = {"p": 6, "n": 7, "j": 8} | ({"b": 3} if call.has(7) else {})
    fields: dict[str, Param] = {
        "w": call.constant(1).reshape(-1),
        "r": call.constant(2).reshape(-1),
        **{name: call.constant(k).reshape(-1) for name, k in arrays.items() if call.has(k)},
        **{f"{name}_bias": values for name, values in biases(call).items()},
        **dict(zip(("steps", "batches", "inputs", "hidden", "results"), sizes(call), strict=True)),
        **distances(call, steps, batches, inputs, results),
        "clip": clip,
        "result_clip": result_clip,
        "coupled": int(call.op.coupled),
        "hidden_zero": -call.op.hidden_zero if call.has(8) else call.op.hidden_zero,
        "zero": call.input(4).zero_point,
        "cell_shift": cell_power(call.input(5)),
    }
    places = {"w": gates(call), "r": gates(call), "n": gates(call), "p": tuple(g for g in gates(call) if g != 2)}
    for name, pairs in multipliers(call).items():
        ends = [f"[{g}]" for g in places[name]] if name in places else [""]
        for end, (mult, shift) in zip(ends, pairs, strict=True):
            fields |= {f"{name}_mult{end}": mult, f"{name}_shift{end}": shift}
    return fields | {f"guard[{g}]": value for g, value in zip(gates(call), guards(call), strict=False)}


def scratch(call: Call) -> int:
    """Scratch in bytes: four gates in 16 bits, and the hidden values before a projection in 8 bits."""
    hidden = sizes(call)[3]
    return 4 * 2 * hidden + hidden


def work(call: Call) -> dict[str, float]:
    """The cost terms, summed over all sequences and steps.

    steps      steps
    units      gate values
    normal     gate values with a layer norm
    projected  results of the projection
    """
    steps, batches, _, hidden, results = sizes(call)
    count = steps * batches
    units = count * hidden * len(gates(call))
    projected = count * results if call.has(8) else 0
    return {"steps": count, "units": units, "normal": units if call.has(7) else 0, "projected": projected}


def constant_parts(call: Call) -> bool:
    "weights, biases and layer norms are constant"
    return all(call.constants[k] is not None for k in (1, 2, 3, 6, 7, 8, 9) if call.has(k))


@dataclass(frozen=True)
class FullLstm(Op):
    """c = f * c + i * g, h = j (o * tanh(c)) + d, step by step; gates are functions of norm(W x + R h + p c).

    x: s8 [B, T, I], or [T, B, I] with time_major   w: s8 [4 * H, I]   r: s8 [4 * H, P]   b: s32 [4 * H]
    h: s8 [B, P]   c: s16 [B, H], with a scale that is a power of two   p: s16 [3 * H] for i, f and o
    n: s16 [4 * H]   j: s8 [P, H]   d: s32 [P]; p, n, j and d may be absent
    Gates are in the order i, f, g, o. With `coupled`, i = 1 - f, and the operands have no rows for i.
    results: the last cell; y: s8 [B, T, P] or [T, B, P], h after each step
    gate_scales: of the gates' sums, 2**-12 without layer norms
    hidden_scale, hidden_zero: quantization of o * tanh(c) before the projection
    cell_clip, proj_clip: bounds of |c| and of the projected |h|, 0 for none
    Source: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM; LiteRT lstm_eval.cc, LstmStepInteger8x8_16.
    """

    gate_scales: tuple[float, ...]
    hidden_scale: float
    hidden_zero: int = 0
    coupled: bool = False
    time_major: bool = False
    cell_clip: float = 0.0
    proj_clip: float = 0.0

    litert_types = dtypes("s8")
    kernels = (
        Kernel(
            "mg_full_lstm_s8",
            Whole(),
            (constant_parts,),
            params,
            operands=(0, 4, 5),
            scratch=scratch,
            in_place=(5,),
            cost=Cost(work, ("steps", "units", "normal", "projected")),
        ),
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
        p: TensorType | None = None,
        n: TensorType | None = None,
        j: TensorType | None = None,
        d: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        if x is None or w is None or r is None or b is None or h is None or c is None or len(x.shape) != 3:
            raise ShapeError(f"an operand of the LSTM is missing, or its data {x} have not 3 axes")
        if len(h.shape) != 2 or len(c.shape) != 2 or (j is None and (d is not None or h.shape != c.shape)):
            raise ShapeError(f"the state {h} and the cell {c} differ in shape, but projection weights are missing")
        count, hidden, results = 3 if self.coupled else 4, c.shape[-1], h.shape[-1]
        batches = x.shape[1 if self.time_major else 0]
        units, others = (count * hidden,), ((count - 1) * hidden,)
        bytes_ = ((x, x.shape), (w, (*units, x.shape[2])), (r, (*units, results)), (h, (batches, results)))
        _require(x, "s8", *bytes_, (j, (results, hidden)))
        _require(x, "s16", (c, (batches, hidden)), (p, others), (n, units))
        _require(x, "s32", (b, units), (d, (results,)))
        if not math.isfinite(self.cell_clip) or not math.isfinite(self.proj_clip):
            raise UnsupportedError(f"cell_clip={self.cell_clip} and proj_clip={self.proj_clip} must be finite")
        if len(self.gate_scales) != 4 or min(*self.gate_scales, self.hidden_scale) <= 0 or hidden > _MOST_UNITS:
            raise UnsupportedError(
                f"{hidden} units (at most {_MOST_UNITS}) with gate scales {self.gate_scales} are not supported"
            )
        return TensorType(c.shape, "s16"), TensorType((*x.shape[:2], results), "s8")

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        raise UnsupportedError("a quantized LSTM is defined on stored integers only, not on real numbers")

    def reference_q(self, call: Call, *operands: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """Source: LiteRT lstm_eval.cc, LstmStepInteger8x8_16."""
        x, w, r, _, h, c = (fixed.int64(a) for a in operands[:6] if a is not None)
        begin, y = full_recurrent.biases(call), []
        for row in x if self.time_major else x.swapaxes(0, 1):
            sums = fixed.wrapped(row @ w.T + begin["w"]), fixed.wrapped(h @ r.T + begin["r"])
            f, g = (full_recurrent.gate_of(call, gate, sums, c) for gate in (1, 2))
            i = 32767 - f if self.coupled else full_recurrent.gate_of(call, 0, sums, c)
            c = full_recurrent.next_cell(call, i, f, g, c)
            h = full_recurrent.result_of(call, full_recurrent.gate_of(call, 3, sums, c), c)
            y.append(h)
        return c, np.stack(y, axis=0 if self.time_major else 1)

    def scaling(self, call: Call) -> Scaling:
        found: dict[str, object] = {f"{name} multiplier": v for name, v in multipliers(call).items()}
        found |= {f"{name} bias": v for name, v in biases(call).items()}
        return {**found, "guards": guards(call), "clips": clips(call)}

    def scaling_q(self, call: Call) -> Scaling:
        h, x = call.input(4), call.input(0)
        found: dict[str, object] = {
            "w multiplier": full_recurrent.sum_multipliers(call, 1, x),
            "r multiplier": full_recurrent.sum_multipliers(call, 2, h),
            "h multiplier": [full_recurrent.hidden_multiplier(call)],
        }
        found |= {"p multiplier": full_recurrent.cell_multipliers(call)} if call.has(6) else {}
        found |= {"n multiplier": full_recurrent.norm_multipliers(call)} if call.has(7) else {}
        found |= {"j multiplier": [full_recurrent.projection_multiplier(call)]} if call.has(8) else {}
        found |= {f"{name} bias": v for name, v in full_recurrent.biases(call).items()}
        return {**found, "guards": full_recurrent.guards(call), "clips": full_recurrent.bounds_of(call)}

    def macs(self, call: Call) -> int:
        steps, batches, inputs, hidden, results = sizes(call)
        projected = results * hidden if call.has(8) else 0
        return steps * batches * (len(gates(call)) * hidden * (inputs + results) + projected)

    def in_words(self, call: Call) -> str:
        steps, batches, inputs, hidden, results = sizes(call)
        units = f"{hidden}" if not call.has(8) else f"{hidden}, projected to {results}"
        return f"{inputs} to {units}, {steps} steps" + (f", {batches} times" if batches > 1 else "")

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(seed, *case) for seed, case in enumerate(_CASES)]


def _require(x: TensorType, dtype: str, *wanted: tuple[TensorType | None, tuple[int, ...]]) -> None:
    """Raise ShapeError unless each operand has the type `dtype` and its shape. x: the layer's data, for the message."""
    for t, shape in wanted:
        if t is not None and (t.dtype, t.shape) != (dtype, shape):
            raise ShapeError(f"an operand {t} of an LSTM on {x} must be {dtype} {list(shape)}")


_CASES = (
    (3, 1, 5, 6, 4, "pnj", False, False),
    (2, 2, 4, 5, 5, "n", False, True),
    (4, 1, 3, 4, 4, "p", True, False),
    (2, 1, 7, 9, 3, "j", False, False),
    (2, 2, 2, 4, 6, "pnj", True, True),
)
"""(steps, batches, inputs, hidden, results, optional operands, coupled, time_major) of each example."""


def example(
    seed: int, steps: int, batches: int, inputs: int, hidden: int, results: int, parts: str, coupled: bool, first: bool
) -> Example:
    count, rng = 3 if coupled else 4, np.random.default_rng(seed)

    def part(count: int, usual: float, shape: tuple[int, ...], dtype: str) -> TensorType:
        scales = np.repeat(usual * (1.0 + 0.3 * np.arange(count)), shape[0] // count)
        return TensorType(shape, dtype, QuantParams(tuple(float(np.float32(s)) for s in scales), (0,) * scales.size))

    def whole(dtype: str, scale: float, zero: int, shape: tuple[int, ...]) -> TensorType:
        return TensorType(shape, dtype, QuantParams((float(np.float32(scale)),), (zero,)))

    ends = (steps, batches) if first else (batches, steps)
    h, c = whole("s8", 0.0078, (-4, 5)[seed % 2], (batches, results)), whole("s16", 2.0**-11, 0, (batches, hidden))
    b, reach = TensorType((count * hidden,), "s32"), 2**22 if "n" in parts else 2**12
    types: list[TensorType | None] = [
        whole("s8", 0.02, (3, -128)[seed % 2], (*ends, inputs)),
        part(count, 0.01, (count * hidden, inputs), "s8"), part(count, 0.01, (count * hidden, results), "s8"), b, h, c,
        part(count - 1, 3e-5, ((count - 1) * hidden,), "s16") if "p" in parts else None,
        part(count, 2.0**-14, (count * hidden,), "s16") if "n" in parts else None,
        whole("s8", 0.01, 0, (results, hidden)) if "j" in parts else None,
        TensorType((results,), "s32") if "j" in parts and seed else None,
    ]  # fmt: skip
    constants: dict[int, np.ndarray | None] = {k: None for k in (1, 2, 6, 7, 8) if types[k] is not None}
    constants[3] = rng.integers(-reach, reach, count * hidden).astype(np.int32)
    if types[9] is not None:
        constants[9] = rng.integers(-3000, 3000, results).astype(np.int32)
    scales = (3e-4, 2e-4, 2.5e-4, 4e-4) if "n" in parts else (2.0**-12,) * 4
    hidden_scale, zero = (0.008, 7) if "j" in parts else (h.scale, h.zero_point)
    op = FullLstm(scales, hidden_scale, zero, coupled, first, (0.0, 1.5)[seed % 2], 0.6 if seed == 3 else 0.0)
    while types[-1] is None:
        types.pop()
    return Example(op, tuple(types), (c, TensorType((*ends, results), "s8", h.quant)), constants, seed)
