"""LSTM on int8 data with layer norms, projections, peephole weights and coupled gates, as LiteRT computes it.

Operands by index: 0 data, 1 input weights, 2 recurrent weights, 3 bias, 4 state, 5 cell, 6 peephole weights, 7 layer
norm weights, 8 projection weights, 9 projection bias. Operands 6 to 9 may be None.

Gates are in the order i, f, g, o. Source: LiteRT lstm_eval.cc, LstmStepInteger8x8_16; portable_tensor_utils.cc;
unidirectional_sequence_lstm.cc, PopulateQuantizedLstmParams8x8_16.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.oracle import fixed, gemmlowp, gemmlowp16
from mcugen.oracle.quantized import Multiplier
from mcugen.oracle.rational import binary32, exact, multiplier, power, quotient, scale_of

_FUNCTION_BITS = 15
_SUM_BITS = 3


def _single(scale: float) -> Fraction:
    return binary32(exact(scale))


def _of_gate(t: TensorType, gate: int, gates: Sequence[int]) -> Fraction:
    """The scale of one gate's part of an operand. The parts of all gates are joined along the first axis."""
    if t.quant is None:
        return Fraction(1)
    return _single(t.quant.scale[gates.index(gate) * t.shape[0] // len(gates)])


def gates_of(call: Call) -> tuple[int, ...]:
    return (1, 2, 3) if call.op.coupled else (0, 1, 2, 3)


def seeing(call: Call) -> tuple[int, ...]:
    """Indices of the gates that read the cell through peephole weights."""
    return tuple(g for g in gates_of(call) if g != 2)


def sum_multipliers(call: Call, k: int, data: TensorType) -> list[Multiplier]:
    """(mult, shift) per gate for the sums of operand k times `data`. Each operation is rounded to float32."""
    gates, found = gates_of(call), []
    for gate in gates:
        product = binary32(_of_gate(call.input(k), gate, gates) * scale_of(data))
        found.append(multiplier(binary32(quotient(product, _single(call.op.gate_scales[gate])))))
    return found


def cell_multipliers(call: Call) -> list[Multiplier]:
    """(mult, shift) per gate for the peephole weights times the cell. Only the quotient is rounded to float32."""
    if not call.has(6):
        return []
    found = []
    for gate in seeing(call):
        product = _of_gate(call.input(6), gate, seeing(call)) * scale_of(call.input(5))
        found.append(multiplier(binary32(quotient(product, _single(call.op.gate_scales[gate])))))
    return found


def norm_multipliers(call: Call) -> list[Multiplier]:
    """(mult, shift) per gate that scale normalized sums to 12 bits of fraction."""
    if not call.has(7):
        return []
    found = (multiplier(_of_gate(call.input(7), gate, gates_of(call))) for gate in gates_of(call))
    return [(mult, shift + 12) for mult, shift in found]


def guards(call: Call) -> list[int]:
    """The least variance of each layer norm, per gate."""
    scales = (_of_gate(call.input(7), gate, gates_of(call)) for gate in gates_of(call)) if call.has(7) else ()
    return [max(1, int(binary32(10000 * scale))) for scale in scales]


def hidden_multiplier(call: Call) -> Multiplier:
    """(mult, shift) for the output gate times tanh of the cell."""
    return multiplier(binary32(quotient(power(-2 * _FUNCTION_BITS), _single(call.op.hidden_scale))))


def projection_multiplier(call: Call) -> Multiplier:
    """(mult, shift) of the projection; (0, 0) if there is no projection."""
    if not call.has(8):
        return 0, 0
    product = binary32(_single(call.input(8).scale) * _single(call.op.hidden_scale))
    return multiplier(binary32(quotient(product, scale_of(call.input(4)))))


def bounds_of(call: Call) -> tuple[int, int]:
    """The clip limits of the cell and of projected results, as stored integers; 0 for no clip."""
    cell = binary32(quotient(_single(max(call.op.cell_clip, 0.0)), scale_of(call.input(5))))
    made = binary32(quotient(_single(max(call.op.proj_clip, 0.0)), scale_of(call.input(4))))
    return min(int(cell), 32767), min(int(made), 127) if call.has(8) else 0


def biases(call: Call) -> dict[str, np.ndarray]:
    """Initial sums, by name: w for the input weights, r for the recurrent weights, j for the projection.

    They hold the zero point corrections and the biases. With a layer norm, w lacks the bias, which the norm adds.
    """
    w, r, b = (fixed.int64(call.constant(k)) for k in (1, 2, 3))
    found = {
        "w": fixed.wrapped((0 if call.has(7) else b) - call.input(0).zero_point * w.sum(axis=1)),
        "r": fixed.wrapped(-call.input(4).zero_point * r.sum(axis=1)),
    }
    if call.has(8):
        own = fixed.int64(call.constant(9)) if call.has(9) else 0
        found["j"] = fixed.wrapped(own + call.op.hidden_zero * fixed.int64(call.constant(8)).sum(axis=1))
    return found


def narrowed(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(x, -(1 << 15), (1 << 15) - 1))


def _normalized(x: np.ndarray, weights: np.ndarray, bias: np.ndarray, by: Multiplier, guard: int) -> np.ndarray:
    """Rows normalized to mean 0 and variance 1, times weights, plus bias. Source: PortableApplyLayerNorm."""
    made = []
    for row in fixed.int64(x):
        count, total = len(row), int(row.sum())
        mean = abs(total * 1024) // count * (1 if total >= 0 else -1)
        spread = int((row * row).sum()) * ((1 << 20) // count) - mean * mean
        variance = abs(spread) // (1 << 20) * (1 if spread >= 0 else -1)
        steps = fixed.scaled_twice(1024 * row - mean, *gemmlowp.inverse_root(variance if variance >= 1 else guard))
        scaled = fixed.wrapped(fixed.wrapped(steps * weights) + bias)
        half = np.where(scaled > 0, scaled + 512, scaled - 512)
        made.append(narrowed(fixed.scaled_twice(np.sign(half) * (np.abs(half) // 1024), *by)))
    return np.stack(made)


def gate_of(call: Call, gate: int, sums: Sequence[np.ndarray], cell: np.ndarray) -> np.ndarray:
    """The values of a gate, with 15 bits of fraction. sums: (of the data, of the state), each for all gates."""
    place, units = gates_of(call).index(gate), cell.shape[1]
    part = slice(place * units, (place + 1) * units)
    scales = (sum_multipliers(call, 1, call.input(0)), sum_multipliers(call, 2, call.input(4)))
    found: Any = 0
    for acc, by in zip(sums, scales, strict=True):
        found = narrowed(found + fixed.scaled_twice(acc[:, part], *by[place]))
    if call.has(6) and gate != 2:
        at = seeing(call).index(gate)
        weights = fixed.int64(call.constant(6))[at * units : (at + 1) * units]
        found = narrowed(found + fixed.scaled_twice(weights * cell, *cell_multipliers(call)[at]))
    if call.has(7):
        weights, bias = (fixed.int64(call.constant(k))[part] for k in (7, 3))
        found = _normalized(found, weights, bias, norm_multipliers(call)[place], guards(call)[place])
    function = gemmlowp16.tanh(_SUM_BITS) if gate == 2 else gemmlowp16.logistic(_SUM_BITS)
    return gemmlowp16.looked_up(function, found)


def next_cell(call: Call, i: np.ndarray, f: np.ndarray, g: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The cell after a step. Source: UpdateLstmCellInteger."""
    shift = 2 * _FUNCTION_BITS + cell_power(call)
    kept, entered = fixed.divided(f * c, _FUNCTION_BITS), fixed.int64(fixed.divided(i * g, shift).astype(np.int16))
    bound = bounds_of(call)[0]
    total = narrowed(kept + entered)
    return np.clip(total, -bound, bound) if bound > 0 else total


def cell_power(call: Call) -> int:
    """log2 of the cell's scale, which is a power of two below one."""
    return 1 - scale_of(call.input(5)).denominator.bit_length()


def result_of(call: Call, o: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The results of a step. As in LiteRT, the hidden zero point is subtracted before a projection, not added.

    Source: CalculateLstmOutputInteger8x8_16.
    """
    product = gemmlowp16.looked_up(gemmlowp16.tanh(_FUNCTION_BITS + cell_power(call)), c) * o
    hidden = fixed.scaled_twice(product, *hidden_multiplier(call))
    if not call.has(8):
        return np.asarray(np.clip(hidden + call.op.hidden_zero, -128, 127))
    hidden = np.clip(hidden - call.op.hidden_zero, -128, 127)
    acc = fixed.wrapped(hidden @ fixed.int64(call.constant(8)).T + biases(call)["j"])
    made = np.clip(fixed.scaled_twice(acc, *projection_multiplier(call)) + call.input(4).zero_point, -128, 127)
    bound = bounds_of(call)[1]
    return np.clip(made, -bound, bound) if bound > 0 else np.asarray(made)
