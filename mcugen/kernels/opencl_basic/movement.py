"""Data movement on OpenCL devices: joining, padding, copying, resizing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import RESULT, Grid, Join, Kernel, NDRange, Text
from mcugen.kernels.opencl_basic.channel_windows import NEEDS, indexable
from mcugen.ops import _join, _strided, _view, concatenation, pad
from mcugen.ops.pad import Pad
from mcugen.ops.resize_nearest_neighbor import ResizeNearestNeighbor

MAX_PARTS = 8
_WIDEST = 16


def few_parts(call: Call) -> bool:
    "at most eight tensors are joined"
    return len(call.inputs) <= MAX_PARTS


def _word(call: Call) -> int:
    return call.output.np_dtype.itemsize


def _runs(call: Call) -> list[int]:
    """Bytes of the contiguous run that each operand adds to a row of the result."""
    outer = _join.outer_of(call.output.shape, call.op.axis % len(call.output.shape))
    return [call.input(k).nbytes // outer for k in range(len(call.inputs))]


def _joined_word(call: Call) -> int:
    """Bytes moved at once: 16 if the lengths of all runs are multiples of 16, else one element."""
    return _WIDEST if all(run % _WIDEST == 0 for run in _runs(call)) else _word(call)


def _join_params(call: Call) -> Params:
    word = _joined_word(call)
    begins = np.concatenate([[0], np.cumsum(_runs(call)) // word]).astype(np.int32)
    return {"begins": begins, "run_out": int(begins[-1]), "total": call.output.nbytes // word}


def _starts(call: Call) -> list[int]:
    """Byte offset of each operand's run in a row of the result."""
    return [0, *np.cumsum(_runs(call))[:-1].tolist()]


def in_runs(call: Call) -> bool:
    "tensors are joined along their last axis, in more than one row"
    shape = call.output.shape
    return call.op.axis % len(shape) == len(shape) - 1 and _join.outer_of(shape, len(shape) - 1) > 1


JOINED = Kernel(
    "",
    Join(_starts, pitch=lambda call: sum(_runs(call))),
    accepts=(_join.in_place, _join.nothing_constant, in_runs),
    needs=NEEDS,
)
"""A join without code: the kernels of its operands write their runs into the result."""
JOIN = (
    JOINED,
    Kernel(
        "mg_join__cl",
        Grid(lambda call, tile: NDRange.each(call.output.nbytes // _joined_word(call))),
        accepts=(concatenation.scales_agree, _join.nothing_constant, few_parts, indexable),
        params=_join_params,
        text=Text(lambda call: {"PARTS": len(call.inputs), "WORD_BYTES": _joined_word(call)}, source="join.cl"),
        needs=NEEDS,
    ),
)


@dataclass(frozen=True)
class _Moved:
    """A copy of elements in nested loops, the outermost first.

    dims, before, inside: per loop, the size of the result, the elements of padding before the operand, and the size of
    the operand. strides, offset: in bytes of the operand. word: bytes that are moved at a time.
    """

    dims: tuple[int, ...]
    before: tuple[int, ...]
    inside: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    word: int

    def widened(self) -> _Moved:
        """This copy in words of 16 bytes, if every contiguous run is a multiple of 16 bytes; else unchanged."""
        if not self.dims or self.strides[-1] != self.word:
            return self
        ends = (self.dims[-1], self.before[-1], self.inside[-1])
        if any(n % _WIDEST for n in (self.offset, *self.strides[:-1], *(self.word * n for n in ends))):
            return self
        dims, before, inside = (
            (*part[:-1], n * self.word // _WIDEST)
            for part, n in zip((self.dims, self.before, self.inside), ends, strict=True)
        )
        return _Moved(dims, before, inside, (*self.strides[:-1], _WIDEST), self.offset, _WIDEST)

    def params(self, value: np.ndarray) -> Params:
        return {
            "dims": np.array(self.dims, np.int32),
            "in_stride": np.array(self.strides, np.int32),
            "befores": np.array([*self.before, *self.inside], np.int32),
            "value": np.tile(value.reshape(1), self.word // value.itemsize),
            "offset": self.offset,
            "total": math.prod(self.dims),
        }


def _move(symbol: str, moved: Callable[[Call], _Moved], value: Callable[[Call], np.ndarray], *rules: Rule) -> Kernel:
    def sizes(call: Call) -> dict[str, int]:
        found = moved(call)
        return {"SIZE": found.word, "AXES": len(found.dims)}

    return Kernel(
        symbol,
        Grid(lambda call, tile: NDRange.each(math.prod(moved(call).dims))),
        accepts=(*rules, indexable),
        params=lambda call: moved(call).params(value(call)),
        operands=(0,),
        text=Text(sizes, source="move.cl"),
        needs=NEEDS,
    )


def _padded(call: Call) -> _Moved:
    assert isinstance(call.op, Pad)
    x, word = call.input(0), _word(call)
    if not x.shape:
        return _Moved((1,), (0,), (1,), (0,), 0, word)
    before = tuple(low for low, _ in call.op.widths)
    strides = tuple(n * word for n in _strided.dense(x.shape))
    return _Moved(call.output.shape, before, x.shape, strides, 0, word).widened()


def _viewed(call: Call) -> _Moved:
    found = _view.params(call)
    loops = list(zip(np.asarray(found["dims"]).tolist(), np.asarray(found["in_stride"]).tolist(), strict=True))
    real = [(n, stride) for n, stride in loops if n != 1] or [(1, 0)]
    dims, strides = tuple(n for n, _ in real), tuple(stride for _, stride in real)
    return _Moved(dims, (0,) * len(dims), dims, strides, int(found["offset"]), _word(call)).widened()


def _filling(call: Call) -> np.ndarray:
    return np.array(pad.constant_value(call), call.output.np_dtype)


PAD = _move("mg_pad__cl", _padded, _filling, pad.value_is_constant)
VIEW = _move("mg_view__cl", _viewed, lambda call: np.zeros(1, call.output.np_dtype), _view.few_loops)


def of_views(kind: type) -> tuple[Kernel, ...]:
    """The kernel of an operator whose result is a strided view of its operand."""
    return (VIEW,) if issubclass(kind, _view.View) else ()


def _copied_word(call: Call) -> int:
    """Bytes moved at once: the largest word that divides a run of the result."""
    size = call.output.shape[-1] * _word(call) if call.output.shape else _word(call)
    return _WIDEST if size % _WIDEST == 0 else _word(call)


def _copy_params(call: Call) -> Params:
    word, run = _copied_word(call), (call.output.shape[-1:] or (1,))[0] * _word(call)
    return {"run": max(run // word, 1), "word": word // _word(call), "total": call.output.nbytes // word}


COPY = Kernel(
    "mg_copy__cl",
    Grid(lambda call, tile: NDRange.each(call.output.nbytes // _copied_word(call)), pitched=(RESULT,)),
    accepts=(indexable,),
    params=_copy_params,
    operands=(0,),
    text=Text(lambda call: {"WORD_BYTES": _copied_word(call)}, source="copy.cl"),
    needs=NEEDS,
)


def _nearest_params(call: Call) -> Params:
    assert isinstance(call.op, ResizeNearestNeighbor)
    x, y = call.input(0), call.output
    pixel = x.shape[3] * _word(call)
    return {
        "rows": call.op.nearest(x.shape[1], 0).astype(np.int32),
        "columns": call.op.nearest(x.shape[2], 1).astype(np.int32),
        "in_h": x.shape[1],
        "in_w": x.shape[2],
        "out_h": y.shape[1],
        "out_w": y.shape[2],
        "pixel": pixel,
        "total": y.nbytes,
    }


NEAREST = Kernel(
    "mg_nearest__cl",
    Grid(lambda call, tile: NDRange.each(call.output.nbytes)),
    accepts=(indexable,),
    params=_nearest_params,
    text=Text(source="nearest.cl"),
    needs=NEEDS,
)
