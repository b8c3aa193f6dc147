"""The order in which a buffer holds the elements of a tensor whose axes were permuted, split or merged."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mcugen.ir.types import QuantParams, Shape, TensorType


@dataclass(frozen=True)
class Order:
    """The order in which a stored tensor holds the elements of a logical tensor (the tensor as the model has it).

    The axes of both tensors are products of the same factors.

    factors  sizes of the factors in the order of the stored tensor, outermost first
    dims     for each axis of the stored tensor, the number of consecutive factors that it consists of
    axes     for each axis of the logical tensor, the indices of its factors, outermost first

    Example: a tensor [2, 3] stored transposed has factors (3, 2), dims (1, 1) and axes ((1,), (0,)). A factor of size 1
    need not belong to a logical axis.
    """

    factors: tuple[int, ...]
    dims: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]

    @classmethod
    def plain(cls, shape: Shape) -> Order:
        """The order of a tensor that is stored unchanged."""
        return cls(shape, (1,) * len(shape), tuple((k,) for k in range(len(shape))))

    @property
    def logical_shape(self) -> Shape:
        return tuple(math.prod(self.factors[f] for f in axis) for axis in self.axes)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the factors of each axis of the stored tensor."""
        ends = np.cumsum(self.dims).tolist()
        return tuple(tuple(range(end - n, end)) for end, n in zip(ends, self.dims, strict=True))

    @property
    def stored_shape(self) -> Shape:
        return tuple(math.prod(self.factors[f] for f in group) for group in self.groups)

    @cached_property
    def _flat(self) -> tuple[int, ...]:
        """The factors in logical order."""
        return tuple(f for axis in self.axes for f in axis)

    @property
    def is_plain(self) -> bool:
        """Whether the stored bytes equal those of the logical tensor. Factors of size 1 do not matter."""
        moved = [f for f in self._flat if self.factors[f] > 1]
        return moved == sorted(moved)

    def same_bytes(self, other: Order) -> bool:
        """Whether both orders of the same logical tensor give the same bytes."""
        return self._moves() == other._moves()

    def _moves(self) -> tuple[tuple[int, int], ...]:
        """(size, rank in the logical order) of each stored factor above 1. Factors adjacent in both orders are
        merged.
        """
        place = {f: k for k, f in enumerate(g for g in self._flat if self.factors[g] > 1)}
        runs: list[list[int]] = []
        for f, size in enumerate(self.factors):
            if size == 1:
                continue
            if runs and place[f] == runs[-1][2] + 1:
                runs[-1][0] *= size
                runs[-1][2] += 1
            else:
                runs.append([size, place[f], place[f]])
        ranks = {first: k for k, first in enumerate(sorted(first for _, first, _ in runs))}
        return tuple((size, ranks[first]) for size, first, _ in runs)

    def transposed(self, perm: Sequence[int]) -> Order:
        """The order of the logical tensor with its axes permuted: axis k of the result is axis perm[k]."""
        return Order(self.factors, self.dims, tuple(self.axes[k] for k in perm))

    def reshaped(self, shape: Shape) -> Order | None:
        """The order after a reshape of the logical tensor; None if a factor cannot be split where a new axis begins."""
        split = self._split_at(_bounds(shape))
        if split is None:
            return None
        axes: list[tuple[int, ...]] = []
        rest = list(split._flat)
        for size in shape:
            taken: list[int] = []
            if size == 1 and rest and split.factors[rest[0]] == 1:
                taken.append(rest.pop(0))
            while size > 1 and rest:
                taken.append(rest.pop(0))
                size //= split.factors[taken[-1]]
            axes.append(tuple(taken))
        if axes:
            axes[-1] = (*axes[-1], *rest)  # factors of size 1 that are left
        return Order(split.factors, split.dims, tuple(axes)) if axes or not rest else None

    def _split_at(self, bounds: Sequence[int]) -> Order | None:
        """This order with factors split at each bound, a number of innermost elements; None if a factor cannot be split
        there.
        """
        order = self
        for bound in bounds:
            found = order._split_once(bound)
            if found is None:
                return None
            order = found
        return order

    def _split_once(self, bound: int) -> Order | None:
        inner = 1
        for f in reversed(self._flat):
            size = self.factors[f]
            if inner == bound:
                return self
            if inner * size > bound:
                part, remainder = divmod(bound, inner)
                return None if remainder or size % part else self._divided(f, part)
            inner *= size
        return self if inner == bound else None

    def _divided(self, f: int, inner: int) -> Order:
        """This order with factor f split into an outer factor and an inner factor of size `inner`."""

        def moved(k: int) -> int:
            return k if k <= f else k + 1

        factors = (*self.factors[:f], self.factors[f] // inner, inner, *self.factors[f + 1 :])
        dims = tuple(n + (f in group) for n, group in zip(self.dims, self.groups, strict=True))
        axes = tuple(tuple(m for k in axis for m in ((k, k + 1) if k == f else (moved(k),))) for axis in self.axes)
        return Order(factors, dims, axes)

    def in_shape(self, stored: Shape) -> Order:
        """The order after a reshape of the stored tensor, whose new axes must begin where factors begin."""
        counts: list[int] = []
        rest = list(self.factors)
        for size in stored:
            taken = 0
            while size > 1:
                size //= rest[taken]
                taken += 1
            counts.append(taken)
            rest = rest[taken:]
        if not counts:  # one element
            return Order((), (), ((),) * len(self.axes))
        return Order(self.factors, (*counts[:-1], counts[-1] + len(rest)), self.axes)

    def restricted(self, shape: Shape) -> Order | None:
        """The order for an operand of that shape that is broadcast to the logical tensor.

        None if an axis of the operand has neither size 1 nor the size in the logical tensor.
        """
        full = (1,) * (len(self.axes) - len(shape)) + tuple(shape)
        if any(size not in (1, own) for size, own in zip(full, self.logical_shape, strict=True)):
            return None
        gone = {f for size, axis in zip(full, self.axes, strict=True) if size == 1 for f in axis}
        factors = tuple(1 if f in gone else size for f, size in enumerate(self.factors))
        return Order(factors, self.dims, self.axes[len(self.axes) - len(shape) :])

    def resized(self, sizes: Mapping[int, int]) -> Order | None:
        """The order after changing the sizes of logical axes; None if one of these axes has several factors."""
        factors = list(self.factors)
        for axis, size in sizes.items():
            own = [f for f in self.axes[axis] if self.factors[f] > 1] or list(self.axes[axis])
            if len(own) != 1:
                return None
            factors[own[0]] = size
        return Order(tuple(factors), self.dims, self.axes)

    def leads(self, axis: int) -> bool:
        """Whether a logical axis is stored outermost, unpermuted."""
        own = [f for f in self.axes[axis] if self.factors[f] > 1]
        return own == [f for f in range(len(self.factors)) if self.factors[f] > 1][: len(own)]

    def dropped(self, gone: Collection[int]) -> Order:
        """The order without the logical axes `gone`, which have size 1. The stored tensor stays the same."""
        return Order(self.factors, self.dims, tuple(axis for k, axis in enumerate(self.axes) if k not in gone))

    def without(self, axis: int, stored: int) -> Order:
        """The order without a logical axis, and without the axis `stored` of the stored tensor, which corresponds to
        it.
        """
        gone = set(self.groups[stored])
        place = {f: k for k, f in enumerate(f for f in range(len(self.factors)) if f not in gone)}
        axes = (own for k, own in enumerate(self.axes) if k != axis)
        return Order(
            tuple(self.factors[f] for f in place),
            tuple(n for k, n in enumerate(self.dims) if k != stored),
            tuple(tuple(place[f] for f in own if f in place) for own in axes),
        )

    def stored_axis(self, axis: int) -> int | None:
        """The axis of the stored tensor that consists of exactly logical axis `axis`; None if there is none."""
        wanted = [f for f in self.axes[axis] if self.factors[f] > 1] or list(self.axes[axis])
        for k, group in enumerate(self.groups):
            if wanted and [f for f in group if self.factors[f] > 1 or f in wanted] == wanted:
                return k
        return None

    def stored(self, logical: np.ndarray) -> np.ndarray:
        """The stored elements of a logical tensor."""
        moving = [f for f in self._flat if self.factors[f] > 1]
        spread = logical.reshape([self.factors[f] for f in moving])
        return np.ascontiguousarray(spread.transpose(np.argsort(moving))).reshape(self.stored_shape)

    def stored_type(self, logical: TensorType) -> TensorType:
        """The type of the stored tensor. Scales along a logical axis follow its elements; this axis must lie within one
        stored axis.
        """
        quant = logical.quant
        if quant is not None and quant.per_channel:
            axis = next(k for k, group in enumerate(self.groups) if set(self.axes[quant.axis]) <= set(group))
            index = self._along(quant.axis)
            quant = QuantParams(tuple(quant.scale[i] for i in index), tuple(quant.zero_point[i] for i in index), axis)
        return TensorType(self.stored_shape, logical.dtype, quant)

    def _along(self, axis: int) -> list[int]:
        """The logical indices of an axis in the order in which they are stored."""
        own = self.axes[axis]
        index = np.arange(math.prod(self.factors[f] for f in own)).reshape([self.factors[f] for f in own])
        return [int(i) for i in index.transpose(np.argsort(own)).reshape(-1)]


def _bounds(shape: Shape) -> list[int]:
    """The number of elements after the first index of each axis."""
    sizes = np.cumprod([1, *reversed(shape)])
    return [int(n) for n in sizes]


def move(source: Order, target: Order) -> tuple[Order, tuple[int, ...], Order] | None:
    """The steps from a tensor stored in the order `source` to the order `target`: a reshape, then a transpose.

    Returns (order after the reshape, permutation, order after the transpose, which has the bytes of `target`). Both
    orders have the same logical shape. None if their factors cannot be split alike.
    """
    first, second = source._split_at(_ends(target)), target._split_at(_ends(source))
    if first is None or second is None:
        return None
    place = dict(zip(_moving(second), _moving(first), strict=True))
    rank = {f: k for k, f in enumerate(sorted(place.values()))}
    runs = _merged([rank[place[f]] for f in sorted(place)])
    sizes = [first.factors[f] for f in sorted(place.values())]
    starts = sorted(run[0] for run in runs)
    perm = tuple(starts.index(run[0]) for run in runs)
    shape = tuple(math.prod(sizes[k] for k in run) for run in sorted(runs))
    return first.in_shape(shape), perm, second.in_shape(tuple(shape[k] for k in perm))


def _ends(order: Order) -> list[int]:
    """Strides of the axes' factors in the logical order, in elements, from the innermost to the whole tensor."""
    return _bounds(tuple(order.factors[f] for f in order._flat))


def _moving(order: Order) -> list[int]:
    """The factors above 1 in logical order."""
    return [f for f in order._flat if order.factors[f] > 1]


def _merged(sequence: Sequence[int]) -> list[list[int]]:
    """The sequence split into parts of consecutive integers."""
    runs: list[list[int]] = []
    for k in sequence:
        if runs and k == runs[-1][-1] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs
