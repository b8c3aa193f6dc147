# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers with all their attributes and operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import Sketch, Value

ACTIVATIONS = ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
               "HardSigmoid", "Elu", "Affine")  # fmt: skip
_CONTINUOUS = [a for a in ACTIVATIONS if a != "ThresholdedRelu"]
_ALPHA = {"LeakyRelu": 0.125, "ScaledTanh": 1.5, "HardSigmoid": 0.25, "Elu": 0.75, "Affine": 0.5}
_BETA = {"ScaledTanh": 0.5, "HardSigmoid": 0.5, "Affine": 0.25}


@draws("LSTM", "GRU", "RNN")
def recurrent(s: Sketch, name: str) -> None:
    steps, batch, width, hidden = s.number(1, 5), s.pick((1, 1, 2)), s.number(1, 5), s.number(1, 6)
    direction = s.pick((None, "forward", "reverse", "bidirectional"))
    count, gates = 1 + (direction == "bidirectional"), {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    layout = s.pick((None, 0, 0, 1)) if s.opset >= 14 else None
    x = s.take(shape=(batch, steps, width) if layout == 1 else (steps, batch, width))
    weights = [s.weights(count, gates * hidden, width), s.weights(count, gates * hidden, hidden)]
    operands: list[Value | None] = [x, *weights, s.weights(count, 2 * gates * hidden) if s.chance(0.7) else None]
    operands.append(s.const(s.ints((batch,), np.int32, 1, steps)) if s.chance(0.25) else None)
    state = (batch, count, hidden) if layout == 1 else (count, batch, hidden)
    operands += [_state(s, state) for _ in range(1 + (name == "LSTM"))]
    if name == "LSTM":
        operands.append(s.weights(count, 3 * hidden) if s.chance(0.3) else None)
    while operands[-1] is None:
        operands.pop()
    more: dict[str, Any] = {"hidden_size": hidden, "direction": direction, "layout": layout}
    if s.chance(0.3):
        more["clip"] = float(s.pick((0.5, 1.0, 2.0)))
    if s.chance(0.4):
        more |= _activations(s, count * {"LSTM": 3, "GRU": 2, "RNN": 1}[name])
    if name == "LSTM":
        more["input_forget"] = s.pick((None, None, 0, 1))
    if name == "GRU":
        more["linear_before_reset"] = s.pick((None, 0, 1))
    results = 2 + (name == "LSTM")
    skip = [k for k in range(results) if s.chance(0.3)]
    s.results(name, operands, results, skip=skip if len(skip) < results else (), **more)


def _state(s: Sketch, shape: tuple[int, ...]) -> Value | None:
    return s.pick((None, s.weights(*shape), s.input(shape))) if s.chance(0.5) else None


def _activations(s: Sketch, count: int) -> dict[str, Any]:
    """Names, with as many numbers as they take."""
    names = [s.pick(_CONTINUOUS) for _ in range(count)]
    alpha, beta = ([table[n] for n in names if n in table] for table in (_ALPHA, _BETA))
    return {"activations": names, "activation_alpha": alpha or None, "activation_beta": beta or None}
