"""Evaluation of operators on many samples at once; integers have the same bits as one sample at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.op import evaluate
from mcugen.quantize.batch_axes import batch_axes, joined

Arrays = Sequence[np.ndarray | None]
"""Values of operands: [samples, *shape] if computed, the data if constant, None if absent."""

_ELEMENTS = 1 << 18
"""Elements of a result computed together, so that their float64 stays in a cache."""


_SMALL = 64
_KNOWN: dict[object, bool] = {}
"""Cache: whether an operator can compute stacked samples, see `_is_stackable`."""
_TABLES: dict[object, np.ndarray] = {}
"""Cache: results of byte functions for all 256 bytes; a network is evaluated several times."""


def results(call: Call, operands: Arrays) -> tuple[np.ndarray, ...]:
    """Results of a call for every sample, each [samples, *shape]. call: types and constants for one sample."""
    if _is_byte_function(call):
        return (_by_table(call, operands[0]),)
    axes = batch_axes(call.op)
    found = None if axes is None else joined(call, axes, operands)
    if found is not None:
        return found
    count = next(len(a) for a, c in zip(operands, call.constants, strict=True) if a is not None and c is None)
    together = count > 1 and _stacks(call, operands)
    each = max(1, max(t.size for t in call.outputs))
    size = max(1, _ELEMENTS // each) if together else 1
    parts = [_part(call, operands, slice(k, min(k + size, count)), together) for k in range(0, count, size)]
    if len(parts) == 1 or count * each <= _ELEMENTS:  # below this, threads take longer to start than the work
        made = [evaluate(*part) for part in parts]
    else:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            made = list(pool.map(lambda part: evaluate(*part), parts))
    return tuple(_joined([f[k].reshape(-1, *t.shape) for f in made]) for k, t in enumerate(call.outputs))


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _is_byte_function(call: Call) -> bool:
    """Whether each element of the only result depends on one byte alone."""
    operands = [t for t in call.inputs if t is not None]
    is_one = len(operands) == len(call.inputs) == len(call.outputs) == 1 and call.constants[0] is None
    return is_one and call.op.is_elementwise and operands[0].np_dtype.itemsize == 1


def _by_table(call: Call, x: np.ndarray | None) -> np.ndarray:
    """Results looked up in a table of the reference's results for all 256 bytes."""
    t, y = (t.with_shape((1 << 8,)) for t in (call.input(0), call.output))
    key = repr(call.op), call.reference, t, y
    if key not in _TABLES:
        every = np.arange(t.limits[0], t.limits[1] + 1).astype(t.np_dtype)
        (table,) = evaluate(replace(call, inputs=(t,), outputs=(y,)), [every])
        _TABLES[key] = np.roll(table, t.limits[0])  # The bytes of negative numbers come last.
    by_bits, given = _TABLES[key], np.ascontiguousarray(x)
    if y.np_dtype.itemsize > 1:
        return by_bits.take(given.view(np.uint8))
    return np.frombuffer(given.tobytes().translate(by_bits.tobytes()), y.np_dtype).reshape(given.shape)


def _part(call: Call, operands: Arrays, which: slice, together: bool) -> tuple[Call, Arrays]:
    """The call and its operands for the samples `which`, joined along the first axis if `together`, else single."""
    count = which.stop - which.start
    computed = [c is None and a is not None for a, c in zip(operands, call.constants, strict=True)]
    arrays = [
        _taken(a, which, together) if a is not None and is_computed else a
        for a, is_computed in zip(operands, computed, strict=True)
    ]
    if not together:
        return call, arrays
    inputs = tuple(
        t.with_shape((count, *t.shape[1:])) if is_computed and t is not None else t
        for t, is_computed in zip(call.inputs, computed, strict=True)
    )
    outputs = tuple(t.with_shape((count, *t.shape[1:])) for t in call.outputs)
    return replace(call, inputs=inputs, outputs=outputs), arrays


def _taken(values: np.ndarray, which: slice, together: bool) -> np.ndarray:
    """Values of some samples, stacked along their first axis, or of a single sample."""
    return values[which].reshape(-1, *values.shape[2:]) if together else np.asarray(values[which.start])


def _stacks(call: Call, operands: Arrays) -> bool:
    """Whether stacked samples can be computed, see `_is_stackable`; cached by operator, shapes and small constants."""
    types = tuple(None if t is None else (t.dtype, t.shape) for t in (*call.inputs, *call.outputs))
    small = tuple(None if c is None or c.size > _SMALL else c.tobytes() for c in call.constants)
    key = repr(call.op), types, tuple(c is None for c in call.constants), small
    if key not in _KNOWN:
        _KNOWN[key] = _is_stackable(call, operands)
    return _KNOWN[key]


def _is_stackable(call: Call, operands: Arrays) -> bool:
    """Whether two stacked samples give the results of single samples: the operator does not mix the first axis."""
    types = [t for t, c in zip(call.inputs, call.constants, strict=True) if t is not None and c is None]
    if any(not t.shape or t.shape[0] != 1 for t in (*types, *call.outputs)):
        return False
    pair, arrays = _part(call, operands, slice(0, 2), True)
    try:
        if [t.shape for t in pair.op.infer(*pair.inputs)] != [t.shape for t in pair.outputs]:
            return False
        both = evaluate(pair, arrays)
    except McugenError:
        return False
    alone = [evaluate(*_part(call, operands, slice(k, k + 1), False)) for k in (0, 1)]
    # BLAS may add in another order for other sizes, so that floats may differ in their last bits.
    return all(
        np.allclose(both[k][s : s + 1], alone[s][k], rtol=1e-5, atol=1e-6, equal_nan=True)
        for k in range(len(both))
        for s in (0, 1)
    )


def chunks(array: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """The samples of an array, `size` at a time."""
    for k in range(0, len(array), size):
        yield array[k : k + size]
