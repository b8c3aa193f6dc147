"""LSTM on integers, as the runtimes compute it: gates, cells and multipliers.

Operands are (data, weights of the data, weights of the state, bias, state, cell). Source: TensorFlow Lite Micro,
lstm_eval.h and lstm_eval_common.cc; LiteRT, lstm_eval.cc, the integer kernels 8x8_16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.oracle import fixed, gemmlowp16, quantized, sigmoids
from mcugen.oracle.rational import binary32, exact, multiplier, power, scale_of

GATES = 4
_GATE_BITS = 12
"""Fraction bits of the gates' sums, before their functions."""

FUNCTION_BITS = 15
"""Fraction bits of the gates, and of tanh of the cell."""


def _is_tabled(call: Call) -> bool:
    """Whether to use TFLM's arithmetic. LiteRT has no kernel for int16 data."""
    return quantized.is_tflm(call) or call.input(0).dtype == "s16"


def cell_power(call: Call) -> int:
    """log2 of the cell's scale."""
    scale = scale_of(call.input(5))
    return -(scale.denominator.bit_length() - 1) if scale < 1 else scale.numerator.bit_length() - 1


def clip_of(call: Call) -> int:
    """The clip limit of the cell as a stored integer; 0 for no clip. Source: lstm_eval_common.cc,
    CreateLstmCellStateInfo.
    """
    if call.op.cell_clip <= 0:
        return 0
    return min(math.floor(binary32(exact(call.op.cell_clip)) / scale_of(call.input(5))), 32767)


def hidden_multiplier(call: Call) -> quantized.Multiplier:
    """(mult, shift) for the output gate times tanh of the cell."""
    return quantized.product_multiplier((2.0**-FUNCTION_BITS, 2.0**-FUNCTION_BITS), call.input(4).scale, in_double=True)


def gate_multipliers(call: Call, k: int, data: TensorType) -> list[quantized.Multiplier]:
    """(mult, shift) per gate for the sums of operand k times `data`. LiteRT rounds the product of scales to float32."""
    w = call.input(k)
    scales = w.quant.scale[:: w.shape[0] // GATES] if w.quant else ()
    products = [scale_of(data) * binary32(exact(s)) for s in scales]
    rounded = products if _is_tabled(call) else [binary32(p) for p in products]
    return [multiplier(p * power(_GATE_BITS)) for p in rounded]


def gates_of(call: Call, first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
    """The gates i, f, g and o, with 15 bits of fraction. first, second: exact sums of the data and of the state."""
    sums = []
    for acc, k, data in ((first, 1, call.input(0)), (second, 2, call.input(4))):
        wide = data.dtype == "s16"
        scale_of_sums = fixed.scaled_wide if wide else fixed.scaled_twice
        pairs = zip(
            np.split(acc if wide else fixed.wrapped(acc), GATES, axis=1),
            gate_multipliers(call, k, data),
            strict=True,
        )
        sums.append([scale_of_sums(part, *scale) for part, scale in pairs])
    found = []
    for gate, (a, r) in enumerate(zip(*sums, strict=True)):
        total = _narrowed(_narrowed(a) + (_narrowed(r) if _is_tabled(call) else r))
        found.append(_activated(call, total, gate == 2))
    return found


def _activated(call: Call, x: np.ndarray, is_tanh: bool) -> np.ndarray:
    if _is_tabled(call):
        return sigmoids.tabled_tanh(3 * x) if is_tanh else sigmoids.tabled_logistic(3 * x)
    bits = FUNCTION_BITS - _GATE_BITS
    return gemmlowp16.looked_up(gemmlowp16.tanh(bits) if is_tanh else gemmlowp16.logistic(bits), x)


def tanh_of_cell(call: Call, c: np.ndarray) -> np.ndarray:
    """tanh of the cell, with 15 bits of fraction. Source: TFLM lstm_eval.cc, Tanh; LiteRT tensor_utils::ApplyTanh."""
    if not _is_tabled(call):
        return gemmlowp16.looked_up(gemmlowp16.tanh(FUNCTION_BITS + cell_power(call)), c)
    left = _GATE_BITS + cell_power(call)
    scaled = (3 * c) << left if left >= 0 else (3 * c + (1 << (-left - 1))) >> -left
    return sigmoids.tabled_tanh(fixed.wrapped(scaled))


def next_cell(call: Call, gates: Sequence[np.ndarray], c: np.ndarray) -> np.ndarray:
    """The cell after a step."""
    i, f, g, _ = gates
    shift = 2 * FUNCTION_BITS + cell_power(call)
    if _is_tabled(call):
        kept = _narrowed(fixed.scaled_twice(f * c, 1 << 30, 1 - FUNCTION_BITS))
        entered = _narrowed(fixed.scaled_twice(i * g, 1 << 30, 1 - shift))
    else:
        kept, entered = fixed.divided(f * c, FUNCTION_BITS), fixed.int64(fixed.divided(i * g, shift).astype(np.int16))
    total, bound = _narrowed(kept + entered), clip_of(call)
    return np.clip(total, -bound, bound) if bound > 0 else total


def _narrowed(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(x, -(1 << 15), (1 << 15) - 1))
