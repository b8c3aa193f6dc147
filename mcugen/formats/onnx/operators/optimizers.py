"""Steps of training: Momentum, Adagrad and Adam, for learning on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import cast, operands
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub

Step = Callable[[Expansion, Attributes, str, str, str, Sequence[str]], list[str]]
"""A training step: (e, attributes, rate, step number, x, [gradient, *states]) -> [new x, *new states]."""


def optimizer(kinds: int, step: Step, source: Source, e: Expansion) -> Sequence[str]:
    """The tensors after one step of training, followed by the states of the optimizer.

    kinds: number of operands per tensor: the tensor, its gradient and its states
    """
    rate, count, *rest = operands(e, len(e.inputs))
    if not rest or len(rest) % kinds:
        raise ShapeError(f"{len(rest)} operands do not divide into {kinds} for each tensor")
    number = len(rest) // kinds
    found = [step(e, source.attributes, rate, count, rest[k], rest[k + number :: number]) for k in range(number)]
    return [part[k] for k in range(kinds - 1) for part in found]


def momentum(e: Expansion, a: Attributes, rate: str, count: str, x: str, rest: Sequence[str]) -> list[str]:
    """Source: ONNX Momentum-1 of ai.onnx.preview.training."""
    data = e.data(count)
    if data is None:
        raise UnsupportedError("the step number is computed at run time", hint="make it a constant")
    gradient = _regularized(e, a, x, rest[0])
    beta = a["beta"]  # not used in the first step
    gained = _times(e, gradient, beta if data.item() > 0 else 1.0)
    moved = e.node(Add(), _times(e, rest[1], a["alpha"]), gained)
    way = moved if a["mode"] != "nesterov" else e.node(Add(), gradient, _times(e, moved, a["alpha"]))
    return [e.node(Sub(), x, e.node(Mul(), way, rate)), moved]


def adagrad(e: Expansion, a: Attributes, rate: str, count: str, x: str, rest: Sequence[str]) -> list[str]:
    """Source: ONNX Adagrad-1 of ai.onnx.preview.training."""
    steps = _times(e, cast(e, count, "f32"), a["decay_factor"])
    slower = e.node(Div(), rate, e.node(Add(), steps, _number(e, 1.0)))
    gradient = _regularized(e, a, x, rest[0])
    total = e.node(Add(), rest[1], e.node(Square(), gradient))
    divisor = e.node(Add(), e.node(Sqrt(), total), _number(e, a["epsilon"]))
    return [e.node(Sub(), x, e.node(Div(), e.node(Mul(), gradient, slower), divisor)), total]


def adam(e: Expansion, a: Attributes, rate: str, count: str, x: str, rest: Sequence[str]) -> list[str]:
    """Source: ONNX Adam-1 of ai.onnx.preview.training."""
    data = e.data(count)
    if data is None:
        raise UnsupportedError("the step number is computed at run time", hint="make it a constant")
    gradient = _regularized(e, a, x, rest[0])
    first = e.node(Add(), _times(e, rest[1], a["alpha"]), _times(e, gradient, 1 - a["alpha"]))
    second = e.node(Add(), _times(e, rest[2], a["beta"]), _times(e, e.node(Square(), gradient), 1 - a["beta"]))
    times = int(data.item())
    gain = float(np.sqrt(1 - a["beta"] ** times) / (1 - a["alpha"] ** times)) if times > 0 else 1.0
    divisor = e.node(Add(), e.node(Sqrt(), second), _number(e, a["epsilon"]))
    moved = e.node(Sub(), x, e.node(Div(), e.node(Mul(), first, _times(e, rate, gain)), divisor))
    return [_times(e, moved, 1 - a["norm_coefficient_post"]), first, second]


def _regularized(e: Expansion, a: Attributes, x: str, gradient: str) -> str:
    return e.node(Add(), _times(e, x, a["norm_coefficient"]), gradient)


def _times(e: Expansion, x: str, factor: float) -> str:
    return e.node(Mul(), x, _number(e, factor))


def _number(e: Expansion, value: float) -> str:
    return e.constant(np.array(value, np.float32))


_STEPS: tuple[tuple[str, int, Step], ...] = (("Momentum", 3, momentum), ("Adagrad", 3, adagrad), ("Adam", 4, adam))
IMPORTS = tuple(
    Import("onnx", f"ai.onnx.preview.training:{name}", expand=partial(optimizer, kinds, step))
    for name, kinds, step in _STEPS
)
