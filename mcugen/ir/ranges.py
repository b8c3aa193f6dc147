"""Bounds of a tensor's stored integers, channel by channel.

A channel is an index of the last axis. A scalar has one channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.types import PACKED_BITS, TensorType

MAX_CHANNELS = 1 << 20
"""Largest number of channels with bounds. Otherwise a small file could make the build allocate gigabytes."""

_BOUNDED = frozenset({"s8", "u8", "s16", "s32", *PACKED_BITS})


@dataclass(frozen=True, eq=False)
class Range:
    """A lower and an upper bound of the stored integers of each channel, as int64 arrays of one length."""

    low: np.ndarray
    high: np.ndarray

    @property
    def constant(self) -> np.ndarray:
        """A mask of the channels with only one possible value."""
        return np.asarray(self.low == self.high)

    @property
    def hull(self) -> tuple[int, int]:
        """Bounds of all channels together."""
        return int(self.low.min()), int(self.high.max())

    def including(self, value: int) -> Range:
        """The range of every channel, extended to include `value`."""
        return Range(np.minimum(self.low, value), np.maximum(self.high, value))

    def clipped(self, low: int, high: int) -> Range:
        """The range of the values after a clamp to [low, high]."""
        return Range(np.clip(self.low, low, high), np.clip(self.high, low, high))

    def joined(self, channels: int) -> Range:
        """A range of `channels` channels. Each has the bounds of all channels of this range together."""
        low, high = self.hull
        return filled(channels, low, high)


@dataclass(frozen=True, eq=False)
class Affine:
    """y = factor * x + addend for each channel of floats: float64 arrays with an entry per channel."""

    factor: np.ndarray
    addend: np.ndarray

    @property
    def is_finite(self) -> bool:
        """Whether every number is finite."""
        return bool(np.isfinite(self.factor).all() and np.isfinite(self.addend).all())


@dataclass(frozen=True, eq=False)
class Removal:
    """Channels that an operator is to drop: a mask for each operand and each result.

    Constant and absent operands have None, since the operator itself selects the part of constants that it needs.
    """

    inputs: tuple[np.ndarray | None, ...]
    outputs: tuple[np.ndarray, ...]

    @property
    def none(self) -> Removal:
        """A removal of no channel, with masks of the same sizes."""
        return Removal(
            tuple(None if mask is None else np.zeros_like(mask) for mask in self.inputs),
            tuple(np.zeros_like(mask) for mask in self.outputs),
        )

    def of(self, k: int) -> np.ndarray:
        """The mask of operand k, which must be computed at run time."""
        mask = self.inputs[k]
        if mask is None:
            raise InternalError(f"operand {k} is constant or missing")
        return mask


def filled(channels: int, low: int, high: int) -> Range:
    """A range with the same bounds for all channels."""
    return Range(np.full(channels, low, np.int64), np.full(channels, high, np.int64))


def channels_of(t: TensorType) -> int:
    """The number of channels of a tensor."""
    return t.shape[-1] if t.shape else 1


def whole(t: TensorType) -> Range | None:
    """The range of all values that t's element type can store.

    None for floats, booleans, 64-bit integers, and more than MAX_CHANNELS channels.
    """
    if t.dtype not in _BOUNDED or channels_of(t) > MAX_CHANNELS:
        return None
    return filled(channels_of(t), *t.limits)


def measured(data: np.ndarray) -> Range | None:
    """The range of a constant; None if `whole` would be None, or if there are no elements."""
    if data.dtype.kind not in "iu" or data.dtype.itemsize > 4 or data.size == 0:
        return None
    rows = data.reshape(-1, data.shape[-1] if data.shape else 1)
    if rows.shape[1] > MAX_CHANNELS:
        return None
    return Range(rows.min(axis=0).astype(np.int64), rows.max(axis=0).astype(np.int64))


def chosen(t: TensorType, axis: int, keep: np.ndarray) -> TensorType:
    """The type of a tensor after removing indices of an axis. keep: a mask of the remaining indices."""
    at = axis % len(t.shape)
    shape = (*t.shape[:at], int(keep.sum()), *t.shape[at + 1 :])
    quant = t.quant
    if quant is not None and quant.per_channel and quant.axis == at:
        scale, zero = (np.array(v)[keep].tolist() for v in (quant.scale, quant.zero_point))
        quant = replace(quant, scale=tuple(scale), zero_point=tuple(zero))
    return replace(t, shape=shape, quant=quant)


def met(x: Range, channels: int) -> Range:
    """The range of a tensor after a reshape to `channels` channels.

    If neither number of channels divides the other, every channel gets the bounds of all channels together.
    """
    given = x.low.size
    if channels % given == 0:
        return Range(np.tile(x.low, channels // given), np.tile(x.high, channels // given))
    if given % channels == 0:
        return Range(x.low.reshape(-1, channels).min(axis=0), x.high.reshape(-1, channels).max(axis=0))
    return x.joined(channels)
