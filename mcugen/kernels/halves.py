"""Calls and kernels with tensors stored as float16 on OpenCL devices.

float16 halves memory and memory traffic. Arithmetic stays float32. Weights are stored as float16, other constants as
float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.alike import keeps, made_call
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Grid, Kernel
from mcugen.ir.types import TensorType
from mcugen.kernels.grid import GridLoop

_LARGEST = float(np.finfo(np.float16).max)


def halved(call: Call) -> Call:
    """The call with its computed floats stored as float16."""
    computed = [t if data is not None else _half(t) for t, data in zip(call.inputs, call.constants, strict=True)]
    return replace(call, inputs=tuple(computed), outputs=tuple(_half(t) or t for t in call.outputs))


def _half(t: TensorType | None) -> TensorType | None:
    return replace(t, dtype="f16") if t is not None and t.dtype == "f32" else t


@made_call
def in_floats(call: Call) -> Call:
    """The call with float32 in place of float16."""
    wide = [t and replace(t, dtype="f32") if t is not None and t.dtype == "f16" else t for t in call.inputs]
    results = tuple(replace(t, dtype="f32") if t.dtype == "f16" else t for t in call.outputs)
    return replace(call, inputs=tuple(wide), outputs=results)


def are_in(call: Call) -> bool:
    """Whether any tensor of the call is stored as float16."""
    return any(t is not None and t.dtype == "f16" for t in (*call.inputs, *call.outputs))


def stores_halves(call: Call) -> bool:
    "computed floats are stored as float16"
    given = (t for t, data in zip(call.inputs, call.constants, strict=True) if t is not None and data is None)
    floats = [t.dtype for t in (*given, *call.outputs) if t.is_float]
    return bool(floats) and set(floats) == {"f16"}


def operand(call: Call, data: np.ndarray) -> np.ndarray:
    """A constant operand in the element type of the tensors: float16 if the call stores its floats as float16."""
    return as_half(data) if data.dtype == np.float32 and stores_halves(call) else data


def as_half(data: np.ndarray) -> np.ndarray:
    """Numbers rounded to float16; numbers beyond its range become the largest float16."""
    found: np.ndarray = np.clip(data, -_LARGEST, _LARGEST).astype(np.float16)
    return found


def weights(call: Call, data: np.ndarray) -> np.ndarray:
    """Weights [taps][channels] as float16. Each rounding error is added to the next weight, so that sums hardly change.

    The error passes along the taps of one input channel first, because neighbouring pixels are alike. On mlperf_ic, the
    error of the results is a third of that with each weight rounded to nearest, and a fifth for images of one colour.
    """
    shape = call.input(1).shape
    places = int(np.prod(shape[1:3])) if len(shape) == 4 else 1
    order = np.arange(len(data)).reshape(places, -1).T.reshape(-1)
    found, carried = np.empty(data.shape, np.float16), np.zeros(data.shape[1:], np.float32)
    for tap in order:
        wanted = data[tap] + carried
        found[tap] = as_half(wanted)
        carried = np.where(np.abs(wanted) < _LARGEST, wanted - found[tap], 0.0).astype(np.float32)
    return found


def floats(call: Call) -> bool:
    "floats are stored as float32"
    return not are_in(call)


def both(kernel: Kernel) -> tuple[Kernel, ...]:
    """The kernel and its variant for float16 tensors. Only the kernel if it has no such variant or treats data as
    bytes."""
    takes_halves = isinstance(kernel.form, Grid) and kernel.form.halved is not None
    return (kernel.ruled(floats), of(kernel)) if takes_halves else (kernel,)


def of(kernel: Kernel) -> Kernel:
    """The variant of the kernel with tensors, and the constants in `Grid.halved`, stored as float16."""
    grid, given, named = kernel.grid, kernel.params, kernel.grid.halved or ()

    def params(call: Call) -> Params:
        found = dict(given(in_floats(call))) if given else {}
        return found | {name: weights(call, np.asarray(found[name])) for name in named}

    symbol = kernel.symbol.replace("_f32", "_f16") if "_f32" in kernel.symbol else f"{kernel.symbol}_f16"
    return replace(
        kernel,
        symbol=symbol,
        form=replace(
            grid,
            launch=_wide(grid.launch),
            tiles=_wide(grid.tiles),
            room=_wide(grid.room),
            halved=None,
            pitched=_wide(grid.pitched),
        ),
        accepts=(stores_halves, *(_rule(rule) for rule in kernel.accepts)),
        params=params,
        operands=_wide(kernel.operands),
        text=replace(kernel.text, variant=_sizes(kernel), generate=_loop(kernel)),
    )


def _rule(rule: Rule) -> Rule:
    """A rule that applies the given rule to the call with float32 tensors."""

    @functools.wraps(rule)
    def of_floats(call: Call) -> bool:
        return keeps(in_floats(call), rule)

    return of_floats


def _wide(given: Any) -> Any:
    """If `given` is a function of a call: the function that passes it the call with float32 tensors; else `given`."""
    return (lambda call, *more: given(in_floats(call), *more)) if callable(given) else given


def _sizes(kernel: Kernel) -> Callable[[Call], dict[str, int]] | None:
    return None if kernel.text.generate else lambda call: {**kernel.sizes(in_floats(call)), "HALF": 1}


def _loop(kernel: Kernel) -> Callable[[Call], GridLoop] | None:
    generate = kernel.text.generate
    if generate is None:
        return None

    def loop(call: Call) -> GridLoop:
        found = generate(in_floats(call))
        if not isinstance(found, GridLoop):
            raise InternalError(f"kernel {kernel.symbol} is not generated as an OpenCL loop", where="halves")
        return replace(found, half_in=True, half_out=True)

    return loop
