"""Data movement on OpenCL devices: joining, padding, copying, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.call import Call, Params
from mcugen.kernel import RESULT, Form, Grid, Kernel, Tile
from mcugen.kernels.opencl_basic.windows import NEEDS, indexable
from mcugen.ops import _join, _strided, _view, concatenation, pad
from mcugen.ops.pad import Pad
from mcugen.ops.resize_nearest_neighbor import ResizeNearestNeighbor

MAX_PARTS = 8
_WIDEST = 16


def _each(call: Call, tile: Tile) -> Grid:
    return Grid.each(call.output.size)


def few_parts(call: Call) -> bool:
    "at most eight tensors are joined"
    return len(call.inputs) <= MAX_PARTS


def _word(call: Call) -> int:
    return call.output.np_dtype.itemsize


def _runs(call: Call) -> list[int]:
    """Bytes of one run of each operand."""
    outer = _join.outer_of(call.output.shape, call.op.axis % len(call.output.shape))
    return [call.input(k).nbytes // outer for k in range(len(call.inputs))]


def _joined_word(call: Call) -> int:
    """Bytes that are moved at a time: 16 where all runs are made of so many."""
    return _WIDEST if all(run % _WIDEST == 0 for run in _runs(call)) else _word(call)


def _join_params(call: Call) -> Params:
    word = _joined_word(call)
    begins = np.concatenate([[0], np.cumsum(_runs(call)) // word]).astype(np.int32)
    return {"begins": begins, "run_out": int(begins[-1]), "total": call.output.nbytes // word}


def _starts(call: Call) -> list[int]:
    """The byte of a run of the result at which each operand's begins."""
    return [0, *np.cumsum(_runs(call))[:-1].tolist()]


JOINED = Kernel(
    "",
    Form.JOIN,
    accepts=(_join.in_place, _join.nothing_constant),
    starts=_starts,
    pitch=lambda call: sum(_runs(call)),
    needs=NEEDS,
)
"""Operands that lie in the result in runs, where their kernels have written them."""
JOIN = (
    JOINED,
    Kernel(
        "mg_join__cl",
        Form.GRID,
        accepts=(_strided.has_c_type, concatenation.scales_agree, _join.nothing_constant, few_parts, indexable),
        params=_join_params,
        variant=lambda call: {"PARTS": len(call.inputs), "WORD_BYTES": _joined_word(call)},
        grid=lambda call, tile: Grid.each(call.output.nbytes // _joined_word(call)),
        needs=NEEDS,
        source="join.cl",
    ),
)


def _axes(call: Call) -> int:
    return max(len(call.output.shape), 1)


def _pad_params(call: Call) -> Params:
    assert isinstance(call.op, Pad)
    x, y = call.input(0), call.output
    value: Any = np.array(pad.constant_value(call), y.np_dtype).reshape(1)
    before = [low for low, _ in call.op.widths]
    return {
        "dims": np.array(y.shape or (1,), np.int32),
        "in_stride": np.array(_strided.dense(x.shape) or (0,), np.int32) * _word(call),
        "befores": np.array([*before, *x.shape] or (0, 1), np.int32),
        "value": value,
        "offset": 0,
        "total": y.size,
    }


PAD = Kernel(
    "mg_pad__cl",
    Form.GRID,
    accepts=(_strided.has_c_type, pad.value_is_constant, indexable),
    params=_pad_params,
    operands=(0,),
    variant=lambda call: {"SIZE": _word(call), "AXES": _axes(call)},
    grid=_each,
    needs=NEEDS,
    source="move.cl",
)


def _view_params(call: Call) -> Params:
    found = _view.params(call)
    dims, stride = np.asarray(found["dims"]).astype(np.int32), np.asarray(found["in_stride"])
    return {
        "dims": dims,
        "in_stride": stride,
        "befores": np.concatenate([np.zeros_like(dims), dims]),
        "value": np.zeros(1, np.int64),
        "offset": found["offset"],
        "total": call.output.size,
    }


VIEW = Kernel(
    "mg_view__cl",
    Form.GRID,
    accepts=(_strided.has_c_type, _view.few_loops, indexable),
    params=_view_params,
    operands=(0,),
    variant=lambda call: {"SIZE": _word(call), "AXES": _strided.MAX_LOOPS},
    grid=_each,
    needs=NEEDS,
    source="move.cl",
)


def of_views(kind: type) -> tuple[Kernel, ...]:
    """The kernel of an operator whose result is a strided view of its operand."""
    return (VIEW,) if issubclass(kind, _view.View) else ()


def _copied_word(call: Call) -> int:
    """Bytes that are moved at a time: as many as a run of the result is made of."""
    size = call.output.shape[-1] * _word(call) if call.output.shape else _word(call)
    return _WIDEST if size % _WIDEST == 0 else _word(call)


def _copy_params(call: Call) -> Params:
    word, run = _copied_word(call), (call.output.shape[-1:] or (1,))[0] * _word(call)
    return {"run": max(run // word, 1), "word": word // _word(call), "total": call.output.nbytes // word}


COPY = Kernel(
    "mg_copy__cl",
    Form.GRID,
    accepts=(_strided.has_c_type, indexable),
    params=_copy_params,
    operands=(0,),
    variant=lambda call: {"WORD_BYTES": _copied_word(call)},
    pitched=(RESULT,),
    grid=lambda call, tile: Grid.each(call.output.nbytes // _copied_word(call)),
    needs=NEEDS,
    source="copy.cl",
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
    Form.GRID,
    accepts=(indexable,),
    params=_nearest_params,
    grid=lambda call, tile: Grid.each(call.output.nbytes),
    needs=NEEDS,
    source="nearest.cl",
)
