# SPDX-License-Identifier: Apache-2.0
"""Layers with a memory, of the shapes of published networks for speech, digits and sensors.

Weights and scales are such that the sums of gates lie where sigmoid and tanh still bend, as in trained networks: the
time of these functions depends on it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

import numpy as np

from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams
from mcugen.ops import (
    _integer_recurrent,
    _recurrent,
    full_lstm,
    gru,
    hybrid_lstm,
    hybrid_rnn,
    lstm,
    lstm_quantized,
    projected_lstm,
    svdf,
)
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.full_lstm import FullLstm
from mcugen.ops.gru import Gru
from mcugen.ops.hybrid_lstm import HybridLstm
from mcugen.ops.hybrid_rnn import HybridRnn
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn
from mcugen.ops.lstm import Lstm
from mcugen.ops.lstm_quantized import QuantizedLstm
from mcugen.ops.projected_lstm import ProjectedLstm
from mcugen.ops.rnn import Rnn
from mcugen.ops.svdf import Svdf

SIZES = (
    (28, 1, 28, 20),
    (1, 1, 128, 64),
    (16, 1, 40, 32),
    (1, 1, 64, 96),
    (10, 1, 13, 24),
    (20, 2, 6, 9),
    (50, 1, 3, 10),
    (1, 1, 40, 16),
    (1, 1, 257, 31),
    (3, 1, 5, 4),
)
"""Steps, batches, inputs, units."""
FURTHER = (
    (16, 1, 40, 48, 24),
    (1, 1, 64, 64, 32),
    (5, 1, 20, 30, 30),
    (28, 1, 28, 20, 20),
    (2, 2, 13, 9, 7),
    (1, 1, 100, 80, 40),
    (8, 1, 10, 16, 16),
    (3, 1, 5, 6, 4),
)
"""Steps, batches, inputs, units, results: of layers that are projected or normalized."""
RNN_SIZES = (
    (("Tanh", False), (16, 1, 40, 32)),
    (("Tanh", True), (4, 1, 64, 64)),
    (("Relu", False), (10, 1, 12, 24)),
    (("Relu", True), (3, 2, 32, 48)),
    (("Tanh", False), (1, 1, 32, 128)),
    (("Tanh", True), (20, 1, 8, 16)),
    (("Relu", False), (2, 1, 100, 64)),
    (("Tanh", False), (5, 3, 20, 20)),
)
"""Layers with int8 weights: (activation, whether the state is quantized around 0), (steps, batches, inputs, units)."""
MEMORIES = (
    (32, 1, 10),
    (64, 2, 8),
    (96, 1, 25),
    (128, 2, 12),
    (48, 1, 7),
    (40, 4, 33),
    (16, 1, 50),
    (256, 1, 4),
    (5, 1, 6),
    (12, 2, 3),
)
"""Filters, filters to a unit, steps."""
_NARROW = 73.0
"""How far an int8 weight lies from zero, as the examples draw them."""


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    if op is HybridRnn:
        yield from (
            in_bytes(hybrid_rnn.example(HybridRnn(*how), sizes, seed)) for seed, (how, sizes) in enumerate(RNN_SIZES)
        )
    if op is HybridLstm:
        yield from (
            in_bytes(hybrid_lstm.example(HybridLstm(symmetric=seed % 3 == 2), sizes, seed))
            for seed, sizes in enumerate(SIZES)
        )
    if op is QuantizedLstm:
        yield from (quantized(sizes, dtype, seed) for dtype in ("s8", "s16") for seed, sizes in enumerate(SIZES))
    if op in (Lstm, Gru, Rnn):
        yield from (floats(op, sizes, seed) for seed, sizes in enumerate(SIZES))
    if op in (IntegerGru, IntegerLstm, IntegerRnn):
        yield from (on_integers(op, sizes, seed) for seed, sizes in enumerate(SIZES))
        yield from (on_integers(op, sizes, seed, 7) for seed, sizes in enumerate(SIZES))
    if op is ProjectedLstm:
        yield from (projected(sizes, seed) for seed, sizes in enumerate(FURTHER))
    if op is FullLstm:
        yield from (full(sizes, seed) for seed, sizes in enumerate(FURTHER))
    if op is Svdf:
        yield from (
            svdf.example(seed, dtype, 1, filters, rank, steps, 3 * seed, 0.05 if dtype != "f32" else 0.0, True)
            for dtype in ("s8", "s16", "f32")
            for seed, (filters, rank, steps) in enumerate(MEMORIES)
        )


def floats(op: type[Op], sizes: tuple[int, int, int, int], seed: int) -> Example:
    """A layer of floats with constant weights; its activations are those that it has by default."""
    _, batches, _, hidden = sizes
    gates = {Lstm: lstm.GATES, Gru: gru.GATES, Rnn: 1}[op]
    biases = 2 if op is Gru else 1
    states = 2 if op is Lstm else 1
    rest = [(gates * hidden,)] * biases + [(batches, hidden)] * states
    return _even(_recurrent.example(op(), gates, sizes, rest, 2 * seed + 1))


def on_integers(op: type[IntegerRecurrent], sizes: tuple[int, int, int, int], seed: int, most: int = 127) -> Example:
    """A layer on int8 with an int16 state. most: the largest weight; the least is -most, as a quantization makes them.
    """
    cell = QuantParams((2.0**-12,), (0,)) if op.has_cell else None
    found, rng = _integer_recurrent.example(op(), seed, sizes, 3 * seed, cell), np.random.default_rng(seed)
    shapes = ((k, t.shape) for k, t in enumerate(found.inputs) if k in (1, 2) and t is not None)
    weights = {k: rng.integers(-most, most + 1, shape).astype(np.int8) for k, shape in shapes}
    return dataclasses.replace(found, constants={**found.constants, **weights})


def projected(sizes: tuple[int, int, int, int, int], seed: int) -> Example:
    parts = "n" if sizes[3] == sizes[4] else ("j", "jd", "pj")[seed % 3]
    return _even(projected_lstm.example(ProjectedLstm(), sizes, parts, 2 * seed + 1))


def _even(example: Example) -> Example:
    """The layer with weights whose sums are about as large as the data."""
    rng = np.random.default_rng(example.seed)
    drawn = {
        k: t.shape for k in (1, 2, 7) if k < len(example.inputs) and (t := example.inputs[k]) and len(t.shape) == 2
    }
    weights = {k: rng.normal(0, 1 / math.sqrt(shape[1]), shape).astype(np.float32) for k, shape in drawn.items()}
    return dataclasses.replace(example, constants={**example.constants, **weights})


def in_bytes(example: Example) -> Example:
    """A layer of float data with int8 weights: scales of its data are drawn around 1, that of the state is 1 / 127."""
    return _scaled(example, {3: 1 / _NARROW**2, 4: 1 / _NARROW})


def quantized(sizes: tuple[int, int, int, int], dtype: str, seed: int) -> Example:
    steps, batches, inputs, hidden = sizes
    plain = lstm_quantized.example(
        2 * seed + 1, steps, batches, inputs, hidden, 3 * seed, -seed, -11, 0.0, bool(seed % 2), dtype
    )
    return _scaled(plain, {1: 1 / _NARROW, 2: 1 / _NARROW})


def full(sizes: tuple[int, int, int, int, int], seed: int) -> Example:
    parts = ("n", "p", "pn")[seed % 3] if sizes[3] == sizes[4] else ("j", "nj", "pnj")[seed % 3]
    return full_lstm.example(seed, *sizes, parts, False, bool(seed % 2))


def _scaled(example: Example, units: Mapping[int, float]) -> Example:
    """The layer with weights of such scales that a sum of products is about as large as one of the data.

    units: of operands that are weights, one over the size of those that are drawn.
    """
    inputs = list(example.inputs)
    for k, unit in units.items():
        t = inputs[k]
        assert t is not None and t.quant is not None
        scales = np.array(t.quant.scale) / t.quant.scale[0] * unit / math.sqrt(t.shape[1])
        quant = dataclasses.replace(t.quant, scale=tuple(float(np.float32(s)) for s in scales))
        inputs[k] = dataclasses.replace(t, quant=quant)
    return dataclasses.replace(example, inputs=tuple(inputs))
