"""Recurrent layers on floats: the data of several steps at once, then step by step the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mcugen.ir.call import Call, Param, Params
from mcugen.ir.kernel import Kernel, Text, Whole
from mcugen.kernels.simd import block_scales
from mcugen.kernels.simd.byte_dots import Segments
from mcugen.kernels.simd.float_tiles import HELPERS, NEEDS, block_of, dense_fields
from mcugen.ops import gru, lstm

MOST_STEPS = 32
"""Most steps whose data are multiplied with their weights at once."""


def constant_weights(call: Call) -> bool:
    "the weights of data and state are constant, and so are the biases and peephole weights"
    operands = (1, 2, 3, 4) if isinstance(call.op, gru.Gru) else (1, 2, 3, 6)
    return all(call.constants[k] is not None for k in operands if call.has(k))


def _block(call: Call) -> int:
    return max(min(call.input(0).shape[0], MOST_STEPS), 1)


def _sums(name: str, w: np.ndarray, bias: np.ndarray | None, vectors: int = 1) -> Mapping[str, Param]:
    """The fields of a member that computes a vector's sums. w: rows of zeros fill up whole blocks of 16."""
    found = Segments(1, 1, w.shape[1], 0, w.shape[1])
    block = block_of(vectors, w.shape[1])
    low, high = np.array((-np.inf, np.inf), np.float32)
    return {**dense_fields(name, w, bias, found, block), f"{name}.out_min": low, f"{name}.out_max": high}


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The parts behind each other, each filled up to whole blocks of 16."""
    return np.concatenate([block_scales.filled(part) for part in parts])


def _vectors(call: Call) -> int:
    return _block(call) * call.input(0).shape[1]


def _lstm_params(call: Call) -> Params:
    w, r, b = (call.constant(k) for k in (1, 2, 3))
    return {
        **lstm.params(call),
        **_sums("data", block_scales.filled(w), block_scales.filled(b), _vectors(call)),
        **_sums("state", block_scales.filled(r), None),
        "block": _block(call),
    }


def _lstm_scratch(call: Call) -> int:
    return 4 * _vectors(call) * len(block_scales.filled(call.constant(1)))


def _gru_params(call: Call) -> Params:
    w, r, b, a = (call.constant(k) for k in (1, 2, 3, 4))
    ends, after = 2 * r.shape[1], call.op.after
    bias = (b + a)[:ends], b[ends:] if after else (b + a)[ends:]
    state = _sums("state", block_scales.filled(r[ends:]), block_scales.filled(a[ends:]) if after else None)
    return {
        **gru.params(call),
        **_sums("data", _joined((w[:ends], w[ends:])), _joined(bias), _vectors(call)),
        **_sums("gates", block_scales.filled(r[:ends]), None),
        **state,
        "block": _block(call),
    }


def _gru_scratch(call: Call) -> int:
    ends = 2 * call.input(2).shape[1]
    gates, state = (len(block_scales.filled(part)) for part in np.split(call.constant(1), [ends]))
    return 4 * (_vectors(call) * (gates + state) + state)


LSTM = Kernel(
    "mg_lstm_f32__fma",
    Whole(),
    (constant_weights,),
    _lstm_params,
    operands=(0, 4, 5),
    scratch=_lstm_scratch,
    text=Text(struct="mg_simd_lstm_f32", helpers=HELPERS),
    needs=NEEDS,
)

GRU = Kernel(
    "mg_gru_f32__fma",
    Whole(),
    (constant_weights,),
    _gru_params,
    operands=(0, 5),
    scratch=_gru_scratch,
    text=Text(struct="mg_simd_gru_f32", helpers=HELPERS),
    needs=NEEDS,
)
