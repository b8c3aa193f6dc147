# SPDX-License-Identifier: Apache-2.0
"""Random models of operators with a memory: several share it, so that one run has several steps."""

from __future__ import annotations

from collections.abc import Callable

from tests.runtimes.sketch import ACTIVATIONS, Quant, Sketch

Draw = Callable[[Sketch], None]


def _of(s: Sketch, scale: float, zero: int = 0) -> Quant:
    """A quantization, none for floats."""
    return None if s.dtype == "f32" else (scale, zero)


def svdf(s: Sketch) -> None:
    batches, inputs, rank, units, steps = (
        s.rng.choice(v) for v in ((1, 1, 2), (1, 3, 8), (1, 2), (1, 2, 4), (1, 2, 5, 8))
    )
    filters, zero = units * rank, s.rng.choice((0, 0, -128, 100, 37))
    x_scale, w_scale = 10 ** s.rng.uniform(-3, 0), 10 ** s.rng.uniform(-3, -1)
    kept = x_scale * w_scale * 80 * inputs**0.5 * 10 ** s.rng.uniform(-0.7, 0.5)
    features = s.constant((filters, inputs), None, _of(s, w_scale))
    times = s.constant((filters, steps), None, _of(s, w_scale))
    bias = (
        s.tensor((units,), "s32", (kept * w_scale, 0), s.data.integers(-4000, 4000, units)) if s.dtype == "s8" else None
    )
    bias = s.constant((units,)) if bias is None else bias
    memory = s.tensor((batches, filters * steps), s.dtype, _of(s, kept, zero), is_variable=True)
    quant = _of(
        s, kept * w_scale * 80 * (rank * steps) ** 0.5 * 10 ** s.rng.uniform(-0.7, 0.7), s.rng.choice((-128, 0, 9))
    )
    options = {"rank": rank, "fused_activation_function": s.rng.choice(ACTIVATIONS)}
    x_quant = _of(s, x_scale, s.rng.choice((-128, 0, 5)))
    for _ in range(s.rng.randint(2, 4)):
        s.result(
            "SVDF",
            [s.x((batches, inputs), None, x_quant), features, times, bias, memory],
            (batches, units),
            None,
            quant,
            options,
        )


OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {"SVDF": (("s8", "f32"), svdf)}
"""Operator: (element types that are drawn, how a model of one is drawn)."""
