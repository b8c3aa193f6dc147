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
    """How a stored tensor holds a logical one of the same elements.

    Both shapes are products of the same factors. The stored tensor has them outermost first, in the order given here;
    each logical axis lists the factors that it consists of.

    factors: the sizes of the stored tensor's factors, outermost first. One of size 1 need not belong to an axis.
    dims: the number of consecutive factors that make each axis of the stored tensor.
    axes: for each axis of the logical tensor the indices of its factors, outermost first.
    """

    factors: tuple[int, ...]
    dims: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]

    @classmethod
    def plain(cls, shape: Shape) -> Order:
        """The order of a tensor that is stored as it is."""
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
        """Whether the stored bytes are those of the logical tensor: only factors of size 1 are in another place."""
        moved = [f for f in self._flat if self.factors[f] > 1]
        return moved == sorted(moved)

    def same_bytes(self, other: Order) -> bool:
        """Whether a tensor stored in the other order has the same bytes, where both hold the same logical elements."""
        return self._moves() == other._moves()

    def _moves(self) -> tuple[tuple[int, int], ...]:
        """(size, place in the logical order) of the stored factors above 1, neighbours merged."""
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
        """The order of the logical tensor in another shape; None where an axis would begin inside a factor."""
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
        """This order with the factors split so that a factor begins at each bound: elements that come after it."""
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
        """This order with factor f as two: an outer one and an inner one of that size."""

        def moved(k: int) -> int:
            return k if k <= f else k + 1

        factors = (*self.factors[:f], self.factors[f] // inner, inner, *self.factors[f + 1 :])
        dims = tuple(n + (f in group) for n, group in zip(self.dims, self.groups, strict=True))
        axes = tuple(tuple(m for k in axis for m in ((k, k + 1) if k == f else (moved(k),))) for axis in self.axes)
        return Order(factors, dims, axes)

    def in_shape(self, stored: Shape) -> Order:
        """The order with the same bytes in a stored tensor of another shape, whose axes begin where factors begin."""
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
        """The order of an operand of that shape, broadcast to the logical tensor: missing axes have size 1.

        None where a factored axis is only partly there.
        """
        full = (1,) * (len(self.axes) - len(shape)) + tuple(shape)
        if any(size not in (1, own) for size, own in zip(full, self.logical_shape, strict=True)):
            return None
        gone = {f for size, axis in zip(full, self.axes, strict=True) if size == 1 for f in axis}
        factors = tuple(1 if f in gone else size for f, size in enumerate(self.factors))
        return Order(factors, self.dims, self.axes[len(self.axes) - len(shape) :])

    def resized(self, sizes: Mapping[int, int]) -> Order | None:
        """The order of a tensor in which logical axes have other sizes; None where such an axis has several factors."""
        factors = list(self.factors)
        for axis, size in sizes.items():
            own = [f for f in self.axes[axis] if self.factors[f] > 1] or list(self.axes[axis])
            if len(own) != 1:
                return None
            factors[own[0]] = size
        return Order(tuple(factors), self.dims, self.axes)

    def leads(self, axis: int) -> bool:
        """Whether a logical axis is stored outermost, in its own order, and all others within it."""
        own = [f for f in self.axes[axis] if self.factors[f] > 1]
        return own == [f for f in range(len(self.factors)) if self.factors[f] > 1][: len(own)]

    def dropped(self, gone: Collection[int]) -> Order:
        """The order without logical axes of size 1, which the stored tensor keeps: the same bytes."""
        return Order(self.factors, self.dims, tuple(axis for k, axis in enumerate(self.axes) if k not in gone))

    def without(self, axis: int, stored: int) -> Order:
        """The order without a logical axis, and without the axis `stored` of the stored tensor, which is that one."""
        gone = set(self.groups[stored])
        place = {f: k for k, f in enumerate(f for f in range(len(self.factors)) if f not in gone)}
        axes = (own for k, own in enumerate(self.axes) if k != axis)
        return Order(
            tuple(self.factors[f] for f in place),
            tuple(n for k, n in enumerate(self.dims) if k != stored),
            tuple(tuple(place[f] for f in own if f in place) for own in axes),
        )

    def stored_axis(self, axis: int) -> int | None:
        """The axis of the stored tensor that is logical axis `axis`, whole and alone; None where there is none."""
        wanted = [f for f in self.axes[axis] if self.factors[f] > 1] or list(self.axes[axis])
        for k, group in enumerate(self.groups):
            if wanted and [f for f in group if self.factors[f] > 1 or f in wanted] == wanted:
                return k
        return None

    def stored(self, logical: np.ndarray) -> np.ndarray:
        """The stored tensor of a logical one."""
        moving = [f for f in self._flat if self.factors[f] > 1]
        spread = logical.reshape([self.factors[f] for f in moving])
        return np.ascontiguousarray(spread.transpose(np.argsort(moving))).reshape(self.stored_shape)

    def stored_type(self, logical: TensorType) -> TensorType:
        """The type of the stored tensor. Scales along an axis move with it, which must be stored whole or factored."""
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
    """The steps from a tensor stored in `source` to one stored in `target`: the same bytes in another shape, the
    permutation of that shape's axes, and the permuted order, which has the bytes of `target`.

    Both orders have the same logical shape. None where their factors begin at different places.
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
    """The places in the logical order where factors begin, as elements that come after."""
    return _bounds(tuple(order.factors[f] for f in order._flat))


def _moving(order: Order) -> list[int]:
    """The factors above 1 in logical order."""
    return [f for f in order._flat if order.factors[f] > 1]


def _merged(sequence: Sequence[int]) -> list[list[int]]:
    """The runs of numbers that follow each other."""
    runs: list[list[int]] = []
    for k in sequence:
        if runs and k == runs[-1][-1] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs
