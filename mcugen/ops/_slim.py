"""Removing channels from operators with weights: the removable channels, and the remaining weights and bias.

Weights are treated as [results, taps, input channels], zero points removed. An input channel can be removed if

- all its weights for the remaining results are zero, or
- it has one constant value. Its constant part of each sum is added to the bias. Sums and bias wrap at 32 bits alike, so
  results keep every bit.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.fixed_point import wrap32
from mcugen.ir.ranges import Removal, chosen
from mcugen.ir.types import TensorType
from mcugen.ops import _filter

Constants = dict[int, tuple[TensorType, np.ndarray]]


def has_weights(call: Call) -> bool:
    """Whether the weights are constant, and the operands are all integers or all floats."""
    if call.has(2) and call.input(2).is_float != call.input(0).is_float:
        return False
    return call.input(0).dtype in ("s8", "s16", "f32") and _filter.constant_weights(call)


def removable(call: Call, asked: Removal, w: np.ndarray, *, may_skip: bool) -> Removal:
    """The channels to remove. w: [results, taps, channels]; may_skip: whether taps outside the data add nothing."""
    results = asked.outputs[0]
    read = (w[~results] != 0).any(axis=(0, 1))
    nothing = asked.none
    return Removal((asked.of(0) & (~read | _foldable(call, may_skip)), *nothing.inputs[1:]), (results,))


def _foldable(call: Call, may_skip: bool) -> np.ndarray:
    """A mask of the input channels that add the same number to a sum at every position. Only for int8 data."""
    x = call.range_of(0)
    if x is None or call.input(0).dtype != "s8":
        return np.zeros(call.input(0).shape[-1], bool)
    return np.asarray(x.constant & (x.low == call.input(0).zero_point)) if may_skip else x.constant


def biased(call: Call, removed: Removal, w: np.ndarray) -> Constants:
    """The bias of the remaining results, plus the sums of the removed constant channels; {} if no bias is needed."""
    keep, gone, x = ~removed.outputs[0], removed.of(0), call.range_of(0)
    if x is None:  # float data: no channel is known to be constant
        return {2: (chosen(call.input(2), -1, keep), call.constant(2)[..., keep])} if call.has(2) else {}
    value = np.where(gone & x.constant, x.low - call.input(0).zero_point, 0)
    added = (w[keep].sum(axis=1) * value).sum(axis=1)
    if not call.has(2):
        t = TensorType((added.size,), "s32")
        return {2: (t, wrap32(added).astype(t.np_dtype))} if added.any() else {}
    t, data = chosen(call.input(2), -1, keep), call.constant(2)[..., keep]
    total = data.astype(np.int64) + added
    return {2: (t, (wrap32(total) if t.dtype == "s32" else total).astype(t.np_dtype))}


def weights(call: Call, axis: int, keep: np.ndarray, then: tuple[int, np.ndarray] | None = None) -> Constants:
    """The weights that remain along `axis`, selected by the mask `keep`. then: a second axis and its mask."""
    t, data = call.input(1), call.constant(1)
    for at, mask in ((axis, keep), *((then,) if then else ())):
        t, data = chosen(t, at, mask), np.compress(mask, data, at)
    return {1: (t, data)}
