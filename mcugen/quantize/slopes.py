"""Values and gradients of operators: by their own rules, by finite differences, or by tracing moved elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import evaluate
from mcugen.quantize.im2col import im2col
from mcugen.quantize.input_gradients import input_gradient

Operands = Sequence[np.ndarray | None]
"""Arrays [samples, *shape] of computed operands, and the data of constants."""

_STEP = np.float32(2.0**-8)
_SMALL = 64
_MOST_PLACES = 1 << 24
"""Number of elements whose indices float32 represents exactly."""
_MOVES: dict[object, _Moves | None] = {}


@dataclass(frozen=True, eq=False)
class _Moves:
    """Origin of each element in the results of an operator that only moves elements.

    places: for each result, index of each element in the concatenated computed operands, -1 for a constant; None if
    the result equals this concatenation
    constants: for each result, the values where `places` is -1; None if there are no such elements
    sizes: number of elements of each operand
    """

    places: tuple[np.ndarray | None, ...]
    constants: tuple[np.ndarray | None, ...]
    sizes: tuple[int, ...]


def has_rule(call: Call) -> bool:
    """Whether the gradient of a float call with respect to its computed operands is known."""
    if call.op.is_elementwise and call.output.is_float:
        return True
    if not _is_float(call):
        return False
    if _moves(call) is not None:
        return True
    x, y = (np.ones((2, *t.shape[1:]), np.float32) for t in (call.input(0), call.output))
    others = zip(call.inputs[1:], call.constants[1:], strict=True)
    if len(call.outputs) > 1 or not call.input(0).shape[:1] == call.output.shape[:1] == (1,):
        return False
    if any(t is not None and data is None for t, data in others):
        return False
    has_rows = call.op.scaled_axis is None or im2col(call.op, call, x, 1) is not None
    return has_rows and input_gradient(call.op, call, x, y, y) is not None


def _is_float(call: Call) -> bool:
    return all(t.is_float for t in (*call.inputs, *call.outputs) if t is not None)


def forward(call: Call, operands: Operands) -> tuple[np.ndarray, ...] | None:
    """Results for all samples at once; None if samples must be computed one by one."""
    if not _is_float(call):
        return None
    if call.op.is_elementwise:
        found = call.op.reference(*_aligned(call, operands))
        return (np.asarray(found, np.float32),)
    moves = _moves(call)
    if moves is not None:
        return _moved(call, moves, operands)
    x = operands[0]
    if x is None or call.constants[0] is not None or call.input(0).shape[:1] != (1,) or len(call.outputs) != 1:
        return None
    found = call.op.reference(x.reshape(-1, *x.shape[2:]), *operands[1:])
    return (np.asarray(found, np.float32).reshape(len(x), *call.output.shape),)


def backward(
    call: Call,
    operands: Operands,
    results: Sequence[np.ndarray],
    given: Sequence[np.ndarray | None],
    wanted: Sequence[int],
) -> dict[int, np.ndarray]:
    """Gradients with respect to the operands `wanted`. given: gradients with respect to the results."""
    if call.op.is_elementwise:
        return {k: _by_difference(call, operands, k, given[0]) for k in wanted}
    if call.op.scaled_axis is None and (moves := _moves(call)) is not None:
        return _unmoved(call, moves, operands, given, wanted)
    x, y, g = operands[0], results[0], given[0]
    assert x is not None and g is not None
    pulled = input_gradient(call.op, call, *(a.reshape(-1, *a.shape[2:]) for a in (x, y, g)))
    assert pulled is not None
    return {0: pulled.reshape(x.shape)}


def _aligned(call: Call, operands: Operands) -> list[np.ndarray | None]:
    """Operands reshaped so that stacked samples broadcast as a single sample does."""
    rank = len(call.output.shape)
    found = []
    for a, data in zip(operands, call.constants, strict=True):
        if a is not None and data is None and a.ndim - 1 < rank:
            a = a.reshape(len(a), *(1,) * (rank + 1 - a.ndim), *a.shape[1:])
        found.append(a)
    return found


def _by_difference(call: Call, operands: Operands, k: int, g: np.ndarray | None) -> np.ndarray:
    """Gradient with respect to operand k of an elementwise operator, by central differences. g: the result's gradient.
    """
    aligned = _aligned(call, operands)
    x, original = aligned[k], operands[k]
    assert x is not None and original is not None and g is not None
    step = _STEP * np.maximum(np.abs(x), 1)
    more, less = (call.op.reference(*aligned[:k], a, *aligned[k + 1 :]) for a in (x + step, x - step))
    found = g * ((more - less) / (2 * step))
    summed = tuple(axis for axis, n in enumerate(x.shape) if n == 1 and found.shape[axis] > 1)
    return np.asarray(found.sum(axis=summed).reshape(original.shape), np.float32)


def _moves(call: Call) -> _Moves | None:
    """Origins of elements; None for operators that do more than move. Cached."""
    if call.op.scaled_axis is not None:
        return None
    small = tuple(None if c is None or c.size > _SMALL else c.tobytes() for c in call.constants)
    key = repr(call.op), tuple(None if t is None else t.shape for t in (*call.inputs, *call.outputs)), small
    if key not in _MOVES:
        _MOVES[key] = _traced(call)
    return _MOVES[key]


def _traced(call: Call) -> _Moves | None:
    """Origins of elements, from the operator's results for two different numberings of the operands' elements.

    If the two disagree, the operator depends on values or combines them, and the result is None.
    """
    sizes = tuple(t.size for t, c in zip(call.inputs, call.constants, strict=True) if t is not None and c is None)
    total = sum(sizes)
    if total >= _MOST_PLACES:
        return None
    ahead, mixed = np.arange(1, total + 1), np.random.default_rng(0).permutation(total) + 1
    first, second = _results_for(call, sizes, ahead), _results_for(call, sizes, mixed)
    places: list[np.ndarray | None] = []
    constants: list[np.ndarray | None] = []
    for a, b in zip(first, second, strict=True):
        at = np.clip(np.nan_to_num(a), 1, total).astype(np.int64) - 1
        moved = (a == at + 1) & (b == mixed[at])
        if not (moved | (a == b)).all():
            return None
        places.append(None if np.array_equal(a, ahead) else np.where(moved, at, -1))
        constants.append(None if moved.all() else np.where(moved, 0, a).astype(np.float32))
    return _Moves(tuple(places), tuple(constants), sizes)


def _results_for(call: Call, sizes: Sequence[int], numbers: np.ndarray) -> list[np.ndarray]:
    parts = iter(np.split(numbers, np.cumsum(sizes)[:-1]))
    operands = [
        data if t is None or data is not None else next(parts).reshape(t.shape)
        for t, data in zip(call.inputs, call.constants, strict=True)
    ]
    return [np.asarray(a, np.float64).reshape(-1) for a in evaluate(call, operands)]


def _moved(call: Call, moves: _Moves, operands: Operands) -> tuple[np.ndarray, ...]:
    flat = [a.reshape(len(a), -1) for a, c in zip(operands, call.constants, strict=True) if a is not None and c is None]
    given = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
    found = []
    for places, constants, t in zip(moves.places, moves.constants, call.outputs, strict=True):
        if places is None:
            y = given
        else:
            y = given.take(places, axis=1)
            if constants is not None:
                y = np.where(places < 0, constants, y)
        found.append(y.reshape(len(given), *t.shape))
    return tuple(found)


def _unmoved(
    call: Call, moves: _Moves, operands: Operands, given: Sequence[np.ndarray | None], wanted: Sequence[int]
) -> dict[int, np.ndarray]:
    count = next(len(g) for g in given if g is not None)
    total = np.zeros((count, sum(moves.sizes)), np.float32)
    for places, g in zip(moves.places, given, strict=True):
        if g is None:
            continue
        if places is None:
            total += g.reshape(count, -1)
            continue
        inside = places >= 0
        to, flat = places[inside], g.reshape(count, -1)[:, inside]
        if len(np.unique(to)) == len(to):
            total[:, to] += flat
        else:
            np.add.at(total.T, to, flat.T)
    computed = [k for k, (t, c) in enumerate(zip(call.inputs, call.constants, strict=True)) if t and c is None]
    parts = dict(zip(computed, np.split(total, np.cumsum(moves.sizes)[:-1], axis=1), strict=True))
    return {k: parts[k].reshape(count, *call.input(k).shape) for k in wanted}
