# SPDX-License-Identifier: Apache-2.0
"""Random .tflite networks: integers, floats, weights of bytes or 4 bits on floats, states, subgraphs, custom operators.

The operators are those of tests/runtimes, on tensors that earlier ones have written where these fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.runtimes import calling, graphs, hybrid, operators, recurrent
from tests.runtimes.graphs import GraphSketch
from tests.runtimes.sketch import ACTIVATIONS, Drawn, Sketch
from tests.runtimes.weighing import _window

MOST_OPERATORS = 6
_EXACT = ("RESHAPE", "TRANSPOSE", "PAD", "CONCATENATION", "MAX_POOL_2D", "SLICE", "STRIDED_SLICE", "RELU", "SPLIT")
"""Operators that keep every bit of floats: one that is lost becomes a step where weights of bytes follow."""


@dataclass(frozen=True, eq=False)
class Network:
    """A model. follow: its input sets are runs one after the other, on the states that the one before has left."""

    drawn: Drawn
    kind: str
    follow: bool = False


def draw(seed: int) -> Network:
    """The network of this seed: always the same."""
    first = Sketch(f"kind {seed}", "")
    kind = first.rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    found = KINDS[kind][1](seed)
    return Network(found, kind, follow=kind in ("recurrent", "hybrid recurrent", "variable"))


def _several(s: GraphSketch, draws: dict[str, Callable[[Sketch], None]], least: int = 2) -> Drawn:
    for _ in range(s.rng.randint(least, MOST_OPERATORS)):
        draws[s.rng.choice(list(draws))](s)
    return s.drawn()


def _operator(seed: int) -> Drawn:
    s = Sketch(f"operator {seed}", "")
    return operators.draw(*s.rng.choice(operators.KINDS), seed)


def _hybrid(seed: int) -> Drawn:
    """Layers with int8 or 4-bit weights on floats, and between them what keeps every bit."""
    s = GraphSketch(f"hybrid network {seed}", "f32")
    moving = {name: operators.OPERATORS[name][1] for name in _EXACT}
    return _several(s, {**hybrid._OPERATORS, **{f"again {k}": v for k, v in hybrid._OPERATORS.items()}, **moving})


def _hybrid_recurrent(seed: int) -> Drawn:
    s = GraphSketch(f"hybrid recurrent {seed}", "f32")
    name = s.rng.choice(list(hybrid._RECURRENT))
    hybrid._RECURRENT[name](s)
    return s.drawn()


def _recurrent(seed: int) -> Drawn:
    """A layer with a memory, and after it a few others of its type."""
    s = GraphSketch(f"recurrent {seed}", "")
    name = s.rng.choice(list(recurrent.OPERATORS))
    types, layer = recurrent.OPERATORS[name]
    s.dtype = s.rng.choice(types)
    layer(s)
    if s.dtype == "s8" or (s.dtype == "s16" and name != "SVDF"):
        for _ in range(s.rng.randint(0, 3)):
            operators.OPERATORS[s.rng.choice(("FULLY_CONNECTED", "RESHAPE", "ADD", "LOGISTIC", "CONCATENATION"))][1](s)
    return s.drawn()


def _calls(seed: int) -> Drawn:
    """A network whose last part is a loop, or one of two subgraphs."""
    s = GraphSketch(f"calls {seed}", "")
    types, layer = calling.OPERATORS[s.rng.choice(("WHILE", "IF"))]
    s.dtype = s.rng.choice(types)
    for _ in range(s.rng.randint(0, 2)):
        operators.OPERATORS[s.rng.choice(("ADD", "RELU", "RESHAPE", "MUL"))][1](s)
    layer(s)
    return s.drawn()


def _variable(seed: int) -> Drawn:
    s = GraphSketch(f"variable {seed}", "")
    types, layer = calling.OPERATORS["READ_VARIABLE"]
    s.dtype = s.rng.choice(types)
    layer(s)
    return s.drawn()


def _packed(s: Sketch, shape: tuple[int, ...], axis: int, *, per_channel: bool) -> tuple[int, np.ndarray]:
    """Constant 4-bit weights, two in each byte, and their scales."""
    scales = s.data.uniform(0.01, 0.3, shape[axis] if per_channel else 1).astype(np.float32)
    values = s.data.integers(-8, 7, math.prod(shape), endpoint=True)
    low, high = (np.append(values, 0)[k::2][: -(-values.size // 2)] & 15 for k in (0, 1))
    data = (low | (high << 4)).astype(np.uint8).tobytes()
    more = {"axis": axis} if per_channel else {}
    return s.tensor(shape, "s4", (scales, 0), data, **more), scales


def _four_bits(name: str) -> Callable[[Sketch], None]:
    """A layer of int8 data, or of floats, whose weights have 4 bits."""

    def apply(s: Sketch) -> None:
        options: dict[str, object]
        if name == "FULLY_CONNECTED":
            image = s.shape(rank=2)
            units, scaled = s.rng.choice((1, 2, 3, 7, 16)), 0
            shape, out, taps = (units, image[1]), (image[0], units), image[1]
            options = {"fused_activation_function": s.rng.choice(ACTIVATIONS)}
        else:
            image = s.shape(rank=4)
            kernel, size, options = _window(s, image, dilate=False)
            deep = name == "DEPTHWISE_CONV_2D"
            units, scaled = (image[3], 3) if deep else (s.rng.choice((1, 2, 3, 5)), 0)
            shape = (1, *kernel, units) if deep else (units, *kernel, image[3])
            out, taps = (image[0], *size, units), math.prod(kernel) * (1 if deep else image[3])
            options |= {"depth_multiplier": 1} if deep else {}
        x = s.x(image)
        w, scales = _packed(s, shape, scaled, per_channel=name != "FULLY_CONNECTED")
        quant = s.quants[x]
        if quant is None:
            bias, near = s.const(s.data.standard_normal(units), "f32"), None
        else:
            spread = int(300 * math.sqrt(taps))
            bias = s.tensor(
                (units,), "s32", (scales * np.float32(quant[0]), 0), s.data.integers(-spread, spread, units)
            )
            near = float(quant[0] * scales.mean() * 4 * math.sqrt(taps))
        s.result(name, [x, w, bias], out, None, s.quant(near=near), options)

    return apply


def _nibbles(seed: int) -> Drawn:
    s = GraphSketch(f"4-bit {seed}", "")
    s.dtype = s.rng.choice(("s8", "s8", "f32"))
    names = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")
    moving = {name: operators.OPERATORS[name][1] for name in ("RESHAPE", "MAX_POOL_2D")}
    return _several(s, {**{name: _four_bits(name) for name in names}, **moving}, 1)


def _custom(seed: int) -> Drawn:
    """A network with an operator of the user's own in it."""
    s = GraphSketch(f"custom {seed}", "")
    s.dtype = s.rng.choice(("s8", "f32"))
    operators.OPERATORS["RELU"][1](s)
    x = s.outputs[-1]
    y = s.tensor(s.shapes[x], s.dtype, s.quants[x])
    s.writer.op("CUSTOM", [x], [y], custom_code=CUSTOM, custom_options=bytes(s.rng.randrange(256) for _ in range(4)))
    s.outputs.append(y)
    operators.OPERATORS["RESHAPE"][1](s)
    return s.drawn()


CUSTOM = "ExampleOperator"
"""The name of the operator that no runtime has."""
KINDS: dict[str, tuple[int, Callable[[int], Drawn]]] = {
    "network": (40, graphs.draw),
    "operator": (22, _operator),
    "hybrid": (10, _hybrid),
    "hybrid recurrent": (4, _hybrid_recurrent),
    "recurrent": (9, _recurrent),
    "4-bit": (7, _nibbles),
    "calls": (4, _calls),
    "variable": (2, _variable),
    "custom": (2, _custom),
}
"""Kind: (its share in percent, how one is drawn)."""
