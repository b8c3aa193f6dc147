# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX layers that stay float between DequantizeLinear and QuantizeLinear: norms and recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.formats.quantized_writer import TYPES, Quantized, Writer

Build = Callable[[Writer], Quantized]
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _stored(w: Writer, dtype: str, data: np.ndarray, scale: float, zero: int = 0) -> str:
    """Dequantized constants of one scale."""
    kind = np.int32 if dtype == "s32" else TYPES[dtype][0]
    return w.node("DequantizeLinear", [w.constant(data, kind), w.constant(scale), w.constant(zero, kind)])


def _again(w: Writer, y: Quantized) -> str:
    return w.node("DequantizeLinear", [y.name, *y.parameters])


def _normalized(
    w: Writer, x: str, size: int | tuple[int, ...], kind: str = "LayerNormalization", **attributes: Any
) -> str:
    scale = _stored(w, "s8", w.rng.integers(60, 127, size), 0.0113)
    bias = _stored(w, "s32", w.rng.integers(-3000, 3000, size), 0.0002)
    return w.node(kind, [x, scale, bias], **attributes)


def norm(kind: str = "LayerNormalization", dtype: str = "s8", axis: int = -1, size: int | tuple[int, ...] = 9) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.dequantized(w.input((2, 5, 9), dtype, 0.031))
        attributes = {"axis": axis} if kind == "LayerNormalization" else {}
        return w.quantized(_normalized(w, x, size, kind, **attributes), dtype, 0.0267)

    return build


def _layer(w: Writer, kind: str, x: str, sizes: tuple[int, int], directions: int, **attributes: Any) -> str:
    """A recurrent layer of (inputs, hidden) with int8 weights and an initial state."""
    (inputs, hidden), gates = sizes, _GATES[kind]
    operands = [x]
    for count in (inputs, hidden):
        operands.append(_stored(w, "s8", w.drawn((directions, gates * hidden, count)), 0.0061))
    operands.append(w.constant(w.rng.normal(0, 0.2, (directions, 2 * gates * hidden))))
    operands += ["", _stored(w, "s8", w.drawn((directions, 1, hidden)), 0.0079, 3)]
    return w.node(kind, operands, hidden_size=hidden, **attributes)


def recurrent(kind: str, dtype: str = "s8", directions: int = 1, **attributes: Any) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.dequantized(w.input((6, 1, 5), dtype, 0.0213))
        more = {"direction": "bidirectional"} if directions == 2 else {}
        return w.quantized(_layer(w, kind, x, (5, 7), directions, **more, **attributes), dtype, 0.0083)

    return build


def chain(w: Writer) -> Quantized:
    """A norm, an LSTM and a GRU, each quantized before the next."""
    x = w.dequantized(w.input((6, 1, 5), "s8", 0.0291))
    x = _again(w, w.quantized(_normalized(w, x, 5), "s8", 0.0243))
    axes = w.constant([1], np.int64)
    x = w.node("Squeeze", [_layer(w, "LSTM", x, (5, 7), 1), axes])
    x = _again(w, w.quantized(x, "s8", 0.0081))
    return w.quantized(_layer(w, "GRU", x, (7, 4), 1, linear_before_reset=1), "s8", 0.0083)


ISLANDS: Mapping[str, Build] = {
    "layer_norm": norm(),
    "layer_norm_u8": norm(dtype="u8", axis=1, size=(5, 9)),
    "instance_norm": norm("InstanceNormalization", size=5),
    "lstm": recurrent("LSTM"),
    "lstm_both_u8": recurrent("LSTM", "u8", 2),
    "gru": recurrent("GRU"),
    "gru_inner_bias": recurrent("GRU", linear_before_reset=1),
    "rnn": recurrent("RNN"),
    "chain": chain,
}
"""Layers without an integer form, by name."""
