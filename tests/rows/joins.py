# SPDX-License-Identifier: Apache-2.0
"""Random networks that put tensors together and take them apart, in one run of bytes each: joins without copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tests.rows.graphs import MAX_ELEMENTS, MAX_SIDE, RandomGraph, Recipe, Value


def joining_graph(seed: int) -> RandomGraph:
    """The network of this seed with joins and splits: of rows, flat tensors, inputs, constants, and each other."""
    return _Joining(seed).graph()


@dataclass
class _Joining(Recipe):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.kind = "branches"

    def _branch(self, x: Value) -> Value:
        branches = (self._stack, self._stack, self._nest, self._flats, self._halves, self._windows, self._unpack)
        return self.rng.choice(branches)(x)

    def _stack(self, x: Value) -> Value:
        """Images one below the other; some parts come twice, are read elsewhere too, or are constants."""
        parts = [self._part(x) for _ in range(self.rng.randint(1, 3))]
        parts.insert(self.rng.randint(0, len(parts)), x)
        if self.rng.random() < 0.3:
            parts.append(self.rng.choice(parts))
        joined = self._join(parts, 1)
        return self._add(x, parts[0]) if joined is None else self._pooled(joined)

    def _part(self, x: Value) -> Value:
        kind = self.rng.random()
        if kind < 0.15:
            data = self.data.integers(-128, 127, x.shape) if self.dtype == "s8" else self.data.standard_normal(x.shape)
            quant = {"scale": x.scale, "zero_point": x.zero_point} if self.dtype == "s8" else {}
            name = f"t{len(self.m._tensors)}"
            return replace(x, index=self.m.tensor(name, x.shape, self.dtype, data=data, **quant))
        if kind < 0.45:
            window = {"padding": "SAME", "stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
            return self._op("MAX_POOL_2D", [x.index], self._result(x.shape, x.rms, like=x), **window)
        return self._same(self._keeping(x) if kind < 0.7 else x, x)

    def _nest(self, x: Value) -> Value:
        """A join of a join."""
        inner = self._join([self._part(x), self._part(x)], 1)
        outer = None if inner is None else self._join([inner, self._part(x)][:: self.rng.choice((1, -1))], 1)
        return self._keeping(x) if outer is None else self._pooled(outer)

    def _flats(self, x: Value) -> Value:
        """Tensors without rows, stacked or one behind the other, and rows again."""
        parts = [self._flat(self._part(x)) for _ in range(2)]
        if 2 * x.shape[1] > MAX_SIDE:
            return self._keeping(x)
        if self.rng.random() < 0.5:
            y = self._result((2, *parts[0].shape), x.rms, like=x)
            flat = self._op("PACK", [p.index for p in parts], y, axis=0, values_count=2)
        else:
            made = self._join(parts, 1)
            if made is None:
                return self._keeping(x)
            flat = made
        shape = (1, 2 * x.shape[1], *x.shape[2:])
        return self._pooled(
            self._op("RESHAPE", [flat.index, self._ints(shape)], self._result(shape, x.rms, like=x), new_shape=shape)
        )

    def _halves(self, x: Value) -> Value:
        """Rows taken apart, worked on each by itself, and joined; some as they are."""
        if x.shape[1] < 2:
            return self._keeping(x)
        first = self.rng.randint(1, x.shape[1] - 1)
        parts = [self._result((1, n, *x.shape[2:]), x.rms, like=x) for n in (first, x.shape[1] - first)]
        self.m.op("SPLIT_V", [x.index, self._ints([p.shape[1] for p in parts]), self._ints(1)],
                  [p.index for p in parts], {"num_splits": 2})  # fmt: skip
        self.operators["SPLIT_V"] += 1
        made = [self._part(p) if self.rng.random() < 0.7 else p for p in parts]
        joined = self._join(made[:: self.rng.choice((1, -1))], 1)
        assert joined is not None, "as large as the operand"
        return joined

    def _windows(self, x: Value) -> Value:
        """Overlapping runs of rows added up."""
        if x.shape[1] < 2:
            return self._keeping(x)
        rows = self.rng.randint(1, x.shape[1] - 1)
        found = [self._cut(x, start, rows) for start in (0, self.rng.randint(0, x.shape[1] - rows))]
        return self._add(self._op("RELU", [found[0].index], self._result(found[0].shape, x.rms, like=x)), found[1])

    def _cut(self, x: Value, start: int, rows: int) -> Value:
        begin, end = [0, start, 0, 0], [1, start + rows, *x.shape[2:]]
        y = self._result((1, rows, *x.shape[2:]), x.rms, like=x)
        return self._op("STRIDED_SLICE", [x.index, *map(self._ints, (begin, end, [1] * 4))], y)

    def _unpack(self, x: Value) -> Value:
        """Equal parts without their axis, added up, and packed with one of them."""
        if x.shape[1] % 2:
            return self._keeping(x)
        shape, half = (2, *(x.shape[1] // 2, *x.shape[2:])), (x.shape[1] // 2, *x.shape[2:])
        whole = self._op("RESHAPE", [x.index, self._ints(shape)], self._result(shape, x.rms, like=x), new_shape=shape)
        parts = [self._result(half, x.rms, like=x) for _ in range(2)]
        self.m.op("UNPACK", [whole.index], [p.index for p in parts], {"num": 2, "axis": 0})
        self.operators["UNPACK"] += 1
        total = self._op("ADD", [p.index for p in parts], self._result(half, 2 * x.rms, like=x))
        pair = [total.index, parts[1].index][:: self.rng.choice((1, -1))]
        packed = self._op("PACK", pair, self._result(shape, x.rms, like=x), axis=0, values_count=2)
        y = self._result(x.shape, x.rms, like=x)
        return self._op("RESHAPE", [packed.index, self._ints(x.shape)], y, new_shape=x.shape)

    def _join(self, parts: list[Value], axis: int) -> Value | None:
        """The parts along an axis; None where that is too large."""
        first = parts[0]
        shape = [*first.shape[:axis], sum(p.shape[axis] for p in parts), *first.shape[axis + 1 :]]
        if prod(shape) > MAX_ELEMENTS or (len(shape) == 4 and max(shape) > MAX_SIDE):
            return None
        y = self._result(tuple(shape), first.rms, like=first)
        return self._op("CONCATENATION", [p.index for p in parts], y, axis=axis)

    def _pooled(self, x: Value) -> Value:
        """Half the rows again, mostly, so that more can be joined."""
        if self.rng.random() < 0.2:
            return x
        window = {"padding": "SAME", "stride_h": 2, "stride_w": 1, "filter_height": 2, "filter_width": 1}
        shape = (1, -(-x.shape[1] // 2), *x.shape[2:])
        return self._op("MAX_POOL_2D", [x.index], self._result(shape, x.rms, like=x), **window)
