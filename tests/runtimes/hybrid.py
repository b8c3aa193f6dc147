# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models with float data and int8 weights, whose float results are compared bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from tests.runtimes.recurrent import bidirectional_rnn, rnn
from tests.runtimes.sketch import ACTIVATIONS, Drawn, Shape, Sketch
from tests.runtimes.weighing import _window

MODELS = 8
"""Models of each operator."""


def models() -> Iterator[Drawn]:
    """Models with bit-exact results of LiteRT; labels begin with `hybrid`."""
    yield from _drawn(_OPERATORS)


def recurrent() -> Iterator[Drawn]:
    """Models with float functions, or with sums in another order."""
    yield from _drawn(_RECURRENT)


def _drawn(operators: Mapping[str, Callable[[Sketch], None]]) -> Iterator[Drawn]:
    for name, draw in operators.items():
        for seed in range(MODELS):
            s = Sketch(f"hybrid {name} {seed}", "f32")
            draw(s)
            yield s.drawn()


def _weights(s: Sketch, shape: Shape, axis: int, *, per_channel: bool) -> int:
    scales = s.data.uniform(0.001, 0.1, shape[axis] if per_channel else 1).astype("f4")
    data = s.data.integers(-127, 128, shape)
    more = {"axis": axis} if per_channel else {}
    return s.tensor(shape, "s8", (scales, 0), data, **more)


def _one_scale(s: Sketch, shape: Shape) -> int:
    return _weights(s, shape, 0, per_channel=False)


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


def _batch_matmul(s: Sketch) -> None:
    batches = s.rng.choice(((), (1,), (2,), (1, 2)))
    rows, depth, cols = (s.rng.choice((1, 2, 3, 9)) for _ in range(3))
    first, second = s.chance(0.3), s.chance(0.5)
    own = s.rng.choice((batches, (1,) * len(batches)))
    x = s.x((*batches, *((depth, rows) if first else (rows, depth))))
    w = _weights(s, (*own, *((cols, depth) if second else (depth, cols))), 0, per_channel=False)
    options = {"adj_x": first, "adj_y": second, "asymmetric_quantize_inputs": s.chance(0.5)}
    s.result("BATCH_MATMUL", [x, w], (*batches, rows, cols), None, None, options)


def _svdf(s: Sketch) -> None:
    """A few layers one after the other on one memory."""
    batches, inputs, rank, units, steps = (
        s.rng.choice(v) for v in ((1, 1, 2), (1, 3, 8), (1, 2), (1, 2, 4), (1, 2, 5, 8))
    )
    features, times = (_weights(s, (units * rank, n), 0, per_channel=False) for n in (inputs, steps))
    bias = _bias(s, units)
    memory = s.tensor((batches, units * rank * steps), "f32", is_variable=True)
    options = {"rank": rank, "fused_activation_function": s.rng.choice(ACTIVATIONS)}
    options["asymmetric_quantize_inputs"] = s.chance(0.5)
    for _ in range(s.rng.randint(2, 4)):
        s.result("SVDF", [s.x((batches, inputs)), features, times, bias, memory], (batches, units), None, None, options)


def _lstm(s: Sketch) -> None:
    """Two layers in a row on one state and cell."""
    batches, steps, inputs, hidden = (s.rng.choice(v) for v in ((1, 1, 2), (1, 2, 5), (1, 3, 9), (1, 2, 5)))
    first, coupled, peepholes = s.chance(0.3), s.chance(0.2), s.chance(0.2)
    ends = (steps, batches) if first else (batches, steps)
    given: dict[int, int] = {}
    for k in range(1 if coupled else 0, 4):
        given[1 + k] = _weights(s, (hidden, inputs), 0, per_channel=False)
        given[5 + k] = _weights(s, (hidden, hidden), 0, per_channel=False)
        given[12 + k] = _bias(s, hidden)
    for k in (9, 10, 11) if peepholes else ():
        if k > 9 or not coupled:
            given[k] = _weights(s, (hidden,), 0, per_channel=False)
    h, c = (s.tensor((batches, hidden), "f32", is_variable=True) for _ in range(2))
    options = {"fused_activation_function": "TANH", "cell_clip": s.rng.choice((10.0, 0.0, 0.7)), "time_major": first}
    options["asymmetric_quantize_inputs"] = s.chance(0.5)
    for _ in range(2):
        y = s.tensor((*ends, hidden), "f32")
        operands = [s.x((*ends, inputs)), *(given.get(k, -1) for k in range(1, 18)), h, c, -1, -1, -1, -1]
        s.writer.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options)
        s.outputs.append(y)


def _bidirectional(s: Sketch) -> None:
    steps, inputs, hidden = (s.rng.choice(v) for v in ((1, 2, 5), (1, 3, 9), (1, 2, 5)))
    given: dict[int, int] = {}
    for at in (0, 17):
        for k in range(4):
            given[at + 1 + k] = _weights(s, (hidden, inputs), 0, per_channel=False)
            given[at + 5 + k] = _weights(s, (hidden, hidden), 0, per_channel=False)
            given[at + 12 + k] = _bias(s, hidden)
    given |= {k: s.tensor((1, hidden), "f32", is_variable=True) for k in range(35, 39)}
    options = {"fused_activation_function": "TANH", "time_major": s.chance(0.5), "merge_outputs": True}
    options["asymmetric_quantize_inputs"] = s.chance(0.5)
    ends = (steps, 1) if options["time_major"] else (1, steps)
    y = s.tensor((*ends, 2 * hidden), "f32")
    operands = [s.x((*ends, inputs)), *(given.get(k, -1) for k in range(1, 48))]
    s.writer.op("BIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options)
    s.outputs.append(y)


both_directions = bidirectional_rnn(_one_scale)
_OPERATORS: dict[str, Callable[[Sketch], None]] = {
    "CONV_2D": _conv_2d,
    "DEPTHWISE_CONV_2D": _depthwise_conv_2d,
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _batch_matmul,
}
_RECURRENT: dict[str, Callable[[Sketch], None]] = {
    "SVDF": _svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional,
    "RNN": rnn("RNN", _one_scale),
    "UNIDIRECTIONAL_SEQUENCE_RNN": rnn("UNIDIRECTIONAL_SEQUENCE_RNN", _one_scale),
    "BIDIRECTIONAL_SEQUENCE_RNN": both_directions,
}
