"""Recurrent layers on integers, on cores with SMLAD: four rows of weights together, two of them in each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text
from mcugen.kernels.dsp import scaling
from mcugen.ops._integer_recurrent import GateRows, rows_of
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn

_QUAD = 4
"""Rows that lie together, and taps that are read together."""


def _padded(n: int) -> int:
    return -(-n // _QUAD) * _QUAD


def paired(call: Call) -> bool:
    "no weight is -128, and the sums of two rows fit 32 bits, one of them multiplied by 256"
    for rows in rows_of(call):
        sizes = np.abs(rows.weights.astype(np.int64)).sum(axis=1)
        if rows.weights.min(initial=0) < -127 or 128 * 257 * int(sizes.max(initial=0)) >= 1 << 31:
            return False
    return True


def _words(w: np.ndarray) -> np.ndarray:
    """Rows [rows, taps], a multiple of four each, as words of two taps of two rows."""
    quads = w.astype(np.int32).reshape(-1, 2, 2, w.shape[1] // 2, 2)  # quad, pair, row of the pair, taps, tap
    halves = (256 * quads[:, :, 0] + quads[:, :, 1]).astype(np.int16)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(-1).view("<i4").astype(np.int32)


def _fields(name: str, rows: GateRows, parts: Sequence[slice]) -> Params:
    """The constants of rows in quads. parts: the rows that begin with a quad of their own."""
    taps = _padded(rows.weights.shape[1])

    def quads(values: np.ndarray) -> np.ndarray:
        return np.concatenate([np.pad(values[p], (0, _padded(len(values[p])) - len(values[p]))) for p in parts])

    words = []
    for part in parts:
        w = rows.weights[part]
        words.append(_words(np.pad(w, ((0, _padded(len(w)) - len(w)), (0, taps - w.shape[1])))))
    return {
        name: np.concatenate(words),
        f"{name}_bias": quads(rows.bias).astype(np.int32),
        f"{name}_mult": quads(rows.mult).astype(np.int32),
        f"{name}_shift": quads(rows.shift - 1).astype(np.uint8),
    }


def _gru_parts(call: Call) -> Sequence[slice]:
    hidden = call.input(2).shape[1]
    return (slice(None),) if call.op.after else (slice(0, 2 * hidden), slice(2 * hidden, None))


def _params(portable: Kernel, parts: Callable[[Call], Sequence[slice]]) -> Callable[[Call], Params]:
    def fields(call: Call) -> Params:
        assert portable.params is not None
        data, state = rows_of(call)
        return {**portable.params(call), **_fields("w", data, (slice(None),)), **_fields("r", state, parts(call))}

    return fields


def _scratch(gates: int) -> Callable[[Call], int]:
    def size(call: Call) -> int:
        """Bytes of the sums of all gates over the data and over the state, and of both vectors in int16."""
        hidden, inputs = call.input(2).shape[1], call.input(0).shape[2]
        return 4 * gates * hidden + 2 * (_padded(hidden) + _padded(inputs))

    return size


def _work(portable: Kernel, gates: int) -> Callable[[Call], dict[str, float]]:
    def work(call: Call) -> dict[str, float]:
        """Cost terms of the portable kernel, quads of rows (quads), and groups of four taps in these (groups)."""
        assert portable.cost.work is not None
        found = dict(portable.cost.work(call))
        hidden, inputs = call.input(2).shape[1], call.input(0).shape[2]
        quads = found["steps"] * _padded(gates * hidden) / _QUAD
        return {**found, "quads": 2 * quads, "groups": quads * (_padded(inputs) + _padded(hidden)) / _QUAD}

    return work


def _kernel(portable: Kernel, gates: int, parts: Callable[[Call], Sequence[slice]]) -> Kernel:
    return replace(
        portable,
        symbol=f"{portable.symbol}__dsp",
        accepts=(*portable.accepts, paired),
        params=_params(portable, parts),
        scratch=_scratch(gates),
        text=Text(struct=portable.symbol.replace("mg_", "mg_dsp_")),
        cost=Cost(_work(portable, gates), (*portable.cost.terms, "quads", "groups")),
        needs=scaling.DSP,
    )


def _one_part(call: Call) -> Sequence[slice]:
    return (slice(None),)


GRU = (_kernel(IntegerGru.kernels[0], IntegerGru.gates, _gru_parts),)
LSTM = (_kernel(IntegerLstm.kernels[0], IntegerLstm.gates, _one_part),)
RNN = (_kernel(IntegerRnn.kernels[0], IntegerRnn.gates, _one_part),)
