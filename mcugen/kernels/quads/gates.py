"""Float LSTM and GRU layers with constant weights: eight rows of gates at a time, as in fully connected layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.quads.pixel_quads import NEEDS, SOURCE, VECTOR_BLOCK
from mcugen.ops import _float_blocks, _recurrent, gru, lstm

TERMS = (*_recurrent.TERMS, "words")
_GRU_STATE, _LSTM_STATE = 5, 4
"""The first operand that is a state: weights and biases are the operands between it and the data."""


def lstm_constants(call: Call) -> bool:
    "weights and biases are constant"
    return all(data is not None for data in call.constants[1:_LSTM_STATE])


def gru_constants(call: Call) -> bool:
    "weights and biases are constant"
    return all(data is not None for data in call.constants[1:_GRU_STATE])


def _packed(rows: Sequence[np.ndarray], bias: np.ndarray) -> np.ndarray:
    """Rows of gates, the taps of each in this order, as `mg_fully_connected_f32__eights` has them."""
    return _float_blocks.packed(np.concatenate(rows, axis=1), bias, VECTOR_BLOCK)


def _lstm_params(call: Call) -> Params:
    w, r, bias = (call.constant(k) for k in range(1, _LSTM_STATE))
    return {"weights": _packed((w, r), bias), **lstm.params(call)}


def _gru_params(call: Call) -> Params:
    w, r, bias, state_bias = (call.constant(k) for k in range(1, _GRU_STATE))
    gates, cell = slice(0, 2 * r.shape[1]), slice(2 * r.shape[1], None)
    return {
        "gates": _packed((w[gates], r[gates]), bias[gates] + state_bias[gates]),
        "data": _packed((w[cell],), bias[cell]),
        "state": _packed((r[cell],), state_bias[cell]),
        **gru.params(call),
    }


def _scratch(call: Call) -> int:
    return 4 * (call.input(0).shape[2] + 5 * call.input(2).shape[1])


def _with_words(work: dict[str, float], call: Call) -> dict[str, float]:
    """Cost terms of the portable kernel, and blocks of eight rows times taps (words)."""
    (rows, hidden), inputs = call.input(2).shape, call.input(0).shape[2]
    return {**work, "words": work["steps"] * -(-rows // VECTOR_BLOCK) * (inputs + hidden)}


LSTM = Kernel(
    "mg_lstm_f32__eights",
    Whole(),
    (lstm_constants, lstm.constant_peepholes),
    _lstm_params,
    operands=(0, 4, 5),
    scratch=_scratch,
    text=Text(helpers=(SOURCE,), struct="mg_lstm_f32__eights"),
    cost=Cost(lambda call: _with_words(lstm.work(call), call), TERMS),
    needs=NEEDS,
)

GRU = Kernel(
    "mg_gru_f32__eights",
    Whole(),
    (gru_constants,),
    _gru_params,
    operands=(0, 5),
    scratch=_scratch,
    text=Text(helpers=(SOURCE,), struct="mg_gru_f32__eights"),
    cost=Cost(lambda call: _with_words(gru.work(call), call), TERMS),
    needs=NEEDS,
)
