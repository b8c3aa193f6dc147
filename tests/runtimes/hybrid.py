# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models with float data and int8 weights, whose float results are compared bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from tests.runtimes.sketch import ACTIVATIONS, Drawn, Shape, Sketch
from tests.runtimes.weighing import _window

MODELS = 8
"""Models of each operator."""


def models() -> Iterator[Drawn]:
    """All of them; their labels begin with `hybrid`."""
    for name, draw in _OPERATORS.items():
        for seed in range(MODELS):
            s = Sketch(f"hybrid {name} {seed}", "f32")
            draw(s)
            yield s.drawn()


def _weights(s: Sketch, shape: Shape, axis: int, *, per_channel: bool) -> int:
    scales = s.data.uniform(0.001, 0.1, shape[axis] if per_channel else 1).astype("f4")
    data = s.data.integers(-127, 128, shape)
    more = {"axis": axis} if per_channel else {}
    return s.tensor(shape, "s8", (scales, 0), data, **more)


def _bias(s: Sketch, outputs: int) -> int:
    return s.const(s.data.standard_normal(outputs), "f32")


def _conv_2d(s: Sketch) -> None:
    image = s.shape(rank=4)
    per_channel = s.chance(0.7)
    kernel, size, options = _window(s, image, dilate=per_channel)
    groups = s.rng.choice([g for g in (1, 1, 1, 2) if image[3] % g == 0]) if per_channel else 1
    outputs = groups * s.rng.choice((1, 2, 3, 5, 8))
    x = s.x(image)
    w = _weights(s, (outputs, *kernel, image[3] // groups), 0, per_channel=per_channel)
    s.result("CONV_2D", [x, w, _bias(s, outputs)], (image[0], *size, outputs), None, None, options)


def _depthwise_conv_2d(s: Sketch) -> None:
    image = s.shape(rank=4)
    kernel, size, options = _window(s, image, dilate=True)
    multiply = s.rng.choice((1, 1, 1, 2, 3))
    options["depth_multiplier"] = multiply
    x, outputs = s.x(image), image[3] * multiply
    operands = [x, _weights(s, (1, *kernel, outputs), 3, per_channel=True)]
    if s.chance(0.8):
        operands.append(_bias(s, outputs))
    s.result("DEPTHWISE_CONV_2D", operands, (image[0], *size, outputs), None, None, options)


def _fully_connected(s: Sketch) -> None:
    keep = s.chance(0.3)
    shape = s.shape(rank=s.rng.randint(2, 4))
    units, depth = s.rng.choice((1, 2, 3, 7, 16)), shape[-1]
    x = s.x(shape)
    w = _weights(s, (units, depth), 0, per_channel=s.chance(0.5))
    out = (*shape[:-1], units) if keep else (math.prod(shape) // depth, units)
    options = {
        "fused_activation_function": s.rng.choice(ACTIVATIONS),
        "keep_num_dims": keep,
        "asymmetric_quantize_inputs": s.chance(0.5),
    }
    s.result("FULLY_CONNECTED", [x, w, _bias(s, units) if s.chance(0.8) else -1], out, None, None, options)


_OPERATORS: dict[str, Callable[[Sketch], None]] = {
    "CONV_2D": _conv_2d,
    "DEPTHWISE_CONV_2D": _depthwise_conv_2d,
    "FULLY_CONNECTED": _fully_connected,
}
