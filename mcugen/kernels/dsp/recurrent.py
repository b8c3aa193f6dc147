"""LSTM and SVDF on cores with SMLAD: words of four int8 weights, widened when they are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text
from mcugen.kernels.dsp import scaling
from mcugen.ops import lstm_quantized as lstm
from mcugen.ops import svdf

_GROUP = 4
"""Weights per word."""

_MOST_SHIFT = 30
"""Largest right shift whose rounding addend, half a unit, still fits."""


def _padded(n: int) -> int:
    return -(-n // _GROUP) * _GROUP


def _words(rows: np.ndarray) -> np.ndarray:
    """The packed weights of a layer: for each unit and each group of four taps, one word per gate."""
    units = lstm.by_unit(rows)
    taps = np.pad(units, ((0, 0), (0, 0), (0, _padded(units.shape[2]) - units.shape[2])))
    words = taps.reshape(*units.shape[:2], -1, _GROUP).swapaxes(1, 2)
    return np.ascontiguousarray(words).reshape(-1).view("<i4").astype(np.int32)


def doubled(call: Call) -> bool:
    "no sum of a gate exceeds 31 bits, even after the left shift of its scale"
    if not lstm.int8_data(call):
        return False
    found = [lstm.hidden_multiplier(call)[1]]
    for k, data, bias in ((1, 0, lstm.biases(call)[0]), (2, 4, lstm.biases(call)[1])):
        sums = 128 * np.abs(call.constant(k).astype(np.int64)).sum(axis=1) + np.abs(bias.astype(np.int64))
        shifts = [shift for _, shift in lstm.multipliers(call, k, call.input(data).scale)]
        gates = zip(np.split(sums, lstm.GATES), shifts, strict=True)
        if any(int(gate.max(initial=0)) << max(shift, 0) >= 2**30 for gate, shift in gates):
            return False
        found += shifts
    return found[0] < 0 and min(found) >= -_MOST_SHIFT


def _lstm_params(call: Call) -> Params:
    return {**lstm.params(call), "w": _words(call.constant(1)), "r": _words(call.constant(2))}


def _lstm_scratch(call: Call) -> int:
    """Bytes of the widened data and state of a time step."""
    _, _, inputs, hidden = lstm.sizes(call)
    return 2 * (_padded(inputs) + _padded(hidden))


def _lstm_work(call: Call) -> dict[str, float]:
    """Cost terms of the portable kernel, values widened to int16 (widened), and groups of four taps in all gates
    (words)."""
    found = lstm.work(call)
    _, _, inputs, hidden = lstm.sizes(call)
    words = (_padded(inputs) + _padded(hidden)) // _GROUP
    return {**found, "widened": found["steps"] * (inputs + hidden), "words": found["units"] * words}


def _direct_work(call: Call) -> dict[str, float]:
    """Cost terms of the portable kernel, groups of four taps in all gates (words), and vectors with remaining taps
    (rests)."""
    found = lstm.work(call)
    _, _, inputs, hidden = lstm.sizes(call)
    words, rests = (inputs // _GROUP + hidden // _GROUP), (inputs % _GROUP > 0) + (hidden % _GROUP > 0)
    return {**found, "words": found["units"] * words, "rests": found["units"] * rests}


def _lstm_kernels(portable: Kernel) -> tuple[Kernel, Kernel]:
    """Two variants of a kernel: one widens the vectors into scratch, one reads them in place."""
    widened = replace(
        portable,
        symbol=f"{portable.symbol}__dsp",
        accepts=(*portable.accepts, doubled),
        params=_lstm_params,
        scratch=_lstm_scratch,
        text=replace(portable.text, struct="mg_dsp_lstm_s8"),
        cost=Cost(_lstm_work, (*portable.cost.terms, "widened", "words")),
        needs=scaling.DSP,
    )
    direct = replace(
        widened,
        symbol=f"{widened.symbol}_direct",
        scratch=portable.scratch,
        cost=Cost(_direct_work, (*portable.cost.terms, "words", "rests")),
    )
    return widened, direct


LSTM = tuple(made for k in lstm.QuantizedLstm.kernels if k.contract == "mg_lstm_s8" for made in _lstm_kernels(k))


def _is_large(call: Call) -> bool:
    """Whether sums may need more than 31 bits, or are scaled by left shifts."""
    w = np.abs(call.constant(2).astype(np.int64)).reshape(call.outputs[1].shape[1], -1).sum(axis=1)
    largest = int((128 * w + np.abs(svdf.folded_bias(call).astype(np.int64))).max(initial=0))
    return largest >= 2**30 or not -_MOST_SHIFT <= svdf.multiplier(call)[1] < 0


def one_batch(call: Call) -> bool:
    "the batch is 1"
    return call.input(0).shape[0] == 1


def _svdf_params(call: Call) -> Params:
    mult, shift = svdf.multiplier(call)
    return {
        "weights": call.constant(2).reshape(-1),
        "bias": svdf.folded_bias(call),
        "mult": mult,
        "addend": 0 if _is_large(call) else 1 << (-shift - 1),
        "shift": shift,
        "units": call.outputs[1].shape[1],
        "zero_point": call.input(0).zero_point,
        "out_zero_point": call.outputs[1].zero_point,
    }


def _svdf_variant(call: Call) -> dict[str, int]:
    return {"steps": call.input(2).shape[1], "rank": call.op.rank, "large": int(_is_large(call))}


SVDF = tuple(
    replace(
        kernel,
        symbol=f"{kernel.symbol}__dsp",
        accepts=(*kernel.accepts, one_batch),
        params=_svdf_params,
        text=Text(_svdf_variant, struct="mg_dsp_svdf_s8"),
        needs=scaling.DSP,
    )
    for kernel in svdf.Svdf.kernels
    if kernel.symbol == "mg_svdf_s8"
)
